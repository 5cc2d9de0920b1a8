//! Never finishes starting.
use tidegate_policy::gate::{Decision, Request};

/// wit-component calls it when the component is instantiated.
#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    loop {
        std::hint::black_box(0);
    }
}

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    Ok(Decision::allow("unreachable"))
}

guest_programs::gate!("loops_in_start", evaluate);
