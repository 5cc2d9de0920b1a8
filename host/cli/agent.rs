//! `tidegate agent`: claims jobs of one job agent and runs a command for each.
//!
//! Nothing here decides about releases. A job is reported under the lease token it came with, again and again until the
//! server takes the report or refuses it; while the server is away the command goes on.

mod command;
mod queue;
mod run;
mod template;
mod work;

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use clap::Args;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{Client, is_passing},
    failure::Usage,
    lookup,
};
use queue::Queue;
use template::Template;

/// Waits after a failed poll; the last one repeats.
const BACKOFF: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
];
/// Most jobs at a time; more is a slip of the finger.
const CONCURRENCY_MAX: u32 = 100;

/// Arguments of `tidegate agent`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate agent --agent sites -- ./deploy.sh '{{resource.config.path}}' '{{version.tag}}'
  tidegate agent --agent sites --node worker-7 --concurrency 4 -- ./deploy.sh

Words in double braces are filled in from the job's dispatch context, by path: {{version.tag}}, {{version.config.image}},
{{environment.name}}, {{resource.identifier}}, {{resource.config.path}}, {{deployment.metadata.team}}, {{job.attempt}}.
A job for which one of them is missing ends as invalid_job_agent.

The command also finds in its environment:
  TIDEGATE_JOB_ID, TIDEGATE_ATTEMPT, TIDEGATE_LEASE_TOKEN
  TIDEGATE_DEPLOYMENT, TIDEGATE_ENVIRONMENT, TIDEGATE_RESOURCE, TIDEGATE_VERSION   names, identifier, tag
  TIDEGATE_RESOURCE_CONFIG, TIDEGATE_VERSION_CONFIG, TIDEGATE_JOB_CONFIG           as JSON
  TIDEGATE_CONTEXT_FILE                                                            a JSON file with all of it

Exit status 0 completes the job. Any other fails it, with the last line of its standard error as the message.
On a cancel, or when the lease has passed to somebody else, its whole process group is ended: first with SIGTERM,
ten seconds later with SIGKILL. SIGTERM to the agent drains: it takes nothing more and ends when its jobs have; a
second one ends them, and a third one does not wait for their reports.")]
pub struct Agent {
    /// Whose jobs to take: a job agent, by name or id
    #[arg(long, value_name = "AGENT")]
    agent: String,
    /// What this process is called [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// How many jobs at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(CONCURRENCY_MAX)))]
    concurrency: u32,
    /// The command to run for each job, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs until it is told to stop.
pub async fn run(client: Client, arguments: Agent) -> Result<()> {
    let template = Template::parse(&arguments.command).map_err(Usage)?;
    let node = match arguments.node {
        Some(node) => node,
        None => host_name(),
    };
    let drain = CancellationToken::new();
    let abort = CancellationToken::new();
    listen_for_signals(&drain, &abort)?;
    let Some(agent) = find_agent(&client, &arguments.agent, &drain).await? else { return Ok(()) };
    let queue = Queue::new(client, agent, node);
    tracing::info!(agent = arguments.agent, node = queue.node(), concurrency = arguments.concurrency, "taking jobs");
    take_jobs(queue, template, arguments.concurrency, &drain, &abort).await;
    Ok(())
}

/// Claims as many jobs as there are free places, until told to drain; then waits for those it has.
async fn take_jobs(
    queue: Queue,
    template: Template,
    concurrency: u32,
    drain: &CancellationToken,
    abort: &CancellationToken,
) {
    let places = Arc::new(Semaphore::new(usize::try_from(concurrency).unwrap_or(1)));
    let template = Arc::new(template);
    let mut working = JoinSet::new();
    let mut failures = 0;
    while !drain.is_cancelled() {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = drain.cancelled() => break,
        };
        // The semaphore is never closed.
        let Ok(place) = place else { break };
        let free = places.available_permits() + 1;
        drop(place);
        let offers = tokio::select! {
            offers = queue.next(free) => offers,
            () = drain.cancelled() => break,
        };
        match offers {
            Ok(offers) => {
                failures = 0;
                for offer in offers {
                    let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
                    let (queue, template, abort) = (queue.clone(), Arc::clone(&template), abort.clone());
                    working.spawn(async move {
                        work::work(&queue, &template, offer, &abort).await;
                        drop(place);
                    });
                }
            }
            Err(error) => {
                tracing::warn!("no jobs at the moment: {error:#}");
                tokio::select! {
                    () = tokio::time::sleep(BACKOFF[failures.min(BACKOFF.len() - 1)]) => failures += 1,
                    () = drain.cancelled() => break,
                }
            }
        }
        while working.try_join_next().is_some() {}
    }
    if !working.is_empty() {
        tracing::info!(jobs = working.len(), "draining: waiting for the jobs that run");
    }
    while working.join_next().await.is_some() {}
}

/// The agent's id. A server that is not there yet is waited for; one that refuses is not.
async fn find_agent(client: &Client, name_or_id: &str, drain: &CancellationToken) -> Result<Option<String>> {
    let mut failures = 0;
    loop {
        match lookup::id(client, "job-agents", name_or_id).await {
            Ok(id) => return Ok(Some(id)),
            Err(error) if is_passing(&error) => {
                tracing::warn!("waiting for the server: {error:#}");
                tokio::select! {
                    () = tokio::time::sleep(BACKOFF[usize::min(failures, BACKOFF.len() - 1)]) => failures += 1,
                    () = drain.cancelled() => return Ok(None),
                }
            }
            Err(error) => {
                return Err(error.context(format!("job agent `{name_or_id}` (a document of type JobAgent makes one)")));
            }
        }
    }
}

/// The first signal drains, the second one ends the jobs as well, and a third one is not waited for.
fn listen_for_signals(drain: &CancellationToken, abort: &CancellationToken) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be received")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be received")?;
    let (drain, abort) = (drain.clone(), abort.clone());
    tokio::spawn(async move {
        for token in [drain, abort] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            token.cancel();
        }
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::warn!("stopped at once; what was not reported ends with its lease");
        std::process::exit(1);
    });
    Ok(())
}

/// What `uname -n` says, which every Unix has.
fn host_name() -> String {
    let output = std::process::Command::new("uname").arg("-n").output();
    let name = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if name.is_empty() { "agent".to_owned() } else { name }
}
