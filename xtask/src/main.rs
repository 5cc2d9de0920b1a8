//! `cargo xtask`: the chores of this repository. Never part of what ships, and knows no crate of ours.

use std::{io, process::ExitCode};

use clap::{Parser, Subcommand};
use xtask::{bench, ci, demo, test, tools};

/// Chores of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Build, then show a release going through staging, approval and prod on this machine
    Demo {
        /// Leave the temporary folder (database, logs, sites) behind and say where it is
        #[arg(long)]
        keep: bool,
    },
    /// Run the tests of the whole workspace
    Test {
        /// Only tests whose name contains this
        filter: Option<String>,
    },
    /// Everything that must hold before a change lands
    Ci,
    /// Measure, and print each figure beside its baseline as a JSON line
    Bench,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().chore {
        Chore::Demo { keep } => run_demo(keep),
        Chore::Test { filter } => test::run(filter.as_deref()),
        Chore::Ci => ci::run(),
        Chore::Bench => bench::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tools::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run_demo(keep: bool) -> anyhow::Result<()> {
    let binary = tools::build_tidegate()?;
    let options = demo::Options { binary, root: tools::root(), keep, faults: demo::Faults::None };
    demo::run(&options, &mut io::stdout().lock()).map(|_| ())
}
