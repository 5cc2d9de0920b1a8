//! `cargo xtask test`: every workspace's tests, the root's last so that its closing line ends the output.
//! cargo-nextest runs them where it is installed.

use std::process::Command;

use anyhow::Result;

use crate::tools;

/// Runs the tests; the runner prints its own closing line.
pub fn run(filter: Option<&str>) -> Result<()> {
    tools::ensure_wasm_target()?;
    let nextest = tools::works(tools::cargo().args(["nextest", "--version"]));
    if !nextest {
        tools::say("cargo-nextest is not installed; using `cargo test` (slower, same tests)");
    }
    let policies = tools::root().join(tools::POLICIES);
    if nextest && filter.is_none() {
        // The one kind that nextest leaves out.
        tools::run(tools::cargo().args(["test", "--quiet", "--workspace", "--doc"]).current_dir(&policies))?;
        tools::run(tools::cargo().args(["test", "--quiet", "--workspace", "--doc"]))?;
    }
    tools::run(runner(nextest, filter).current_dir(&policies))?;
    tools::run(&mut runner(nextest, filter))
}

fn runner(nextest: bool, filter: Option<&str>) -> Command {
    let mut command = tools::cargo();
    if nextest {
        // A filter may well name nothing in one of the two workspaces.
        let no_tests = if filter.is_some() { "--no-tests=pass" } else { "--no-tests=fail" };
        command.args(["nextest", "run", "--workspace", no_tests]).args(filter);
    } else {
        command.args(["test", "--workspace", "--no-fail-fast"]).args(filter);
    }
    command
}
