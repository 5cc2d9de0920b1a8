//! `tidegate plugin`: policies of one's own.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use reqwest::StatusCode;

use crate::{
    client::Client,
    failure::Usage,
    output::{self, Format, text},
};

/// Subcommands of `tidegate plugin`.
#[derive(Debug, Subcommand)]
pub enum Plugin {
    /// Upload a policy component under a name and version; the same bytes again change nothing
    Push(Push),
}

/// Arguments of `tidegate plugin push`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate plugin push target/wasm32-wasip2/release/freeze_fridays.wasm --name freeze-fridays --version 1.0.0")]
pub struct Push {
    /// The WebAssembly component
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The name that rules use
    #[arg(long)]
    name: String,
    /// Its version (semver); a version never changes once it is there
    #[arg(long)]
    version: String,
}

/// Runs a subcommand.
pub async fn run(client: &Client, format: Format, command: Plugin) -> Result<()> {
    match command {
        Plugin::Push(arguments) => push(client, format, arguments).await,
    }
}

async fn push(client: &Client, format: Format, arguments: Push) -> Result<()> {
    let bytes = std::fs::read(&arguments.file)
        .map_err(|error| Usage(format!("`{}` cannot be read: {error}", arguments.file.display())))?;
    let query = [("name", arguments.name), ("version", arguments.version)];
    let url = client.in_workspace(&["plugins"]);
    let (status, plugin) = client.upload(url, &query, "application/wasm", bytes).await?;
    output::print(format, &plugin, || {
        let row = ["name", "version", "digest", "manifest.summary"].map(|field| text(&plugin, field)).to_vec();
        output::table(&["NAME", "VERSION", "DIGEST", "SUMMARY"], vec![row], "")
    })?;
    if status != StatusCode::CREATED {
        eprintln!("it was there already; nothing changed");
    }
    Ok(())
}
