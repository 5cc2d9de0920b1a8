//! Panics, which in Wasm is a trap.
use tidegate_policy::gate::{Decision, Request};

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    std::process::abort()
}

guest_programs::gate!("traps", evaluate);
