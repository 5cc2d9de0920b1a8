//! The course of one job, and who may speak for it.

use dispatch::{Beat, ClaimError, Report, ReportError};
use model::{
    access::Caller,
    id::Uuid,
    job_state::{FinalStatus, JobState, JobStatus, LeaseToken},
};
use serde_json::json;

use crate::bench::{Bench, START};

#[tokio::test]
async fn a_job_is_offered_acknowledged_and_done() {
    let bench = Bench::new(1).await;
    let offer = bench.offered("n1").await;
    assert_eq!(offer.token, LeaseToken(1));
    assert_eq!(offer.job.job.context, json!({"job": {"kind": "deploy", "leaseToken": 1}, "variables": {}}));
    let job = bench.jobs[0].clone();
    assert_eq!(bench.job(&job).await.context, job.context, "the token is kept in its own column alone");
    let Ok(running) = bench.say(&offer, JobStatus::InProgress, "").await else { panic!("acknowledged") };
    assert_eq!(running.state.started_at(), Some(START));
    let again = bench.say(&offer, JobStatus::InProgress, "").await.expect("acknowledged twice is once");
    assert_eq!(again, running);
    let progress = Report {
        message: Some("half".into()),
        external_id: Some("run-7".into()),
        links: Some([("log".to_owned(), "http://log/7".to_owned())].into()),
        status: None,
    };
    bench.dispatch.report(&bench.caller, job.id, Some(offer.token), &progress, [1; 32]).await.expect("progress");
    bench.say(&offer, JobStatus::ActionRequired, "press the button").await.expect("waits for a person");
    bench.pass(20);
    let done = bench.say(&offer, JobStatus::Completed, "done").await.expect("done");
    assert_eq!(bench.job(&job).await, done);
    assert_eq!((done.message.as_str(), done.external_id.as_deref()), ("done", Some("run-7")));
    assert_eq!(done.links.len(), 1);
    assert_eq!(done.attempt, 1);
    let JobState::Ended { status: FinalStatus::Completed, started_at: Some(START), ended_at, token } = done.state
    else {
        panic!("{:?}", done.state)
    };
    assert_eq!((ended_at, token), (START.plus_seconds(20), Some(offer.token)));
    assert_eq!(
        bench.kinds(&job).await,
        ["job_offered", "job_started", "job_progressed", "job_progressed", "job_ended"]
    );
    let events = bench.events(&job).await;
    assert_eq!(events[4].event.actor.text(), "node:n1");
    assert_eq!(events[4].event.data["leaseToken"], 1);
}

#[tokio::test]
async fn every_change_is_planned() {
    let bench = Bench::new(1).await;
    let due = async || {
        let mut tx = bench.store.write("test.plan").await.expect("a transaction begins");
        let claims = store::planning::claim_due(&mut tx, 10, 60).await.expect("claims");
        for claim in &claims {
            assert!(store::planning::finish(&mut tx, claim, None, false).await.expect("finishes"));
        }
        tx.commit().await.expect("committed");
        claims.len()
    };
    due().await;
    let offer = bench.offered("n1").await;
    assert_eq!(due().await, 0, "to the planner an offered job is a queued one");
    bench.say(&offer, JobStatus::InProgress, "").await.expect("acknowledged");
    assert_eq!(due().await, 1);
    bench.dispatch.heartbeat(&bench.caller, offer.job.job.id, Some(offer.token)).await.expect("holds");
    assert_eq!(due().await, 0);
    bench.pass(60);
    bench.sweep().await;
    assert_eq!(due().await, 1);
}

#[tokio::test]
async fn the_same_result_twice_is_one_and_another_is_refused() {
    let bench = Bench::new(1).await;
    let offer = bench.running("n1").await;
    let done = bench.say(&offer, JobStatus::Completed, "ok").await.expect("done");
    bench.pass(100);
    let again = bench.say(&offer, JobStatus::Completed, "ok").await.expect("the same answer");
    assert_eq!(again, done);
    let other = bench.say(&offer, JobStatus::Failed, "no").await.expect_err("another result");
    assert!(matches!(other, ReportError::OtherResult(JobStatus::Completed)), "{other}");
    assert_eq!(bench.job(&bench.jobs[0]).await, done);
    let results = bench.results(&bench.jobs[0]).await;
    assert_eq!(results.iter().map(|it| it.accepted).collect::<Vec<_>>(), [true, false]);
    assert_eq!(bench.kinds(&bench.jobs[0]).await[2..], ["job_ended", "late_result_rejected"]);
}

#[tokio::test]
async fn whoever_speaks_of_a_job_is_asked_for_its_token() {
    let bench = Bench::new(1).await;
    let offer = bench.running("n1").await;
    let job = &bench.jobs[0];
    let missing = bench.say_under(job, None, JobStatus::Completed, "").await.expect_err("no token");
    assert!(matches!(missing, ReportError::TokenRequired));
    let beat = bench.dispatch.heartbeat(&bench.caller, job.id, None).await.expect_err("no token");
    assert!(matches!(beat, ReportError::TokenRequired));
    let wrong = bench.say_under(job, Some(LeaseToken(9)), JobStatus::Completed, "").await.expect_err("no such token");
    let ReportError::StaleLease { status: JobStatus::InProgress, holder: Some((node, since)) } = &wrong else {
        panic!("{wrong:?}")
    };
    assert_eq!((node.as_str(), *since), ("n1", START));
    let text =
        "the lease token does not hold: the job is `in_progress`, held by node `n1` since 2026-03-02T08:00:00.000Z";
    assert_eq!(wrong.to_string(), text);

    let other_agent = Caller { agent: Some(Uuid::from_u128(8).into()), ..bench.caller.clone() };
    let report = Report { status: Some(JobStatus::Completed), ..Report::default() };
    let refused = bench.dispatch.report(&other_agent, job.id, Some(offer.token), &report, [0; 32]).await;
    assert!(matches!(refused, Err(ReportError::OtherAgent(_))));
    let polled = bench.dispatch.next(&other_agent, bench.world.agent.id, "n", 1, std::time::Duration::ZERO).await;
    assert!(matches!(polled, Err(ClaimError::OtherAgent(_))));
    let other_tenant = Caller { workspace: Uuid::from_u128(8).into(), agent: None, ..bench.caller.clone() };
    let refused = bench.dispatch.report(&other_tenant, job.id, Some(offer.token), &report, [0; 32]).await;
    assert!(matches!(refused, Err(ReportError::UnknownJob(_))));
    let polled = bench.dispatch.next(&other_tenant, bench.world.agent.id, "n", 1, std::time::Duration::ZERO).await;
    assert!(matches!(polled, Err(ClaimError::UnknownAgent(_))));
    assert_eq!(bench.state(job).await.status(), JobStatus::InProgress);
}

#[tokio::test]
async fn a_cancel_is_asked_for_and_a_result_that_wins_stays() {
    let bench = Bench::new(2).await;
    let offer = bench.running("n1").await;
    let job = offer.job.job.clone();
    let beat = bench.dispatch.heartbeat(&bench.caller, job.id, Some(offer.token)).await.expect("holds");
    assert_eq!(beat, Beat { lease_seconds: 60, cancel: false });
    let asked = bench.dispatch.cancel(&bench.caller, job.id, "stop").await.expect("asked");
    assert_eq!(asked.state.status(), JobStatus::InProgress);
    let beat = bench.dispatch.heartbeat(&bench.caller, job.id, Some(offer.token)).await.expect("holds");
    assert!(beat.cancel);
    let done = bench.say(&offer, JobStatus::Completed, "was quick").await.expect("it won");
    assert_eq!(
        (done.state.status(), done.message.as_str()),
        (JobStatus::Completed, "was quick (finished before cancel)")
    );
    let ended = bench.events(&job).await.pop().expect("it ended");
    assert_eq!(ended.event.data["finishedBeforeCancel"], true);

    let offer = bench.running("n1").await;
    bench.dispatch.cancel(&bench.caller, offer.job.job.id, "stop").await.expect("asked");
    let agreed = bench.say(&offer, JobStatus::Cancelled, "").await.expect("the agent agrees");
    assert_eq!(agreed.state.status(), JobStatus::Cancelled);
    let kinds = bench.kinds(&offer.job.job).await;
    assert_eq!(kinds, ["job_offered", "job_started", "job_cancel_requested", "job_ended"]);
}

#[tokio::test]
async fn the_token_of_a_later_job_fences_the_earlier_one() {
    let bench = Bench::new(1).await;
    let first = bench.running("n1").await;
    bench.pass(60);
    bench.sweep().await;
    let later = bench.another(|_| {}).await;
    let second = bench.running("n2").await;
    assert_eq!(second.job.job.id, later.id);
    assert!(second.token > first.token);
    let late = bench.say(&first, JobStatus::Completed, "").await.expect_err("its lease ended");
    let ReportError::StaleLease { status: JobStatus::Failed, holder: Some((node, since)) } = &late else {
        panic!("{late:?}")
    };
    assert_eq!((node.as_str(), *since), ("n2", START.plus_seconds(60)));
    let stolen = bench.say_under(&later, Some(first.token), JobStatus::Completed, "").await;
    assert!(matches!(stolen, Err(ReportError::StaleLease { .. })), "a token is its job's alone");
}
