//! The main job, visibly and on real input: a server, five web sites, an agent, two versions, an approval, a failure.
//! Everything it shows comes from the built binary; everything it claims is checked. The crash tests run the same steps
//! with a server that dies.

mod check;
mod server;
mod stage;
mod steps;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

pub use check::{Execution, broken};
pub use server::{Faults, Server};
pub use stage::Stage;

/// How a demo is to be.
#[derive(Debug, Clone)]
pub struct Options {
    /// The built `tidegate`.
    pub binary: PathBuf,
    /// The repository, for examples/quickstart.
    pub root: PathBuf,
    /// Whether the temporary folder stays.
    pub keep: bool,
    /// What is done to the server.
    pub faults: Faults,
}

/// What a demo came to.
#[derive(Debug)]
pub struct Summary {
    /// How long it took, the build not counted.
    pub took: Duration,
    /// How often the server died of what was done to it.
    pub deaths: u32,
    /// How many events there are.
    pub events: usize,
    /// How many jobs there were.
    pub jobs: usize,
}

/// Longest time without faults; people wait for it.
const TOOK_MAX: Duration = Duration::from_secs(60);

/// Runs it all and writes what there is to see. Whatever it started has ended when it returns.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Summary> {
    let place = tempfile::Builder::new().prefix("tidegate-demo-").tempdir()?;
    let result = on_stage(options, place.path(), out);
    if options.keep {
        let folder = place.keep();
        writeln!(out, "\nkept: {} (database, logs, sites)", folder.display())?;
        return result;
    }
    if result.is_err() {
        writeln!(out, "\nThe logs end:\n{}", logs(place.path()))?;
    }
    result
}

fn on_stage(options: &Options, folder: &Path, out: &mut dyn Write) -> Result<Summary> {
    let began = Instant::now();
    let mut stage = Stage::set(options, folder, out)?;
    for (number, (title, step)) in steps::STEPS.iter().enumerate() {
        let at = began.elapsed().as_secs_f32();
        stage.tell(&format!("\n── {}. {title}  [{at:.1} s]", number + 1))?;
        step(&mut stage).with_context(|| format!("step {}, \"{title}\"", number + 1))?;
    }
    let summary = stage.summary(began.elapsed())?;
    ensure!(
        summary.deaths > 0 || summary.took <= TOOK_MAX,
        "expected: done within {} s; found: {} s",
        TOOK_MAX.as_secs(),
        summary.took.as_secs()
    );
    let Summary { took, deaths, events, jobs } = &summary;
    stage.tell(&format!(
        "\nEverything is as it should be: {jobs} jobs, each done once; {events} events, none missing; {} s.",
        took.as_secs()
    ))?;
    if *deaths > 0 {
        stage.tell(&format!("The server died {deaths} times on the way."))?;
    }
    Ok(summary)
}

/// The ends of the logs, for whoever has to find out what went wrong.
fn logs(folder: &Path) -> String {
    let end = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        format!("{name}:\n  {}", lines[lines.len().saturating_sub(25)..].join("\n  "))
    };
    [end("server.log"), end("agent.log")].join("\n")
}
