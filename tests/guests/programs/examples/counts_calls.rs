//! Keeps a number between calls, and traps when told to.
use std::sync::atomic::{AtomicU32, Ordering};
use tidegate_policy::gate::{Decision, Request};

static CALLS: AtomicU32 = AtomicU32::new(0);

fn evaluate(what: &str, _: &Request) -> Result<Decision, String> {
    let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    if what == "trap" {
        std::process::abort();
    }
    Ok(Decision::allow(format!("call {calls}")))
}

guest_programs::gate!("counts_calls", evaluate);
