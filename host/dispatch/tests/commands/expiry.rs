//! What time alone does, at the second.

use std::time::Duration;

use dispatch::{Dispatch, ReportError};
use model::job_state::{JobState, JobStatus};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, START};

#[tokio::test]
async fn an_offer_lapses_at_exactly_thirty_seconds_and_costs_nothing() {
    let bench = Bench::new(1).await;
    let job = &bench.jobs[0];
    let first = bench.offered("n1").await;
    bench.clock.advance(Duration::from_millis(29_999));
    bench.sweep().await;
    assert!(matches!(bench.state(job).await, JobState::Offered { .. }));
    bench.clock.advance(Duration::from_millis(1));
    bench.sweep().await;
    assert_eq!(bench.state(job).await, JobState::Queued { offers: 1 });
    let late = bench.say(&first, JobStatus::InProgress, "").await.expect_err("it went back");
    assert!(matches!(late, ReportError::StaleLease { status: JobStatus::Queued, holder: None }), "{late:?}");
    let second = bench.offered("n2").await;
    assert!(second.token > first.token);
    assert_eq!(second.job.job.attempt, 1, "no attempt was spent");
    bench.dispatch.give_back(&bench.caller, job.id, Some(second.token)).await.expect("not begun");
    let third = bench.running("n3").await;
    let refused = bench.dispatch.give_back(&bench.caller, job.id, Some(third.token)).await.expect_err("begun");
    assert_eq!(refused.to_string(), "a job that is `in_progress` cannot become `queued`");
}

#[tokio::test]
async fn ten_offers_in_a_row_end_the_attempt() {
    let bench = Bench::new(1).await;
    let job = &bench.jobs[0];
    for n in 1..=10 {
        bench.offered("sleepy").await;
        bench.pass(30);
        bench.sweep().await;
        let ended = bench.state(job).await.status() == JobStatus::Failed;
        assert_eq!(ended, n == 10, "after {n}");
    }
    let job = bench.job(job).await;
    assert_eq!(job.message, "offers_exhausted: 10 offers in a row were not acknowledged");
    assert_eq!((job.attempt, job.state.started_at()), (1, None));
}

#[tokio::test]
async fn a_lease_ends_at_exactly_its_length_and_a_heartbeat_renews_it() {
    let bench = Bench::new(2).await;
    let (renewed, silent) = (bench.running("n1").await, bench.running("n2").await);
    bench.pass(59);
    let beat = bench.dispatch.heartbeat(&bench.caller, renewed.job.job.id, Some(renewed.token)).await.expect("holds");
    assert_eq!(beat.lease_seconds, 60);
    bench.sweep().await;
    assert_eq!(bench.state(&silent.job.job).await.status(), JobStatus::InProgress);
    bench.pass(1);
    bench.sweep().await;
    assert_eq!(bench.state(&renewed.job.job).await.status(), JobStatus::InProgress);
    let failed = bench.job(&silent.job.job).await;
    assert_eq!(failed.state.status(), JobStatus::Failed);
    assert_eq!(failed.message, "lease_expired: node `n2` was not heard of for 60 s");
    let ended = bench.events(&failed).await.pop().expect("it ended");
    assert_eq!(
        (ended.event.data["cause"].as_str(), ended.event.data["node"].as_str()),
        (Some("lease_expired"), Some("n2"))
    );
    bench.sweep().await;
    assert_eq!(bench.kinds(&failed).await, ["job_offered", "job_started", "job_ended"], "it ends once");
}

#[tokio::test]
async fn a_late_result_is_kept_and_changes_nothing() {
    let bench = Bench::new(1).await;
    let offer = bench.running("n1").await;
    bench.pass(60);
    // Nobody swept: the report itself finds that the lease is over.
    for _ in 0..2 {
        let late = bench.say(&offer, JobStatus::Completed, "done after all").await.expect_err("over");
        assert!(matches!(late, ReportError::StaleLease { status: JobStatus::Failed, holder: None }), "{late:?}");
    }
    let job = bench.job(&bench.jobs[0]).await;
    assert_eq!(job.state.status(), JobStatus::Failed);
    let results = bench.results(&job).await;
    assert_eq!(results.len(), 1);
    assert!(!results[0].accepted && results[0].status == JobStatus::Completed);
    assert!(results[0].body.contains("done after all"));
    assert_eq!(bench.kinds(&job).await[2..], ["job_ended", "late_result_rejected"]);
    let beat = bench.dispatch.heartbeat(&bench.caller, job.id, Some(offer.token)).await;
    assert!(matches!(beat, Err(ReportError::StaleLease { .. })), "the agent is told to stop");
}

#[tokio::test]
async fn late_results_do_not_fill_the_disk() {
    let bench = Bench::new(1).await;
    let offer = bench.running("n1").await;
    bench.pass(60);
    for n in 0..model::limits::LATE_RESULTS_MAX + 5 {
        bench.say(&offer, JobStatus::Completed, &format!("{n}")).await.expect_err("over");
    }
    assert_eq!(bench.results(&bench.jobs[0]).await.len(), model::limits::LATE_RESULTS_MAX);
}

#[tokio::test]
async fn a_deadline_ends_what_heartbeats_would_keep() {
    let bench = Bench::new(1).await;
    bench.running("n0").await;
    let job = bench.another(|job| job.deadline_seconds = 100).await;
    let offer = bench.running("n1").await;
    assert_eq!(offer.job.job.id, job.id);
    bench.pass(50);
    let beat = bench.dispatch.heartbeat(&bench.caller, job.id, Some(offer.token)).await.expect("holds");
    assert_eq!(beat.lease_seconds, 50, "never past the deadline");
    bench.pass(50);
    let beat = bench.dispatch.heartbeat(&bench.caller, job.id, Some(offer.token)).await;
    assert!(matches!(beat, Err(ReportError::StaleLease { status: JobStatus::Failed, .. })), "{beat:?}");
    assert_eq!(bench.job(&job).await.message, "deadline_exceeded: not done after 100 s");
}

#[tokio::test]
async fn what_was_asked_to_cancel_is_cancelled_when_its_lease_ends() {
    let bench = Bench::new(1).await;
    let offer = bench.running("n1").await;
    bench.dispatch.cancel(&bench.caller, offer.job.job.id, "stop").await.expect("asked");
    bench.pass(60);
    bench.sweep().await;
    assert_eq!(bench.state(&offer.job.job).await.status(), JobStatus::Cancelled);
}

#[tokio::test]
async fn an_outage_of_ours_ends_nobodys_work() {
    let bench = Bench::new(1).await;
    let offer = bench.running("n1").await;
    // The server was away for ten minutes.
    bench.pass(600);
    let restarted = Dispatch::new(bench.store.clone());
    let (_, due) = restarted.sweep().await.expect("sweeps");
    assert_eq!(due, Some(START.plus_seconds(660)));
    bench.pass(59);
    restarted.sweep().await.expect("sweeps");
    let beat = restarted.heartbeat(&bench.caller, offer.job.job.id, Some(offer.token)).await.expect("still its own");
    assert_eq!(beat.lease_seconds, 60);
    bench.pass(60);
    restarted.sweep().await.expect("sweeps");
    assert_eq!(bench.state(&offer.job.job).await.status(), JobStatus::Failed);
}

#[tokio::test]
async fn a_clock_that_jumps_ends_nobodys_work() {
    let bench = Bench::new(1).await;
    let offer = bench.running("n1").await;
    bench.clock.jump(START.plus_seconds(3600 - 1));
    bench.sweep().await;
    bench.pass(59);
    bench.sweep().await;
    assert_eq!(bench.state(&offer.job.job).await.status(), JobStatus::InProgress);
    bench.pass(1);
    bench.sweep().await;
    assert_eq!(bench.state(&offer.job.job).await.status(), JobStatus::Failed);
}

#[tokio::test]
async fn sweeps_run_by_themselves_until_they_are_stopped() {
    let bench = Bench::new(1).await;
    let offer = bench.running("n1").await;
    let shutdown = CancellationToken::new();
    let (dispatch, stop) = (bench.dispatch.clone(), shutdown.clone());
    let running = tokio::spawn(async move { dispatch.run(stop).await });
    bench.pass(60);
    let mut waited = 0;
    while bench.state(&offer.job.job).await.status() != JobStatus::Failed {
        waited += 1;
        assert!(waited < 200, "nobody swept");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    shutdown.cancel();
    tokio::time::timeout(Duration::from_secs(5), running).await.expect("it stops").expect("no panic");
}
