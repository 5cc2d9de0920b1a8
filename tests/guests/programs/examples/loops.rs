//! Never answers.
use tidegate_policy::gate::{Decision, Request};

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    loop {
        std::hint::black_box(0);
    }
}

guest_programs::gate!("loops", evaluate);
