//! `tidegate`, the one binary: reads the command line, runs one command, and turns its end into an exit code.

mod agent;
mod apply;
mod approve;
mod arguments;
mod client;
mod crypto;
mod events;
mod explain;
mod failure;
mod get;
mod lookup;
mod output;
mod plugin;
mod reference;
mod serve;
mod settings;
mod shipped;
mod simulate;
mod version;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser as _;
use tracing_subscriber::EnvFilter;

use arguments::{Arguments, Command};
use client::Client;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    crypto::install();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if failure::is_closed_output(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            failure::exit_code(&error)
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    let Arguments { settings, output, command } = arguments;
    let long_running = matches!(command, Command::Serve(_) | Command::Agent(_));
    if long_running {
        let filter = EnvFilter::try_from_env("TIDEGATE_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    }
    let mut runtime = if long_running {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = runtime.enable_all().build().context("no runtime")?;
    runtime.block_on(async {
        match command {
            Command::Serve(arguments) => serve::run(&settings, arguments).await,
            Command::Agent(arguments) => agent::run(Client::new(&settings)?, arguments).await,
            Command::Apply(arguments) => apply::run(&Client::new(&settings)?, output, arguments).await,
            Command::Version(command) => version::run(&Client::new(&settings)?, output, command).await,
            Command::Approve(word) => approve::run(&Client::new(&settings)?, output, word, "approved").await,
            Command::Reject(word) => approve::run(&Client::new(&settings)?, output, word, "rejected").await,
            Command::Get(what) => get::run(&Client::new(&settings)?, output, what).await,
            Command::Explain(arguments) => explain::run(&Client::new(&settings)?, output, arguments).await,
            Command::Events(arguments) => events::run(&Client::new(&settings)?, output, arguments).await,
            Command::Plugin(command) => plugin::run(&Client::new(&settings)?, output, command).await,
            Command::Simulate(arguments) => simulate::run(arguments).await,
            Command::Reference => output::line(reference::markdown().trim_end()),
        }
    })
}
