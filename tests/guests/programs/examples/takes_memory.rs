//! Takes 1 GiB, or as much as the rule says in MiB.
use tidegate_policy::gate::{Decision, Request};

fn evaluate(what: &str, _: &Request) -> Result<Decision, String> {
    let mebibytes: usize = what.parse().unwrap_or(1024);
    let mut blocks = Vec::new();
    for _ in 0..mebibytes {
        blocks.push(std::hint::black_box(vec![1_u8; 1024 * 1024]));
    }
    Ok(Decision::allow(format!("has {} MiB", blocks.len())))
}

guest_programs::gate!("takes_memory", evaluate);
