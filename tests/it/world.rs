//! How the end-to-end tests come by a running Tidegate: the demo's own stage, with the binary that cargo built.

use std::{fmt::Write as _, path::Path};

use anyhow::Result;
use xtask::demo::{Faults, Options, Stage};

/// The built binary in a healthy or a dying world.
pub fn options(faults: Faults) -> Options {
    Options {
        binary: env!("CARGO_BIN_EXE_tidegate").into(),
        root: env!("CARGO_MANIFEST_DIR").into(),
        keep: false,
        faults,
    }
}

/// Sets the stage, plays, and shows what was to be seen when it went wrong.
pub fn play(faults: Faults, scene: impl FnOnce(&mut Stage<'_>) -> Result<()>) {
    let options = options(faults);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut shown = Vec::new();
    let result = Stage::set(&options, folder.path(), &mut shown).and_then(|mut stage| scene(&mut stage));
    if let Err(error) = result {
        let mut logs = String::new();
        for name in ["server.log", "agent.log"] {
            let text = std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
            let _ = write!(logs, "\n── {name}\n{}", last_lines(&text, 40));
        }
        panic!("{error:#}\n{}\n{logs}", String::from_utf8_lossy(&shown));
    }
}

/// Writes a document and applies it.
pub fn apply(stage: &mut Stage<'_>, name: &str, documents: &str) -> Result<()> {
    let file = stage.folder.join(name);
    std::fs::write(&file, documents)?;
    stage.show(&["apply", "-f", text(&file)])?;
    Ok(())
}

/// The quickstart's documents.
pub fn apply_quickstart(stage: &mut Stage<'_>) -> Result<()> {
    let folder = stage.options.root.join("examples/quickstart");
    stage.show(&["apply", "-f", text(&folder)])?;
    Ok(())
}

/// A path of ours, which is text.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders and the repository have names that are text")
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
