//! Every limit bites, says what it was, and leaves the rest of the session alone.

use std::time::{Duration, Instant};

use model::plugin::FaultCode;
use plugins::Limits;

use crate::support::{ask, fault, gate, host_with, load, patient, reason};

/// Asks the guest between two questions to a well-behaved one, and the well-behaved one must not notice.
async fn check(limits: Limits, guest: &str, what: &str, code: FaultCode, parts: &[&str]) {
    let host = host_with(limits);
    let (bad, good) = (load(&host, guest).await, load(&host, "nonsense").await);
    let mut session = host.session();
    let questions = vec![gate(good, "sense"), gate(bad, what), gate(good, "sense"), gate(bad, what)];
    let answers = session.ask(questions).await;
    assert_eq!(reason(&answers[0]), "makes sense");
    assert_eq!(reason(&answers[2]), "makes sense");
    for answer in [&answers[1], &answers[3]] {
        let (seen, message) = fault(answer);
        assert_eq!(seen, code, "{message}");
        for part in parts.iter().chain([&format!("policy `{guest}`").as_str()]) {
            assert!(message.contains(part), "`{message}` lacks `{part}`");
        }
    }
    assert_eq!(reason(&ask(&mut session, gate(good, "sense")).await), "makes sense");
}

#[tokio::test]
async fn a_loop_runs_out_of_fuel() {
    check(patient(), "loops", "", FaultCode::EvalFuel, &["used up its 100000000 units of fuel", "answering"]).await;
}

#[tokio::test]
async fn a_loop_runs_out_of_time() {
    let limits = Limits { call: Duration::from_millis(60), call_fuel: u64::MAX, ..patient() };
    check(limits, "loops", "", FaultCode::EvalTimeout, &["may take 60 ms", "answering"]).await;
}

#[tokio::test]
async fn large_copies_cost_fuel_by_the_byte_and_time() {
    check(patient(), "copies", "", FaultCode::EvalFuel, &["used up"]).await;
    let limits = Limits { call: Duration::from_millis(60), call_fuel: u64::MAX, ..patient() };
    check(limits, "copies", "", FaultCode::EvalTimeout, &["may take 60 ms"]).await;
}

#[tokio::test]
async fn a_gibibyte_is_refused() {
    let parts = ["may have 64 MiB", "of memory", "answering"];
    check(patient(), "takes_memory", "1024", FaultCode::EvalMemory, &parts).await;
}

#[tokio::test]
async fn what_fits_is_given() {
    let host = host_with(patient());
    let digest = load(&host, "takes_memory").await;
    assert_eq!(reason(&ask(&mut host.session(), gate(digest, "40")).await), "has 40 MiB");
}

#[tokio::test]
async fn deep_recursion_is_a_fault_of_its_own() {
    check(patient(), "overflows_stack", "", FaultCode::EvalStack, &["overflowed its stack"]).await;
}

#[tokio::test]
async fn a_trap_is_named() {
    check(patient(), "traps", "", FaultCode::EvalTrap, &["trapped: wasm `unreachable` instruction executed"]).await;
}

#[tokio::test]
async fn an_error_of_the_policy_is_its_own_words() {
    let parts = ["could not answer: the moon is not full"];
    check(patient(), "returns_error", "", FaultCode::PolicyError, &parts).await;
}

#[tokio::test]
async fn an_answer_of_megabytes_is_cut_at_the_border() {
    let parts = ["passed the host more than 1048576 bytes at once"];
    check(patient(), "nonsense", "huge_answer", FaultCode::OutputTooLarge, &parts).await;
}

#[tokio::test]
async fn a_log_flood_costs_the_log_and_not_the_answer() {
    let host = host_with(patient());
    let digest = load(&host, "floods_log").await;
    assert_eq!(reason(&ask(&mut host.session(), gate(digest, "")).await), "wrote");
}

#[tokio::test]
async fn a_spinning_guest_is_stopped_soon_while_all_workers_spin() {
    let limits = Limits { call: Duration::from_millis(100), call_fuel: u64::MAX, ..patient() };
    let host = host_with(limits);
    let digest = load(&host, "loops").await;
    let started = Instant::now();
    let spin = |host: plugins::Host| async move { host.session().ask(vec![gate(digest, "")]).await.remove(0) };
    let (one, two) = tokio::join!(spin(host.clone()), spin(host.clone()));
    assert_eq!((fault(&one).0, fault(&two).0), (FaultCode::EvalTimeout, FaultCode::EvalTimeout));
    // Starting counts too, and the machine may be busy; without the cut they would spin for ever.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_full_queue_says_so_at_once() {
    let limits = Limits { call: Duration::from_millis(300), call_fuel: u64::MAX, ..patient() };
    let config = plugins::HostConfig { cache_dir: None, workers: 1, queue: 1, limits };
    let host = plugins::Host::new(config).expect("a host");
    let digest = load(&host, "loops").await;
    let asks = (0..8).map(|_| {
        let host = host.clone();
        tokio::spawn(async move { host.session().ask(vec![gate(digest, "")]).await.remove(0) })
    });
    let mut codes = Vec::new();
    for answer in asks.collect::<Vec<_>>() {
        codes.push(fault(&answer.await.expect("no panic")).0);
    }
    assert!(codes.contains(&FaultCode::Overloaded), "{codes:?}");
    assert!(codes.contains(&FaultCode::EvalTimeout), "{codes:?}");
}
