//! Any order of commands, lost answers, late results and passing time: dispatch does what the reference does.

use dispatch::{CancelError, Report, ReportError};
use model::{
    job::Job,
    job_state::{FinalStatus, JobState, JobStatus, LeaseToken},
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use crate::{
    bench::{Bench, START},
    reference::{At, DEADLINE, LEASE, Reference, Said},
};

#[derive(Debug, Clone, Copy)]
enum Step {
    Claim,
    /// With the newest token, or one so many older; what was never given counts as well.
    Acknowledge(usize),
    Progress(usize),
    End(usize, bool, u8),
    Heartbeat(usize),
    GiveBack(usize),
    Cancel,
    Pass(u64),
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    let back = || prop_oneof![8 => Just(0_usize), 2 => 1..4_usize];
    prop_oneof![
        4 => Just(Step::Claim),
        4 => back().prop_map(Step::Acknowledge),
        1 => back().prop_map(Step::Progress),
        2 => (back(), any::<bool>(), 0..2_u8).prop_map(|(back, good, body)| Step::End(back, good, body)),
        3 => back().prop_map(Step::Heartbeat),
        2 => back().prop_map(Step::GiveBack),
        1 => Just(Step::Cancel),
        4 => prop_oneof![Just(1), Just(29), Just(30), Just(31), Just(59), Just(60), Just(61)].prop_map(Step::Pass),
        2 => Just(Step::Sweep),
    ]
}

#[test]
fn any_order_of_commands_does_what_the_reference_does() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let bench = runtime.block_on(Bench::new(1));
    runtime.block_on(bench.dispatch.cancel(&bench.caller, bench.jobs[0].id, "not this one")).expect("queued");
    let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: 120, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, seed)
        .run(&proptest::collection::vec(step(), 1..40), |steps| {
            runtime.block_on(follow(&bench, &steps));
            Ok(())
        })
        .expect("dispatch and the reference agree");
}

async fn follow(bench: &Bench, steps: &[Step]) {
    let job = bench.another(|job| job.deadline_seconds = DEADLINE).await;
    let mut reference = Reference::new(seconds(bench), LEASE);
    let mut tokens: Vec<LeaseToken> = Vec::new();
    let mut ended: Option<JobState> = None;
    for (n, step) in steps.iter().enumerate() {
        let (said, expected) = run(bench, &job, &mut reference, &mut tokens, *step).await;
        let context = || format!("step {n} {step:?} of {steps:?}");
        assert_eq!(said, expected, "{}", context());
        let now = bench.job(&job).await;
        assert_eq!(now.state.status(), reference.status(), "{}", context());
        let held = match reference.at {
            At::Offered { token, .. } | At::Running { token, .. } => Some(tokens[token]),
            At::Queued | At::Ended { .. } => None,
        };
        assert_eq!(now.state.lease().map(|lease| lease.token), held, "one token holds at most; {}", context());
        assert_eq!(now.attempt, 1);
        if let Some(ended) = &ended {
            assert_eq!(&now.state, ended, "an end never changes; {}", context());
        } else if now.state.status().is_final() {
            ended = Some(now.state);
        }
    }
    assert!(tokens.is_sorted_by(|a, b| a < b), "tokens rise: {tokens:?}");
    let counted = bench.results(&job).await.into_iter().filter(|result| result.accepted).count();
    let reported = matches!(reference.at, At::Ended { said: Some(_), .. });
    assert_eq!(counted, usize::from(reported), "a result counts once; {steps:?}");
    let ends = bench.kinds(&job).await.into_iter().filter(|kind| *kind == "job_ended").count();
    assert_eq!(ends, usize::from(ended.is_some()), "and is told of once; {steps:?}");
    // Out of the way of the next case.
    let _ = bench.dispatch.cancel(&bench.caller, job.id, "over").await;
}

async fn run(
    bench: &Bench,
    job: &Job,
    reference: &mut Reference,
    tokens: &mut Vec<LeaseToken>,
    step: Step,
) -> (Said, Said) {
    reference.now = seconds(bench);
    let mut report = async |back: usize, status: Option<JobStatus>, body: u8| {
        let (index, token) = pick(tokens, back);
        let message = Some(format!("{body}"));
        let report = Report { status, message, ..Report::default() };
        let hash = [body + 10 * u8::from(status == Some(JobStatus::Completed)) + 1; 32];
        let said = bench.dispatch.report(&bench.caller, job.id, Some(token), &report, hash).await;
        let end: Option<FinalStatus> = status.and_then(JobStatus::as_final);
        (word(said.map(drop)), reference.report(index, end, body))
    };
    match step {
        Step::Claim => {
            let offers = bench.next("n", 1).await;
            tokens.extend(offers.iter().map(|offer| offer.token));
            (if offers.is_empty() { Said::Nothing } else { Said::Ok }, reference.claim())
        }
        Step::Acknowledge(back) => report(back, Some(JobStatus::InProgress), 6).await,
        Step::Progress(back) => report(back, None, 5).await,
        Step::End(back, good, body) => {
            let status = if good { JobStatus::Completed } else { JobStatus::Failed };
            report(back, Some(status), body).await
        }
        Step::Heartbeat(back) => {
            let (index, token) = pick(tokens, back);
            let said = bench.dispatch.heartbeat(&bench.caller, job.id, Some(token)).await;
            (word(said.map(drop)), reference.heartbeat(index))
        }
        Step::GiveBack(back) => {
            let (index, token) = pick(tokens, back);
            let said = bench.dispatch.give_back(&bench.caller, job.id, Some(token)).await;
            (word(said.map(drop)), reference.give_back(index))
        }
        Step::Cancel => {
            let said = match bench.dispatch.cancel(&bench.caller, job.id, "stop").await {
                Ok(_) => Said::Ok,
                Err(CancelError::Transition(_)) => Said::Illegal,
                Err(error) => panic!("{error}"),
            };
            (said, reference.cancel())
        }
        Step::Pass(seconds) => {
            bench.pass(seconds);
            (Said::Ok, Said::Ok)
        }
        Step::Sweep => {
            bench.sweep().await;
            reference.settle();
            (Said::Ok, Said::Ok)
        }
    }
}

/// A token by its age, and its index; one that was never given has an index of its own.
fn pick(tokens: &[LeaseToken], back: usize) -> (usize, LeaseToken) {
    match tokens.len().checked_sub(back + 1) {
        Some(index) => (index, tokens[index]),
        None => (usize::MAX, LeaseToken(i64::MAX)),
    }
}

fn word(said: Result<(), ReportError>) -> Said {
    match said {
        Ok(()) => Said::Ok,
        Err(ReportError::StaleLease { .. }) => Said::Stale,
        Err(ReportError::OtherResult(_)) => Said::Other,
        Err(ReportError::Transition(_)) => Said::Illegal,
        Err(error) => panic!("{error}"),
    }
}

fn seconds(bench: &Bench) -> i64 {
    store::Clock::now(&*bench.clock).millis_since(START) / 1000
}
