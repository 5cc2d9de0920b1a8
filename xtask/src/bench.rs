//! `cargo xtask bench`: runs every Criterion bench and prints one JSON line per figure, each beside the baseline that
//! was measured in the same run: machines differ, ratios less so.
//!
//! In a group, the function called `native`, or whose name begins with `baseline`, is what the others are compared with.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::tools;

/// One measured function.
#[derive(Debug, Clone, PartialEq)]
struct Figure {
    group: String,
    function: String,
    nanoseconds: f64,
}

impl Figure {
    fn is_baseline(&self) -> bool {
        self.function == "native" || self.function.starts_with("baseline")
    }
}

/// Runs the benches and prints the figures.
pub fn run() -> Result<()> {
    tools::ensure_wasm_target()?;
    let results = tools::target_dir()?.join("criterion");
    // Figures of benches that are not there any more must not turn up again.
    if results.exists() {
        fs::remove_dir_all(&results)?;
    }
    let benches = benches()?;
    ensure!(!benches.is_empty(), "no package of the workspace has a bench");
    for (package, bench) in benches {
        tools::run(tools::cargo().args(["bench", "--locked", "--package", &package, "--bench", &bench]))?;
    }
    let figures = figures(&results)?;
    ensure!(!figures.is_empty(), "the benches left no figures in `{}`", results.display());
    let mut out = io::stdout().lock();
    for line in lines(&figures) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Package and name of every bench.
fn benches() -> Result<Vec<(String, String)>> {
    let output = tools::cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("`cargo metadata` prints no JSON")?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for package in list(&metadata["packages"]) {
        for target in list(&package["targets"]) {
            if list(&target["kind"]).contains(&json!("bench")) {
                found.push((text(&package["name"]), text(&target["name"])));
            }
        }
    }
    Ok(found)
}

/// What Criterion left behind: a folder `new` for each function, with what was measured and how long it took.
fn figures(folder: &Path) -> Result<Vec<Figure>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.file_name().is_some_and(|name| name == "new") {
            found.push(figure(&folder)?);
            continue;
        }
        for entry in fs::read_dir(&folder).with_context(|| format!("`{}`", folder.display()))? {
            let path: PathBuf = entry?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort_by(|a, b| (&a.group, &a.function).cmp(&(&b.group, &b.function)));
    Ok(found)
}

fn figure(folder: &Path) -> Result<Figure> {
    let read = |name: &str| -> Result<Value> {
        let file = folder.join(name);
        let bytes = fs::read(&file).with_context(|| format!("`{}`", file.display()))?;
        serde_json::from_slice(&bytes).with_context(|| format!("`{}` is not JSON", file.display()))
    };
    let (what, took) = (read("benchmark.json")?, read("estimates.json")?);
    let mean = took["mean"]["point_estimate"].as_f64();
    let mean = mean.with_context(|| format!("`{}` has no mean", folder.display()))?;
    // What one iteration does many times counts once for each.
    let times = what["throughput"]["Elements"].as_f64().unwrap_or(1.0);
    let names = [text(&what["function_id"]), text(&what["value_str"])];
    let function = names.iter().filter(|name| !name.is_empty()).cloned().collect::<Vec<_>>().join("/");
    Ok(Figure { group: text(&what["group_id"]), function, nanoseconds: mean / times })
}

fn lines(figures: &[Figure]) -> Vec<String> {
    let line = |figure: &Figure| {
        let baseline = figures.iter().find(|other| other.group == figure.group && other.is_baseline());
        let baseline = baseline.filter(|_| !figure.is_baseline());
        json!({
            "name": format!("{}/{}", figure.group, figure.function),
            "value": rounded(figure.nanoseconds),
            "unit": "ns",
            "baseline": baseline.map(|baseline| rounded(baseline.nanoseconds)),
            "ratio": baseline.map(|baseline| rounded(figure.nanoseconds / baseline.nanoseconds)),
        })
        .to_string()
    };
    figures.iter().map(line).collect()
}

/// More digits than two behind the point are noise.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leave(folder: &Path, function: &str, throughput: &Value, mean: f64) {
        let new = folder.join("gate").join(function).join("new");
        fs::create_dir_all(&new).expect("made");
        let what = json!({"group_id": "gate", "function_id": function, "value_str": null, "throughput": throughput});
        fs::write(new.join("benchmark.json"), what.to_string()).expect("written");
        let took = json!({"mean": {"point_estimate": mean}, "median": {"point_estimate": 1.0}});
        fs::write(new.join("estimates.json"), took.to_string()).expect("written");
        // What Criterion keeps of the run before is not looked at.
        fs::create_dir_all(folder.join("gate").join(function).join("base")).expect("made");
    }

    #[test]
    fn figures_stand_beside_the_baseline_of_their_group() {
        let place = tempfile::tempdir().expect("a temporary folder");
        leave(place.path(), "native", &json!({"Elements": 1}), 250.0);
        leave(place.path(), "reused", &json!({"Elements": 1000}), 3_200_000.0);
        leave(place.path(), "fresh", &Value::Null, 35_000.0);
        let found = lines(&figures(place.path()).expect("read"));
        assert_eq!(
            found,
            [
                r#"{"name":"gate/fresh","value":35000.0,"unit":"ns","baseline":250.0,"ratio":140.0}"#,
                r#"{"name":"gate/native","value":250.0,"unit":"ns","baseline":null,"ratio":null}"#,
                r#"{"name":"gate/reused","value":3200.0,"unit":"ns","baseline":250.0,"ratio":12.8}"#,
            ]
        );
    }

    #[test]
    fn a_figure_without_a_mean_is_an_error() {
        let place = tempfile::tempdir().expect("a temporary folder");
        leave(place.path(), "native", &Value::Null, 1.0);
        fs::write(place.path().join("gate/native/new/estimates.json"), "{}").expect("written");
        let error = figures(place.path()).expect_err("no mean").to_string();
        assert!(error.contains("has no mean"), "{error}");
    }
}
