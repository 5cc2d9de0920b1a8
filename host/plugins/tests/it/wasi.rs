//! WASI is there so that components load, and gives nothing away.

use model::plugin::FaultCode;

use crate::support::{NOW, ask, fault, gate, host_with, load, patient, reason};

#[tokio::test]
async fn time_stands_at_now_and_random_repeats_for_the_same_question() {
    let host = host_with(patient());
    let digest = load(&host, "asks_wasi").await;
    let first = ask(&mut host.session(), gate(digest, "")).await;
    let again = ask(&mut host.session(), gate(digest, "")).await;
    assert_eq!(first, again, "fresh instances agree");
    let text = reason(&first);
    // It also slept for an hour, which took no time.
    assert!(text.starts_with("wall 1772438400.000 mono 1772438400000000000 random "), "{text}");
    assert!(text.ends_with(" env 0 args 0"), "{text}");

    let mut other = gate(digest, "");
    other.now = NOW.plus_seconds(1);
    let later = ask(&mut host.session(), other).await;
    let random = |text: &str| text.split(" random ").nth(1).and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    let seed = |text: &str| text.split(" seed ").nth(1).and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    assert_ne!(random(reason(&later)), random(text), "another question, other numbers");
    assert_eq!(seed(reason(&later)), seed(text), "what is seeded once depends on the component alone");
}

#[tokio::test]
async fn a_reused_instance_answers_as_a_fresh_one() {
    let host = host_with(patient());
    let digest = load(&host, "asks_wasi").await;
    let answers = host.session().ask(vec![gate(digest, ""), gate(digest, "")]).await;
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test]
async fn handles_bytes_and_exits_are_bounded() {
    let host = host_with(patient());
    let digest = load(&host, "asks_wasi").await;
    let mut session = host.session();
    for (what, part) in [
        ("handles", "was stopped"),
        ("many_bytes", "asked for 1099511627776 random bytes at once and may have 65536"),
        ("exit", "called exit(1)"),
    ] {
        let answer = ask(&mut session, gate(digest, what)).await;
        let (code, message) = fault(&answer);
        assert_eq!(code, FaultCode::EvalTrap, "{what}");
        assert!(message.contains(part), "{what}: `{message}`");
    }
    assert_eq!(reason(&ask(&mut session, gate(digest, "print")).await), "printed");
}

#[tokio::test]
async fn cel_is_evaluated_with_the_bounds_of_selectors() {
    let host = host_with(patient());
    let digest = load(&host, "uses_cel").await;
    let mut session = host.session();
    assert_eq!(reason(&ask(&mut session, gate(digest, "tag == 'v1'")).await), "true");
    assert_eq!(reason(&ask(&mut session, gate(digest, "[tag, tag + '!']")).await), r#"["v1","v1!"]"#);
    for wrong in ["1 +", "nobody", &"(".repeat(10_000)] {
        let answer = ask(&mut session, gate(digest, wrong)).await;
        assert_eq!(fault(&answer).0, FaultCode::PolicyError, "{:?}", fault(&answer).1);
    }
}
