//! What must hold of a server's trail whatever happened to it, looked at from outside: as lists of complaints.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// One time that an agent's command ran: for which job, under which token.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Execution {
    /// The job's id.
    pub job: String,
    /// The lease token, as the command was told.
    pub token: String,
}

/// What is broken in a trail whose work is done: `events` in the order of their positions, all `jobs`, and the
/// commands that ran, where somebody wrote them down.
#[must_use]
pub fn broken(events: &[Value], jobs: &[Value], executions: Option<&[Execution]>) -> Vec<String> {
    let mut found = Vec::new();
    positions(events, &mut found);
    ends(events, jobs, &mut found);
    if let Some(executions) = executions {
        carried_out(executions, jobs, &mut found);
    }
    found
}

/// Positions rise by one from 1, and no event is there twice.
fn positions(events: &[Value], found: &mut Vec<String>) {
    let mut ids = BTreeSet::new();
    for (index, event) in events.iter().enumerate() {
        let expected = index as u64 + 1;
        if event["position"].as_u64() != Some(expected) {
            found.push(format!("expected an event at position {expected}, found {event}"));
            // All that follow are off by as much.
            return;
        }
        if !ids.insert(text(&event["id"])) {
            found.push(format!("an event is there twice: {event}"));
        }
    }
}

/// Every job ended once, and its end is in the trail as it is in the job; every job that is in the trail is there.
fn ends(events: &[Value], jobs: &[Value], found: &mut Vec<String>) {
    let count = |kind: &str| {
        let mut count: BTreeMap<String, u32> = BTreeMap::new();
        for event in events.iter().filter(|event| event["kind"] == kind) {
            *count.entry(job_of(event)).or_default() += 1;
        }
        count
    };
    let (created, ended) = (count("job_created"), count("job_ended"));
    for job in jobs {
        let id = text(&job["id"]);
        let name = format!("job {id} ({} {})", text(&job["resource"]["identifier"]), text(&job["version"]["tag"]));
        let status = text(&job["status"]);
        let is_final =
            !matches!(status.as_str(), "pending" | "queued" | "triggered" | "in_progress" | "action_required");
        if !is_final {
            found.push(format!("{name} has not ended: it is {status}"));
        }
        for (what, count) in [("made", &created), ("ended", &ended)] {
            let times = count.get(&id).copied().unwrap_or(0);
            if times != 1 && (is_final || what == "made") {
                found.push(format!("{name} was {what} {times} times, says the trail; once was expected"));
            }
        }
    }
    let known: BTreeSet<String> = jobs.iter().map(|job| text(&job["id"])).collect();
    for id in created.keys().chain(ended.keys()).filter(|id| !known.contains(*id)).collect::<BTreeSet<_>>() {
        found.push(format!("the trail speaks of job {id}, which is not there"));
    }
}

/// No command ran twice for one job under one token; every completed job had one that ran.
fn carried_out(executions: &[Execution], jobs: &[Value], found: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for execution in executions {
        if !seen.insert(execution) {
            found.push(format!("job {} was carried out twice under token {}", execution.job, execution.token));
        }
    }
    for job in jobs.iter().filter(|job| job["status"] == "completed") {
        let id = text(&job["id"]);
        if !executions.iter().any(|execution| execution.job == id) {
            found.push(format!("job {id} is completed, but nobody carried it out"));
        }
    }
}

fn job_of(event: &Value) -> String {
    let subject = &event["subject"];
    let id = ["job", "jobId"].iter().map(|name| text(&subject[*name])).find(|id| !id.is_empty());
    id.unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(position: u64, kind: &str, job: &str) -> Value {
        json!({"position": position, "id": format!("e{position}"), "kind": kind, "subject": {"job": job}})
    }

    fn job(id: &str, status: &str) -> Value {
        json!({"id": id, "status": status, "resource": {"identifier": "r"}, "version": {"tag": "v1"}})
    }

    fn ran(job: &str, token: &str) -> Execution {
        Execution { job: job.to_owned(), token: token.to_owned() }
    }

    fn check(events: &[Value], jobs: &[Value], executions: &[Execution], parts: &[&str]) {
        let found = broken(events, jobs, Some(executions));
        assert_eq!(found.len(), parts.len(), "{found:#?}");
        for (complaint, part) in found.iter().zip(parts) {
            assert!(complaint.contains(part), "`{complaint}` does not say `{part}`");
        }
    }

    #[test]
    fn a_sound_trail_and_every_way_to_break_it() {
        let events = [event(1, "workspace_created", ""), event(2, "job_created", "a"), event(3, "job_ended", "a")];
        let jobs = [job("a", "completed")];
        let executions = [ran("a", "1"), ran("a", "2")];
        check(&events, &jobs, &executions, &[]);

        let gap = [events[0].clone(), event(3, "job_created", "a"), event(4, "job_ended", "a")];
        check(&gap, &jobs, &executions, &["position 2"]);
        let mut twice = events.clone();
        twice[1]["id"] = json!("e1");
        check(&twice, &jobs, &executions, &["an event is there twice"]);
        let ended_again = [&events[..], &[event(4, "job_ended", "a")]].concat();
        check(&ended_again, &jobs, &executions, &["ended 2 times"]);
        check(&events[..2], &jobs, &executions, &["ended 0 times"]);
        check(&events[..2], &[job("a", "in_progress")], &executions, &["has not ended: it is in_progress"]);
        check(&events, &[], &[], &["job a, which is not there"]);
        check(&events, &jobs, &[ran("a", "1"), ran("a", "1")], &["carried out twice under token 1"]);
        check(&events, &jobs, &[], &["nobody carried it out"]);
    }
}
