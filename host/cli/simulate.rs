//! `tidegate simulate`: plays a scenario file and says what happened.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use manifest::scenario;
use plugins::{Host, HostConfig, Limits};
use serde_json::Value as Json;
use simulate::{Line, SimulateError, Stage};

use crate::{
    failure::Usage,
    output::{line, pairs, text},
    shipped::shipped,
};

/// Arguments of `tidegate simulate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate simulate approval.yaml
  tidegate simulate approval.yaml --format json | jq 'select(.kind == \"job_created\")'

Plays the scenario with the real planner, policies and dispatch on a database of its own, under a clock that jumps from
one due instant to the next. Exit code 0: every expectation holds; 1: one does not; 2: the file is wrong.")]
pub struct Simulate {
    /// The scenario file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How lines are printed
    #[arg(long, value_enum, default_value_t = Lines::Table)]
    format: Lines,
}

/// How lines are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lines {
    /// For people
    Table,
    /// One JSON object a line
    Json,
}

/// Plays the file.
pub async fn run(arguments: Simulate) -> Result<()> {
    let name = arguments.file.display().to_string();
    let text = std::fs::read_to_string(&arguments.file).with_context(|| format!("cannot read `{name}`"))?;
    let scenario = scenario::parse(&name, &text).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Usage(lines.join("\n"))
    })?;
    let folder = tempfile::tempdir().context("no temporary folder for the database")?;
    let stage = Stage {
        database_url: format!("sqlite:{}", folder.path().join("scenario.db").display()),
        host: Host::new(HostConfig { cache_dir: code_cache(), workers: 1, queue: 16, limits: Limits::product() })?,
        shipped: shipped()?,
    };
    let mut written = Ok(());
    let mut show = |shown: Line| {
        if written.is_ok() {
            written = match arguments.format {
                Lines::Json => line(&shown.json().to_string()),
                Lines::Table => line(&for_people(&shown)),
            };
        }
    };
    let played = simulate::play(&scenario, stage, &mut show).await;
    written?;
    let summary = played.map_err(|error| match error {
        SimulateError::Step { .. } | SimulateError::Apply(_) => Usage(format!("{name}: {error}")).into(),
        SimulateError::Shipped(_) | SimulateError::Store(_) => anyhow::Error::from(error),
    })?;
    if summary.failed > 0 {
        bail!("{} of {} expectations do not hold", summary.failed, summary.expectations);
    }
    Ok(())
}

/// Native code of the policies that ship is kept between runs, in the user's own cache.
fn code_cache() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    let folder = base.join("tidegate");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("code"))
}

/// One line as people read it: the time, what happened where, and the rest.
fn for_people(shown: &Line) -> String {
    let json = shown.json();
    match shown {
        Line::Event { at, kind, .. } => {
            let what = ["target", "version"].map(|key| text(&json, key)).into_iter().filter(|part| part != "-");
            let what = what.collect::<Vec<_>>().join(" ");
            let mut rest = json.clone();
            if let Json::Object(rest) = &mut rest {
                for key in ["at", "seq", "kind", "actor", "target", "version"] {
                    rest.shift_remove(key);
                }
            }
            format!("{at}  {kind:<20} {what} {}", pairs(&rest)).trim_end().to_owned()
        }
        Line::Expectation { at, line, target, faults } if faults.is_empty() => {
            format!("{at}  ok                   line {line}: {target}")
        }
        Line::Expectation { at, line, target, faults } => {
            let faults = faults
                .iter()
                .map(|fault| format!("\n    {}: expected {}, found {}", fault.key, fault.expected, fault.found));
            format!("{at}  FAILED               line {line}: {target}{}", faults.collect::<String>())
        }
        Line::Summary(summary) => format!(
            "{} expectations, {} failed; {} decisions, {} evaluations, {} jobs",
            summary.expectations, summary.failed, summary.decisions, summary.evaluations, summary.jobs
        ),
    }
}
