//! Cannot tell.
use tidegate_policy::gate::{Decision, Request};

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    Err("the moon is not full".to_owned())
}

guest_programs::gate!("returns_error", evaluate);
