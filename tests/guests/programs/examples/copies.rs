//! Fills much memory again and again: few instructions, much time between them.
use tidegate_policy::gate::{Decision, Request};

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    let mut block = vec![0_u8; 32 * 1024 * 1024];
    let mut byte = 0_u8;
    loop {
        byte = byte.wrapping_add(1);
        std::hint::black_box(&mut block).fill(byte);
    }
}

guest_programs::gate!("copies", evaluate);
