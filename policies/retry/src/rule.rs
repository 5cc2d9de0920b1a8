//! Is there another attempt, and when? Pure: everything is an argument.

use tidegate_policy::{Job, JobStatus, Timestamp, retry::Decision};

use crate::{Config, backoff};

/// `attempts` oldest first; the last one just ended.
///
/// # Errors
/// There is no attempt, or the last one has not ended.
pub fn decide(config: &Config, now: Timestamp, attempts: &[Job], seed: u64) -> Result<Decision, String> {
    let last = attempts.last().ok_or("there is no attempt to decide on")?;
    let ended = match last.status {
        JobStatus::Pending
        | JobStatus::Queued
        | JobStatus::Triggered
        | JobStatus::InProgress
        | JobStatus::ActionRequired => return Err("the last attempt has not ended".to_owned()),
        JobStatus::Completed => return Ok(Decision::GiveUp("the last attempt succeeded".to_owned())),
        JobStatus::Cancelled => return Ok(Decision::GiveUp("a cancelled job is not tried again".to_owned())),
        // It never started, so it is no attempt: what it was withdrawn for decides when it comes back.
        JobStatus::Skipped => return Ok(Decision::RetryAt(now)),
        JobStatus::Failed => "failed",
        JobStatus::InvalidJobAgent => "invalid_job_agent",
        JobStatus::InvalidIntegration => "invalid_integration",
        JobStatus::ExternalRunNotFound => "external_run_not_found",
    };
    if !config.retries(last.status) {
        return Ok(Decision::GiveUp(format!("ended {ended}, which is not tried again (retryOnStatuses)")));
    }
    let failures = failures_in_a_row(attempts);
    if failures > config.max_retries {
        return Ok(Decision::GiveUp(gave_up(config, failures, &last.message)));
    }
    let wait = i64::try_from(backoff::wait_millis(config, failures, seed)).unwrap_or(i64::MAX);
    let ended_at = last.completed_at.unwrap_or(now);
    Ok(Decision::RetryAt(ended_at.saturating_add(wait)))
}

/// Attempts without success since the last one with it. One that was withdrawn or cancelled is none.
fn failures_in_a_row(attempts: &[Job]) -> u32 {
    let row = attempts.iter().rev().take_while(|job| job.status != JobStatus::Completed);
    let failures = row.filter(|job| !matches!(job.status, JobStatus::Skipped | JobStatus::Cancelled)).count();
    u32::try_from(failures).unwrap_or(u32::MAX)
}

fn gave_up(config: &Config, failures: u32, message: &str) -> String {
    let attempts = if failures == 1 { "1 attempt".to_owned() } else { format!("{failures} attempts") };
    let mut sentence = format!("gave up after {attempts} (maxRetries {})", config.max_retries);
    let message = message.trim();
    if !message.is_empty() {
        let end = message.char_indices().nth(200).map_or(message.len(), |(end, _)| end);
        sentence.push_str(&format!("; the last one said: {}", &message[..end]));
    }
    sentence
}

#[cfg(test)]
mod tests {
    use tidegate_policy::JobKind;

    use super::*;

    const ENDED: Timestamp = 1_772_438_400_000;

    fn config(json: &str) -> Config {
        serde_json::from_str(json).expect("a configuration")
    }

    fn jobs(statuses: &[JobStatus]) -> Vec<Job> {
        let job = |(index, status): (usize, &JobStatus)| Job {
            id: format!("job-{index}"),
            kind: JobKind::Deploy,
            version_id: "v".into(),
            status: *status,
            attempt: u32::try_from(index).expect("few") + 1,
            created_at: ENDED - 1000,
            started_at: None,
            completed_at: Some(ENDED),
            message: "exit code 3".into(),
        };
        statuses.iter().enumerate().map(job).collect()
    }

    fn check(json: &str, statuses: &[JobStatus], expect: &Decision) {
        let decision = decide(&config(json), ENDED + 500, &jobs(statuses), 1).expect("an answer");
        assert_eq!(&decision, expect, "{json} {statuses:?}");
    }

    fn give_up(reason: &str) -> Decision {
        Decision::GiveUp(reason.to_owned())
    }

    use JobStatus::{Cancelled, Completed, ExternalRunNotFound, Failed, InvalidJobAgent, Skipped};

    #[test]
    fn counts_and_waits_from_the_end_of_the_last_attempt() {
        let two = r#"{"maxRetries": 2, "backoffSeconds": 10, "backoffStrategy": "exponential"}"#;
        check(two, &[Failed], &Decision::RetryAt(ENDED + 10_000));
        check(two, &[Failed, Failed], &Decision::RetryAt(ENDED + 20_000));
        let gave_up = "gave up after 3 attempts (maxRetries 2); the last one said: exit code 3";
        check(two, &[Failed, Failed, Failed], &give_up(gave_up));
        check(
            r#"{"maxRetries": 0}"#,
            &[Failed],
            &give_up("gave up after 1 attempt (maxRetries 0); the last one said: exit code 3"),
        );
        check(r#"{"maxRetries": 1}"#, &[Failed], &Decision::RetryAt(ENDED));
    }

    #[test]
    fn success_ends_the_row_and_what_never_ran_does_not_count() {
        let one = r#"{"maxRetries": 1}"#;
        check(one, &[Failed, Completed, Failed], &Decision::RetryAt(ENDED));
        check(one, &[Skipped, Failed], &Decision::RetryAt(ENDED));
        check(one, &[Cancelled, Failed], &Decision::RetryAt(ENDED));
        check(one, &[Failed, Skipped], &Decision::RetryAt(ENDED + 500));
        check(one, &[Completed], &give_up("the last attempt succeeded"));
    }

    #[test]
    fn cancelled_jobs_and_other_ends_are_not_tried_again() {
        let many = r#"{"maxRetries": 9}"#;
        check(many, &[Failed, Cancelled], &give_up("a cancelled job is not tried again"));
        let other = "ended external_run_not_found, which is not tried again (retryOnStatuses)";
        check(many, &[ExternalRunNotFound], &give_up(other));
        check(many, &[InvalidJobAgent], &Decision::RetryAt(ENDED));
        check(
            r#"{"maxRetries": 9, "retryOnStatuses": ["failed"]}"#,
            &[InvalidJobAgent],
            &give_up("ended invalid_job_agent, which is not tried again (retryOnStatuses)"),
        );
    }

    #[test]
    fn a_request_that_makes_no_sense_is_an_error() {
        assert!(decide(&config(r#"{"maxRetries": 1}"#), 0, &[], 1).is_err());
        assert!(decide(&config(r#"{"maxRetries": 1}"#), 0, &jobs(&[JobStatus::InProgress]), 1).is_err());
    }
}
