//! What one instance did, another never sees.

use model::plugin::FaultCode;

use crate::support::{ask, fault, gate, host_with, load, patient, reason};

#[tokio::test]
async fn globals_live_for_a_session_and_die_with_it() {
    let host = host_with(patient());
    let digest = load(&host, "counts_calls").await;
    let mut session = host.session();
    let answers = session.ask(vec![gate(digest, ""), gate(digest, "")]).await;
    assert_eq!((reason(&answers[0]), reason(&answers[1])), ("call 1", "call 2"));
    assert_eq!(reason(&ask(&mut session, gate(digest, "")).await), "call 3", "the instance is reused");
    assert_eq!(reason(&ask(&mut host.session(), gate(digest, "")).await), "call 1", "another session is fresh");
}

#[tokio::test]
async fn nothing_survives_a_trap() {
    let host = host_with(patient());
    let digest = load(&host, "counts_calls").await;
    let answers = host.session().ask(vec![gate(digest, ""), gate(digest, "trap"), gate(digest, "")]).await;
    assert_eq!(reason(&answers[0]), "call 1");
    assert_eq!(fault(&answers[1]).0, FaultCode::EvalTrap);
    assert_eq!(reason(&answers[2]), "call 1", "a fresh instance");
}

#[tokio::test]
async fn pooled_memory_is_clean() {
    let host = host_with(patient());
    let digest = load(&host, "canary").await;
    for round in 0..20 {
        let answer = ask(&mut host.session(), gate(digest, "")).await;
        assert_eq!(reason(&answer), "found 0", "round {round}");
    }
}

#[tokio::test]
async fn what_is_not_loaded_is_not_asked() {
    let host = host_with(patient());
    let digest = plugins::digest_of(b"nobody");
    assert!(!host.is_loaded(digest));
    assert_eq!(fault(&ask(&mut host.session(), gate(digest, "")).await).0, FaultCode::PluginMissing);
}

#[tokio::test]
async fn many_sessions_at_once_keep_apart() {
    let host = host_with(patient());
    let digest = load(&host, "counts_calls").await;
    let sessions: Vec<_> = (0..16)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { host.session().ask(vec![gate(digest, ""); 50]).await })
        })
        .collect();
    for session in sessions {
        let answers = session.await.expect("no panic");
        let last = answers.last().map(reason);
        assert_eq!(last, Some("call 50"));
    }
}
