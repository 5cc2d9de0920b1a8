//! Calls itself for ever.
use tidegate_policy::gate::{Decision, Request};

#[expect(unconditional_recursion, reason = "that is what it is for")]
fn deeper(depth: u64) -> u64 {
    std::hint::black_box(deeper(std::hint::black_box(depth + 1))) + 1
}

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    Ok(Decision::allow(deeper(0).to_string()))
}

guest_programs::gate!("overflows_stack", evaluate);
