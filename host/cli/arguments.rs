//! The command line: what can be written, and what `--help` says of it.

use clap::{Parser, Subcommand};

use crate::{
    agent::Agent, apply::Apply, approve::Word, events::Events, explain::Explain, failure::EXIT_CODES, get::Get,
    output::Format, plugin::Plugin, serve::Serve, settings::Settings, simulate::Simulate, version::Version,
};

/// Release policy: which version of which software goes where, and when
///
/// Tidegate decides which version may go to which place, asks the policies that govern it, and hands what passes to job
/// agents. Start a server with `tidegate serve`; everything else talks to one.
#[derive(Debug, Parser)]
#[command(name = "tidegate", version, after_help = EXIT_CODES, max_term_width = 120)]
pub struct Arguments {
    #[command(flatten)]
    pub settings: Settings,
    /// How data is printed
    #[arg(short = 'o', long = "output", global = true, value_enum, default_value_t = Format::Table, value_name = "FORMAT", help_heading = "Output")]
    pub output: Format,
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a server
    Serve(Serve),
    /// Do the jobs of a job agent: run a command for each
    Agent(Agent),
    /// Make things as files say: systems, environments, deployments, resources, agents, policies
    Apply(Apply),
    /// Report versions
    #[command(subcommand)]
    Version(Version),
    /// Approve a version for environments
    Approve(Word),
    /// Reject a version for environments
    Reject(Word),
    /// List things
    #[command(subcommand)]
    Get(Get),
    /// Say why a target is where it is, and what would change it
    Explain(Explain),
    /// Show what happened
    Events(Events),
    /// Upload policies of your own
    #[command(subcommand)]
    Plugin(Plugin),
    /// Play a scenario file and say what happens: the real rules under a clock that jumps
    Simulate(Simulate),
    /// Print the reference of all commands, as docs/reference/cli.md has it
    #[command(hide = true)]
    Reference,
}
