//! Declares 100 MiB of memory to start with.
use std::sync::atomic::{AtomicU8, Ordering};

use tidegate_policy::gate::{Decision, Request};

static LARGE: [AtomicU8; 100 * 1024 * 1024] = [const { AtomicU8::new(0) }; 100 * 1024 * 1024];

fn evaluate(_: &str, request: &Request) -> Result<Decision, String> {
    let byte = LARGE[request.candidate.tag.len() * 1000].fetch_add(1, Ordering::Relaxed);
    Ok(Decision::allow(byte.to_string()))
}

guest_programs::gate!("starts_large", evaluate);
