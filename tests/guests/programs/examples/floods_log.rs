//! Writes a hundred thousand lines.
use tidegate_policy::gate::{Decision, Request};

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    for _ in 0..100_000 {
        tidegate_policy::log::info("a line of thirty-two characters.");
    }
    Ok(Decision::allow("wrote"))
}

guest_programs::gate!("floods_log", evaluate);
