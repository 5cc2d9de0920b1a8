//! Answers that break the interface's rules; which one is in the rule.
use tidegate_policy::gate::{Decision, Request};

fn evaluate(what: &str, request: &Request) -> Result<Decision, String> {
    let now = request.now;
    Ok(match what {
        "past_wait" => Decision::wait_until(now - 1, "asks again yesterday"),
        "present_wait" => Decision::wait_until(now, "asks again at once"),
        "far_wait" => Decision::wait_until(i64::MAX, "asks again after the sun"),
        "past_end" => Decision::allow("has ended").valid_until(now),
        "no_reason" => Decision::deny(" "),
        "huge_reason" => Decision::deny("x".repeat(100_000)),
        "huge_answer" => Decision::deny("x".repeat(8_000_000)),
        "many_details" => {
            (0..1000).fold(Decision::allow("much"), |all, n| all.detail(&format!("{n:04}"), "x".repeat(100)))
        }
        "control" => Decision::deny("a\u{0}b"),
        "twice" => {
            let mut decision = Decision::allow("twice").detail("a", 1);
            decision.details.push(decision.details[0].clone());
            decision
        }
        _ => Decision::allow("makes sense"),
    })
}

guest_programs::gate!("nonsense", evaluate);
