//! Traps while it starts.
use tidegate_policy::gate::{Decision, Request};

/// wit-component calls it when the component is instantiated.
#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    std::process::abort()
}

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    Ok(Decision::allow("unreachable"))
}

guest_programs::gate!("traps_in_start", evaluate);
