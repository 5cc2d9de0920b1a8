//! Looks for what another instance left in memory, then leaves something itself.
use tidegate_policy::gate::{Decision, Request};

const PAGES: usize = 64;
const MARK: u8 = 0xC5;

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    let first = grow();
    if first == usize::MAX {
        return Err("no memory".to_owned());
    }
    let (start, len) = (first * 65_536, PAGES * 65_536);
    // SAFETY: these pages were just grown, and nothing else knows of them.
    let fresh = unsafe { core::slice::from_raw_parts_mut(start as *mut u8, len) };
    let found = fresh.iter().filter(|byte| **byte != 0).count();
    fresh.fill(MARK);
    Ok(Decision::allow(format!("found {found}")))
}

#[cfg(target_arch = "wasm32")]
fn grow() -> usize {
    core::arch::wasm32::memory_grow(0, PAGES)
}

/// Linted natively as well, where there is no memory of this kind.
#[cfg(not(target_arch = "wasm32"))]
fn grow() -> usize {
    usize::MAX
}

guest_programs::gate!("canary", evaluate);
