//! Every command on every state, as one table.

use dispatch::{CancelError, ClaimError, Report, ReportError};
use model::{
    job::Job,
    job_state::{FinalStatus, JobState, JobStatus, Lease, LeaseToken},
};

use crate::bench::{Bench, START};

const TOKEN: LeaseToken = LeaseToken(7);
const COMMANDS: [&str; 11] =
    ["claim", "ack", "progress", "action", "complete", "skip", "queue", "heartbeat", "give_back", "cancel", "sweep"];

/// Cells: the status that follows, or why not: `stale`, `illegal`, `other` result, `taken`.
const TABLE: &str = "\
state       claim       ack         progress    action      complete    skip        queue       heartbeat   give_back   cancel      sweep
pending     taken       stale       stale       stale       stale       stale       stale       stale       stale       cancelled   pending
queued      offered     stale       stale       stale       stale       stale       stale       stale       stale       cancelled   queued
offered     taken       in_progress in_progress action_requ completed   illegal     illegal     offered     queued      cancelled   offered
triggered   taken       stale       stale       stale       stale       stale       stale       stale       stale       cancelled   triggered
running     taken       in_progress in_progress action_requ completed   illegal     illegal     in_progress illegal     asked       in_progress
action      taken       in_progress action_requ action_requ completed   illegal     illegal     action_requ illegal     asked       action_requ
asked       taken       asked       asked       asked       completed   illegal     illegal     asked       illegal     asked       asked
lapsed      offered     stale       stale       stale       stale       stale       stale       stale       stale       cancelled   queued
expired     taken       stale       stale       stale       stale       stale       stale       stale       stale       illegal     failed
asked late  taken       stale       stale       stale       stale       stale       stale       stale       stale       illegal     cancelled
completed   taken       other       other       other       completed   other       other       stale       stale       illegal     completed
cancelled   taken       stale       stale       stale       stale       stale       stale       stale       stale       illegal     cancelled
failed      taken       stale       stale       stale       stale       stale       stale       stale       stale       illegal     failed
";

fn states() -> Vec<(&'static str, JobState)> {
    let lease = |since: i64, seconds: i64| Lease {
        token: TOKEN,
        holder: "n1".into(),
        since: START.plus_seconds(since),
        until: START.plus_seconds(since + seconds),
    };
    let running = |since: i64, action_required: bool, asked: bool| JobState::Running {
        lease: lease(since, 60),
        started_at: START.plus_seconds(since),
        action_required,
        cancel_requested_at: asked.then_some(START.plus_seconds(since)),
    };
    let ended = |status, token| JobState::Ended { status, started_at: None, ended_at: START, token };
    // The table is read at second 100.
    vec![
        ("pending", JobState::Pending),
        ("queued", JobState::Queued { offers: 0 }),
        ("offered", JobState::Offered { lease: lease(90, 30), offers: 1 }),
        ("triggered", JobState::Triggered { started_at: START }),
        ("running", running(90, false, false)),
        ("action", running(90, true, false)),
        ("asked", running(90, false, true)),
        ("lapsed", JobState::Offered { lease: lease(70, 30), offers: 1 }),
        ("expired", running(40, false, false)),
        ("asked late", running(40, false, true)),
        ("completed", running(90, false, false)),
        ("cancelled", ended(FinalStatus::Cancelled, Some(TOKEN))),
        ("failed", ended(FinalStatus::Failed, None)),
    ]
}

#[tokio::test]
async fn every_command_on_every_state() {
    let bench = Bench::new(1).await;
    bench.dispatch.cancel(&bench.caller, bench.jobs[0].id, "not in the table").await.expect("queued");
    bench.pass(100);
    let mut table = line("state", &COMMANDS.map(str::to_owned));
    for (name, state) in states() {
        let mut cells = Vec::new();
        for command in COMMANDS {
            let job = bench.another(|_| {}).await;
            put(&bench, &job, &state).await;
            if name == "completed" {
                say(&bench, &job, Some(JobStatus::Completed)).await.expect("holds");
            }
            let cell = run(&bench, &job, command).await;
            cells.push(cell);
            // Out of the way of the next: nothing of this agent may wait.
            let _ = bench.dispatch.cancel(&bench.caller, job.id, "done with it").await;
        }
        table.push_str(&line(name, &cells));
    }
    assert_eq!(table, TABLE);
}

/// Writes a state past the commands.
async fn put(bench: &Bench, job: &Job, state: &JobState) {
    let mut tx = bench.store.write("test.put").await.expect("a transaction begins");
    let job = Job { state: state.clone(), ..job.clone() };
    store::job::save(&mut tx, &job).await.expect("saves");
    tx.commit().await.expect("committed");
}

async fn say(bench: &Bench, job: &Job, status: Option<JobStatus>) -> Result<Job, ReportError> {
    let report = Report { status, message: Some("said".into()), ..Report::default() };
    let hash = [status.map_or(0, |status| status.name().len().try_into().expect("short")); 32];
    bench.dispatch.report(&bench.caller, job.id, Some(TOKEN), &report, hash).await
}

async fn run(bench: &Bench, job: &Job, command: &str) -> String {
    let (caller, token) = (&bench.caller, Some(TOKEN));
    let refused = match command {
        "claim" => match bench.dispatch.claim(caller, bench.world.agent.id, job.id, "n2").await {
            Ok(_) => None,
            Err(ClaimError::NotFree { .. }) => Some("taken"),
            Err(error) => panic!("{error}"),
        },
        "heartbeat" => word(bench.dispatch.heartbeat(caller, job.id, token).await.map(drop)),
        "give_back" => word(bench.dispatch.give_back(caller, job.id, token).await.map(drop)),
        "cancel" => match bench.dispatch.cancel(caller, job.id, "stop").await {
            Ok(_) => None,
            Err(CancelError::Transition(_)) => Some("illegal"),
            Err(error) => panic!("{error}"),
        },
        "sweep" => {
            bench.sweep().await;
            None
        }
        report => {
            let status = match report {
                "ack" => Some(JobStatus::InProgress),
                "progress" => None,
                "action" => Some(JobStatus::ActionRequired),
                "complete" => Some(JobStatus::Completed),
                "skip" => Some(JobStatus::Skipped),
                "queue" => Some(JobStatus::Queued),
                other => panic!("no command {other}"),
            };
            word(say(bench, job, status).await.map(drop))
        }
    };
    match refused {
        Some(word) => word.to_owned(),
        None => match bench.state(job).await {
            JobState::Offered { .. } => "offered".into(),
            JobState::Running { cancel_requested_at: Some(_), .. } => "asked".into(),
            state => state.status().name().chars().take(11).collect(),
        },
    }
}

fn word(result: Result<(), ReportError>) -> Option<&'static str> {
    match result {
        Ok(()) => None,
        Err(ReportError::StaleLease { .. }) => Some("stale"),
        Err(ReportError::Transition(_)) => Some("illegal"),
        Err(ReportError::OtherResult(_)) => Some("other"),
        Err(error) => panic!("{error}"),
    }
}

fn line(name: &str, cells: &[String]) -> String {
    let line: String =
        std::iter::once(name).chain(cells.iter().map(String::as_str)).map(|cell| format!("{cell:<12}")).collect();
    format!("{}\n", line.trim_end())
}
