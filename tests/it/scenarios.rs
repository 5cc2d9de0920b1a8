//! Plays every scenario under tests/scenarios with the built binary and compares what it prints, to the byte, with the
//! file beside it. `UPDATE=1` writes those files anew.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

#[test]
fn every_scenario_prints_what_is_written_beside_it() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for file in files() {
        let played = simulate(&file, &[]);
        let text = String::from_utf8_lossy(&played.stdout).into_owned();
        let beside = file.with_extension("out");
        if update {
            fs::write(&beside, &text).expect("the folder can be written");
        }
        if !played.status.success() {
            let failed = text.lines().filter(|line| line.contains("FAILED") || line.starts_with("    "));
            let failed: Vec<&str> = failed.collect();
            let error = String::from_utf8_lossy(&played.stderr);
            wrong.push(format!("{}:\n{}\n{error}", file.display(), failed.join("\n")));
        } else if fs::read_to_string(&beside).unwrap_or_default() != text {
            wrong.push(format!("{} differs; look at it and run again with UPDATE=1", beside.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn nothing_is_left_without_its_scenario() {
    for output in found("out") {
        let scenario = output.with_extension("yaml");
        assert!(scenario.exists(), "{} has no scenario", output.display());
    }
}

#[test]
fn the_same_file_gives_the_same_json_whatever_the_time_zone() {
    for file in files().into_iter().step_by(5) {
        let first = simulate(&file, &[("TZ", "America/New_York")]);
        let again = simulate(&file, &[("TZ", "UTC")]);
        assert_eq!(first.stdout, again.stdout, "{}", file.display());
    }
}

/// A check that cannot fail is none.
#[test]
fn an_expectation_that_does_not_hold_fails_and_a_wrong_file_says_where() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("scenario.yaml");
    let first = fs::read_to_string(root().join("approval/first.yaml")).expect("it is there");
    let play = |text: &str| {
        fs::write(&file, text).expect("the folder can be written");
        simulate(&file, &[])
    };
    let failed = play(&first.replace("current: v1, jobs: 1", "current: v2, jobs: 7"));
    let text = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert_eq!(failed.status.code(), Some(1), "{text}");
    assert!(text.contains("current: expected v2, found v1") && text.contains("jobs: expected 7, found 1"), "{text}");

    let table = [
        ("at: 1m, expect", "at: 1x, expect", "neither a time from the start"),
        ("blockedBy: anyApproval", "blokedBy: anyApproval", "did you mean `blockedBy`?"),
        ("version: {deployment: api, tag: v1}", "verison: {deployment: api, tag: v1}", "did you mean `version`?"),
        ("minApprovals: 1", "minApprovals: none", "minApprovals"),
        ("deployment: api, version: v1, environment: prod", "deployment: apy, version: v1, environment: prod", "`apy`"),
    ];
    for (right, wrong, expected) in table {
        let refused = play(&first.replacen(right, wrong, 1));
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{wrong}: {error}");
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}

fn simulate(file: &Path, environment: &[(&str, &str)]) -> Output {
    // Paths in messages are those that were given.
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.arg("simulate").arg(file).envs(environment.iter().copied());
    if environment.iter().any(|(key, _)| *key == "TZ") {
        command.args(["--format", "json"]);
    }
    command.output().expect("the binary runs")
}

fn files() -> Vec<PathBuf> {
    let files = found("yaml");
    assert!(!files.is_empty(), "no scenarios found");
    files
}

fn found(extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}
