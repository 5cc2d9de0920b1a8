//! Answers that break the interface's rules are faults, never decisions.

use model::{
    plugin::FaultCode,
    question::{Answer, Assessment, SequenceStep},
};

use crate::support::{NOW, ask, fault, gate, host_with, load, patient, reason, sequence, verify};

#[tokio::test]
async fn a_gates_nonsense_is_told_apart() {
    let host = host_with(patient());
    let digest = load(&host, "nonsense").await;
    let mut session = host.session();
    use FaultCode::{InvalidOutput, OutputTooLarge};
    for (what, code, part) in [
        ("past_wait", InvalidOutput, "gave wait 2026-03-02T07:59:59.999Z, which is not after now"),
        ("present_wait", InvalidOutput, "which is not after now (2026-03-02T08:00:00.000Z)"),
        ("far_wait", InvalidOutput, "after the year 9999"),
        ("past_end", InvalidOutput, "gave valid-until 2026-03-02T08:00:00.000Z, which is not after now"),
        ("no_reason", InvalidOutput, "answered deny without a reason"),
        ("control", InvalidOutput, "with the control character '\\0'"),
        ("twice", InvalidOutput, "gave the detail `a` twice"),
        ("huge_reason", OutputTooLarge, "of 100000 bytes; it may have"),
        ("many_details", OutputTooLarge, "an answer of 104004 bytes; it may have 65536"),
    ] {
        let answer = ask(&mut session, gate(digest, what)).await;
        let (seen, message) = fault(&answer);
        assert_eq!(seen, code, "{what}: {message}");
        assert!(message.starts_with("policy `nonsense`") && message.contains(part), "{what}: `{message}`");
    }
    assert_eq!(reason(&ask(&mut session, gate(digest, "sense")).await), "makes sense");
}

#[tokio::test]
async fn a_sequence_answers_for_every_release_once_and_for_nothing_else() {
    let host = host_with(patient());
    let digest = load(&host, "sequence_nonsense").await;
    let mut session = host.session();
    for (what, part) in [
        ("forgets", "said neither start nor hold for release"),
        ("twice", "was not asked or is answered"),
        ("stranger", "answered for release `018f0000-0000-7000-8000-000000000000`"),
        ("no_id", "answered for release `the best one`"),
        ("cancels_stranger", "cancels job `018f0000-0000-7000-8000-000000000000`, which does not run"),
    ] {
        let answer = ask(&mut session, sequence(digest, what)).await;
        let (code, message) = fault(&answer);
        assert_eq!(code, FaultCode::InvalidOutput, "{what}");
        assert!(message.contains(part), "{what}: `{message}`");
    }
    let Answer::Sequence(steps) = ask(&mut session, sequence(digest, "sense")).await else { panic!("no answer") };
    assert!(matches!(steps[..], [SequenceStep::Start(_), SequenceStep::Start(_)]), "{steps:?}");
    // A hook that it does not have.
    assert_eq!(fault(&ask(&mut session, gate(digest, "")).await).0, FaultCode::MissingExport);
}

#[tokio::test]
async fn a_verification_names_each_metric_once_and_says_what_is_wrong() {
    let host = host_with(patient());
    let digest = load(&host, "verify_nonsense").await;
    let mut session = host.session();
    let config = |what: &str| serde_json::json!({"what": what});
    use FaultCode::{InvalidOutput, OutputTooLarge, PolicyError};
    for (what, code, part) in [
        ("twice", InvalidOutput, "gave the metric `a` twice"),
        ("no_name", InvalidOutput, "gave a metric whose name has 0 bytes"),
        ("long_name", InvalidOutput, "gave a metric whose name has 256 bytes and may have 1 to 255"),
        ("control", InvalidOutput, "gave a metric's name with the control character '\\0'"),
        ("far", InvalidOutput, "gave a time to measure 9223372036854775807, which is after the year 9999"),
        ("many", InvalidOutput, "gave 1001 metrics to measure; there may be 1000"),
        ("no_reason", InvalidOutput, "answered unhealthy without a reason"),
        ("control_reason", InvalidOutput, "gave a reason with the control character"),
        ("huge_reason", OutputTooLarge, "gave a reason of 100000 bytes; it may have 4096"),
        ("huge_answer", OutputTooLarge, "passed the host more than 1048576 bytes at once"),
        ("error", PolicyError, "could not answer: no idea"),
    ] {
        let answer = ask(&mut session, verify(digest, config(what), Vec::new())).await;
        let (seen, message) = fault(&answer);
        assert_eq!(seen, code, "{what}: {message}");
        assert!(message.starts_with("policy `verify_nonsense`") && message.contains(part), "{what}: `{message}`");
    }
    // What is due already is due at once.
    let answer = ask(&mut session, verify(digest, config("sense"), Vec::new())).await;
    assert_eq!(answer, Answer::Verify(Assessment::Measure(vec![("a".into(), NOW.plus_millis(999))])));
    // A hook that it does not have.
    assert_eq!(fault(&ask(&mut session, gate(digest, "")).await).0, FaultCode::MissingExport);
}

#[tokio::test]
async fn probes_that_cannot_be_used_are_refused() {
    let host = host_with(patient());
    let digest = load(&host, "verify_nonsense").await;
    use FaultCode::{InitTrap, InvalidOutput, MissingExport, OutputTooLarge, PluginMissing, PolicyError};
    for (what, code, part) in [
        ("twice", InvalidOutput, "gave the metric `a` twice"),
        ("no_json", InvalidOutput, "gave the provider of metric `a` a configuration that is no JSON"),
        ("no_name", InvalidOutput, "gave a metric whose name has 0 bytes"),
        ("no_provider", InvalidOutput, "gave a provider whose name has 0 bytes"),
        ("many", InvalidOutput, "gave 1001 probes; there may be 1000"),
        ("huge", OutputTooLarge, "gave probes of 100007 bytes; it may have 65536"),
        ("error", PolicyError, "could not answer: no idea"),
        ("trap", InitTrap, "while saying what to measure"),
    ] {
        let fault = host.probes(digest, &serde_json::json!({"what": what})).await.expect_err(what);
        assert_eq!(fault.code, code, "{what}: {fault}");
        assert!(fault.message.contains(part), "{what}: `{fault}`");
    }
    assert_eq!(host.probes(digest, &serde_json::json!({})).await.map(|probes| probes.len()), Ok(1));
    let gate = load(&host, "nonsense").await;
    assert_eq!(host.probes(gate, &serde_json::json!({})).await.expect_err("no hook").code, MissingExport);
    let nobody = plugins::digest_of(b"nobody");
    assert_eq!(host.probes(nobody, &serde_json::json!({})).await.expect_err("not there").code, PluginMissing);
}
