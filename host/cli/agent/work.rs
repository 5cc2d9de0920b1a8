//! One job from the offer to its report.

use std::{io::Write as _, time::Duration};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;
use tokio_util::sync::CancellationToken;

use super::{
    command::{clipped, ended, environment},
    queue::{Beat, Offer, Queue, Report, Said},
    run::Running,
    template::Template,
};

/// Waits after a heartbeat without an answer: the lease runs, so they are short.
const HEARTBEAT_AGAIN: Duration = Duration::from_secs(1);
/// Most leases are longer; a lease of a second or two must still be renewed in time.
const HEARTBEAT_MIN: Duration = Duration::from_millis(300);

/// Does one job.
pub async fn work(queue: &Queue, template: &Template, offer: Offer, abort: &CancellationToken) {
    let label = offer.label();
    let acknowledged = tokio::select! {
        said = queue.acknowledge(&offer) => said,
        // Nobody works on it yet, so the offer just lapses and goes to somebody else.
        () = abort.cancelled() => return,
    };
    if let Said::Refused(why) = acknowledged {
        tracing::warn!(job = offer.id, "{label}: not ours any more: {why}");
        return;
    }
    tracing::info!(job = offer.id, "{label}: started");
    let Some(report) = carry_out(queue, template, &offer, abort).await else { return };
    match queue.report(&offer, &report).await {
        Said::Accepted if report.message.is_empty() => tracing::info!(job = offer.id, "{label}: {}", report.status),
        Said::Accepted => tracing::info!(job = offer.id, "{label}: {} ({})", report.status, report.message),
        Said::Refused(why) => tracing::warn!(job = offer.id, "{label}: {}, but that was refused: {why}", report.status),
    }
}

/// Runs the command and keeps the lease. `None` when the lease has passed on: then there is nothing for us to report.
async fn carry_out(queue: &Queue, template: &Template, offer: &Offer, abort: &CancellationToken) -> Option<Report> {
    let unfit = |message: String| Some(Report { status: "invalid_job_agent", message: clipped(message) });
    let words = match template.fill(&offer.context) {
        Ok(words) => words,
        Err(message) => return unfit(message),
    };
    // The file lives as long as the command.
    let (context_file, started) = match context_file(offer) {
        Ok(file) => {
            let variables = environment(offer, file.path());
            (file, Running::start(&words, variables, &offer.label()))
        }
        Err(error) => return unfit(format!("{error:#}")),
    };
    let mut running = match started {
        Ok(running) => running,
        Err(error) => return unfit(format!("{error:#}")),
    };
    let stop = tokio::select! {
        status = running.ended() => {
            let line = running.last_error_line().await;
            drop(context_file);
            return Some(match status {
                Ok(status) => ended(status, &line),
                Err(error) => Report { status: "failed", message: clipped(format!("{error:#}")) },
            });
        }
        stop = keep_lease(queue, offer) => stop,
        () = abort.cancelled() => Stop::Aborted,
    };
    running.end().await;
    match stop {
        Stop::Cancelled => Some(Report { status: "cancelled", message: "the command was ended".to_owned() }),
        Stop::Aborted => Some(Report { status: "failed", message: "the agent was stopped".to_owned() }),
        Stop::Lost(why) => {
            tracing::warn!(job = offer.id, "{}: the lease has passed on, the command was ended: {why}", offer.label());
            None
        }
    }
}

/// Why a command is ended before its time.
enum Stop {
    Cancelled,
    Lost(String),
    Aborted,
}

/// Renews the lease at a third of its length, for as long as that is right.
async fn keep_lease(queue: &Queue, offer: &Offer) -> Stop {
    let mut wait = heartbeat_wait(offer.lease);
    loop {
        tokio::time::sleep(wait).await;
        wait = match queue.heartbeat(offer).await {
            Ok(Ok(Beat::GoOn(lease))) => heartbeat_wait(lease),
            Ok(Ok(Beat::Cancel)) => return Stop::Cancelled,
            Ok(Err(why)) => return Stop::Lost(why),
            Err(error) => {
                // The server may be back before the lease ends; and if not, it is for the server to say what that means.
                tracing::warn!(job = offer.id, "no heartbeat: {error:#}");
                HEARTBEAT_AGAIN.min(wait)
            }
        };
    }
}

fn heartbeat_wait(lease: Duration) -> Duration {
    (lease / 3).max(HEARTBEAT_MIN)
}

/// The dispatch context as a file that only we can read, with the token that is not in it otherwise.
fn context_file(offer: &Offer) -> Result<NamedTempFile> {
    let mut context = offer.context.clone();
    if let Some(object) = context.as_object_mut() {
        object.insert("leaseToken".to_owned(), offer.lease_token.into());
        object.insert("config".to_owned(), offer.config.clone());
    }
    let mut file = tempfile::Builder::new()
        .prefix("tidegate-job-")
        .suffix(".json")
        .tempfile()
        .context("no file for the dispatch context")?;
    serde_json::to_writer(&mut file, &context).context("the dispatch context cannot be written")?;
    file.flush().context("the dispatch context cannot be written")?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    #[test]
    fn a_lease_is_renewed_at_a_third_of_its_length() {
        for (lease, wait) in [(60_000, 20_000), (3_000, 1_000), (1_000, 333), (1, 300)] {
            assert_eq!(heartbeat_wait(Duration::from_millis(lease)).as_millis(), wait);
        }
    }

    #[test]
    fn the_context_file_holds_everything_and_is_ours_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let offer = Offer {
            id: "j1".to_owned(),
            lease_token: 7,
            lease: Duration::from_secs(30),
            config: json!({"a": 1}),
            context: json!({"version": {"tag": "v1"}}),
        };
        let file = context_file(&offer).expect("written");
        let content: Json = serde_json::from_slice(&std::fs::read(file.path()).expect("read")).expect("JSON");
        assert_eq!(content, json!({"version": {"tag": "v1"}, "leaseToken": 7, "config": {"a": 1}}));
        assert_eq!(std::fs::metadata(file.path()).expect("there").permissions().mode() & 0o777, 0o600);
    }
}
