//! The rule by itself: plain values in, a decision out, so that it is tested without Wasm.

use tidegate_policy::gate::Decision;

pub fn decide(label: &str, prefix: &str, labels: &[(String, String)]) -> Decision {
    match labels.iter().find(|(name, _)| name == label) {
        Some((_, ticket)) if ticket.len() > prefix.len() && ticket.starts_with(prefix) => {
            Decision::allow(format!("ticket {ticket}")).detail("ticket", ticket)
        }
        Some((_, other)) => {
            Decision::deny(format!("the label `{label}` is `{other}`, which is no ticket (expected {prefix}…)"))
        }
        None => Decision::deny(format!("the version has no label `{label}`: report it again with {label}={prefix}…")),
    }
}

#[cfg(test)]
mod tests {
    use tidegate_policy::gate::Verdict;

    use super::*;

    fn check(labels: &[(&str, &str)], verdict: Verdict, reason: &str) {
        let labels: Vec<(String, String)> = labels.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let decision = decide("ticket", "OPS-", &labels);
        assert_eq!((decision.verdict, decision.reason.as_str()), (verdict, reason));
    }

    #[test]
    fn a_version_needs_a_ticket() {
        check(&[("ticket", "OPS-7")], Verdict::Allow, "ticket OPS-7");
        check(
            &[("ticket", "OPS-")],
            Verdict::Deny,
            "the label `ticket` is `OPS-`, which is no ticket (expected OPS-…)",
        );
        let missing = "the version has no label `ticket`: report it again with ticket=OPS-…";
        check(&[("team", "shop")], Verdict::Deny, missing);
    }
}
