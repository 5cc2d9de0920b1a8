//! Answers that break the interface's rules are faults, never decisions.

use model::{
    plugin::FaultCode,
    question::{Answer, SequenceStep},
};

use crate::support::{ask, fault, gate, host_with, load, patient, reason, sequence};

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
