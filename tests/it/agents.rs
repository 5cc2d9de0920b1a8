//! Two agents on one queue: every job is done, and done once.

use std::{collections::BTreeSet, fmt::Write as _};

use anyhow::ensure;
use serde_json::Value;
use xtask::demo::{Faults, broken};

use crate::world;

const PLACES: usize = 24;

#[test]
fn each_job_goes_to_one_of_two_agents() {
    world::play(Faults::None, |stage| {
        world::apply_quickstart(stage)?;
        let mut places = String::new();
        for number in 0..PLACES {
            let _ = write!(
                places,
                "---\ntype: Resource\nidentifier: extra-{number:02}\nkind: Folder\nmetadata: {{env: staging}}\n\
                 config: {{path: sites/extra-{number:02}}}\n"
            );
        }
        world::apply(stage, "places.yaml", &places)?;
        for node in ["one", "two"] {
            stage.start_agent(node)?;
        }
        stage.show(&["version", "create", "--deployment", "site", "--tag", "v1"])?;

        // The quickstart has two places in staging of its own.
        let jobs = stage.wait("every place in staging to run v1", |stage| {
            let jobs = stage.list("/jobs?limit=1000&status=completed")?;
            ensure!(jobs.len() == PLACES + 2, "{} of {} jobs are completed", jobs.len(), PLACES + 2);
            Ok(jobs)
        })?;
        // The jobs are done; that the targets run v1 is planned from that.
        stage.wait("the targets to show v1", |stage| {
            let targets = stage.list("/release-targets?limit=1000")?;
            let running = targets.iter().filter(|target| target["currentVersion"]["tag"] == "v1").count();
            ensure!(running == PLACES + 2, "{running} of {} targets run it", PLACES + 2);
            Ok(())
        })?;

        let all = stage.list("/jobs?limit=1000")?;
        let (events, executions) = (stage.events()?, stage.executions()?);
        let complaints = broken(&events, &all, Some(&executions));
        ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
        let done: BTreeSet<&str> = executions.iter().map(|execution| execution.job.as_str()).collect();
        ensure!(
            executions.len() == jobs.len() && done.len() == jobs.len(),
            "expected {} jobs, each done once; found {} commands for {} jobs",
            jobs.len(),
            executions.len(),
            done.len()
        );
        let nodes: BTreeSet<String> = events.iter().filter(|event| event["kind"] == "job_started").map(actor).collect();
        let expected = BTreeSet::from(["node:one".to_owned(), "node:two".to_owned()]);
        ensure!(nodes == expected, "expected work for {expected:?}; found {nodes:?}");
        Ok(())
    });
}

#[test]
fn a_token_that_no_longer_holds_changes_nothing() {
    world::play(Faults::None, |stage| {
        world::apply_quickstart(stage)?;
        stage.start_agent("one")?;
        stage.show(&["version", "create", "--deployment", "site", "--tag", "v1"])?;
        let job = stage.wait("a job to be completed", |stage| {
            let jobs = stage.list("/jobs?status=completed")?;
            ensure!(!jobs.is_empty(), "none is");
            Ok(jobs[0].clone())
        })?;
        let path = format!("/api/v1/jobs/{}", job["id"].as_str().unwrap_or_default());
        let late = stage.send("PATCH", &path, r#"{"leaseToken": 0, "status": "failed", "message": "late"}"#)?;
        ensure!(late.status == 409, "expected 409 for a stale token; found {}: {}", late.status, late.text());
        ensure!(late.json()?["code"] == "stale_lease", "expected the code stale_lease; found {}", late.text());
        let without = stage.send("PATCH", &path, r#"{"status": "failed"}"#)?;
        ensure!(without.status == 428, "expected 428 without a token; found {}: {}", without.status, without.text());

        let now = stage.get(&format!("/jobs/{}", job["id"].as_str().unwrap_or_default()))?;
        ensure!(now["status"] == "completed", "expected a job that stays completed; found {now}");
        let kept = stage.events()?.iter().filter(|event| event["kind"] == "late_result_rejected").count();
        ensure!(kept == 1, "expected the late result to be kept as one event; found {kept}");
        Ok(())
    });
}

fn actor(event: &Value) -> String {
    event["actor"].as_str().unwrap_or_default().to_owned()
}
