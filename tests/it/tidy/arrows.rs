//! Which crate may know which: the table in ARCHITECTURE.md against what cargo says.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

use super::{files, none, root};

/// One line of the table, for one crate.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    may_use: BTreeSet<String>,
    may_use_all: bool,
    never: BTreeSet<String>,
}

impl Row {
    /// Pure crates may not reach what they never use through another crate either.
    fn is_pure(&self) -> bool {
        self.never.contains("async")
    }
}

/// What cargo says of one crate of ours. Dependencies of tests alone are left out: tests may use more.
#[derive(Debug, Clone, Default)]
struct Uses {
    ours: BTreeSet<String>,
    others: BTreeSet<String>,
    /// All that `ours` and `others` bring, too.
    reached: BTreeSet<String>,
}

#[test]
fn the_graph_is_the_table() {
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let table = table(&architecture).expect("ARCHITECTURE.md has the table");
    none(complaints(&table, &graph()));
}

#[test]
fn pure_crates_read_no_clock_draw_nothing_and_wait_for_nothing() {
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let table = table(&architecture).expect("ARCHITECTURE.md has the table");
    let mut found = Vec::new();
    for (name, row) in table.iter().filter(|(_, row)| row.is_pure()) {
        let folder = if name == "selectors" { name.clone() } else { format!("host/{name}") };
        for file in files(&format!("{folder}/src"), ".rs") {
            found.extend(impure(&file.path, &file.text, row));
        }
    }
    none(found);
}

/// The table's rows by crate; the binary's package stands for `cli`.
fn table(architecture: &str) -> Result<BTreeMap<String, Row>, String> {
    let mut lines = architecture.lines().skip_while(|line| !line.starts_with("| crate | may use | never |"));
    lines.next().ok_or("no line `| crate | may use | never |`")?;
    let mut rows = BTreeMap::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [crates, may_use, never] = cells[..] else {
            return Err(format!("a row of three cells was expected: {line}"));
        };
        let row = Row { may_use: words(may_use), may_use_all: may_use == "all", never: words(never) };
        for name in words(crates) {
            let name = if name == "cli" { "tidegate".to_owned() } else { name };
            if rows.insert(name.clone(), row.clone()).is_some() {
                return Err(format!("`{name}` has two rows"));
            }
        }
    }
    Ok(rows)
}

/// A cell's words; what stands in parentheses is for people.
fn words(cell: &str) -> BTreeSet<String> {
    let plain = |word: &str| word.split('(').next().unwrap_or_default().trim().trim_matches('`').to_owned();
    cell.split(',').map(plain).filter(|word| !word.is_empty()).collect()
}

/// The crates that a word of the `never` column stands for; none where it is about the text of sources.
fn banned(word: &str) -> Vec<&str> {
    match word {
        "HTTP clients" => vec!["reqwest", "hyper", "hyper-util", "ureq", "isahc"],
        "ours" => vec![],
        "random" => vec!["rand", "getrandom", "fastrand"],
        "clock" | "async" => vec![],
        name => vec![name],
    }
}

fn complaints(table: &BTreeMap<String, Row>, graph: &BTreeMap<String, Uses>) -> Vec<String> {
    let mut found = Vec::new();
    for name in table.keys().filter(|name| !graph.contains_key(*name)) {
        found.push(format!("`{name}` has a row in the table and is no crate of the workspace"));
    }
    for (name, uses) in graph {
        let Some(row) = table.get(name) else {
            found.push(format!("`{name}` has no row in the table"));
            continue;
        };
        if !row.may_use_all {
            for other in uses.ours.difference(&row.may_use) {
                found.push(format!("`{name}` uses `{other}`, which its row does not allow"));
            }
        }
        for crate_name in row.never.iter().flat_map(|word| banned(word)) {
            if uses.others.contains(crate_name) {
                found.push(format!("`{name}` uses `{crate_name}`, which its row forbids"));
            // uuid and cel bring a random source that pure code never calls; the text check sees to that.
            } else if row.is_pure() && uses.reached.contains(crate_name) && !banned("random").contains(&crate_name) {
                found.push(format!("`{name}` reaches `{crate_name}`, which its row forbids"));
            }
        }
        if uses.others.contains("anyhow") && !matches!(name.as_str(), "tidegate" | "xtask") {
            found.push(format!("`{name}` uses `anyhow`, which is for the binary and xtask alone"));
        }
    }
    found
}

/// Lines of a pure crate that read the clock, draw random numbers or are async.
fn impure(path: &str, text: &str, row: &Row) -> Vec<String> {
    let signs: [(&str, &[&str]); 3] = [
        ("clock", &["SystemTime::now", "Instant::now", "Timestamp::now", "Zoned::now", "now_v7(", "new_v4("]),
        ("random", &["getrandom", "rand::", "RandomState", "thread_rng", "now_v7(", "new_v4("]),
        ("async", &["async fn", "async move", "async {", "async |"]),
    ];
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for (word, signs) in signs.iter().filter(|(word, _)| row.never.contains(*word)) {
            if let Some(sign) = signs.iter().find(|sign| code.contains(**sign)) {
                found.push(format!("{path}:{}: `{sign}` in a crate that never knows {word}", number + 1));
            }
        }
    }
    found
}

/// Cargo's own account of the workspace.
fn graph() -> BTreeMap<String, Uses> {
    // For this machine alone: what other systems need was never downloaded here.
    let version = Command::new("rustc").arg("-vV").output().expect("rustc can be started");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host])
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    from_metadata(&serde_json::from_slice(&output.stdout).expect("cargo prints JSON"))
}

fn from_metadata(metadata: &Value) -> BTreeMap<String, Uses> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names: BTreeMap<String, String> =
        list(&metadata["packages"]).iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let members: BTreeSet<String> = list(&metadata["workspace_members"]).iter().map(text).collect();
    // By id: what it depends on outside of tests, and whether that is for running (not only for building).
    let mut edges: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        for dependency in list(&node["deps"]) {
            let kinds: Vec<String> = list(&dependency["dep_kinds"]).iter().map(|kind| text(&kind["kind"])).collect();
            if kinds.iter().any(|kind| kind != "dev") {
                let runs = kinds.iter().any(String::is_empty);
                edges.entry(text(&node["id"])).or_default().push((text(&dependency["pkg"]), runs));
            }
        }
    }
    let mut graph = BTreeMap::new();
    for id in &members {
        let mut uses = Uses::default();
        for (dependency, _) in edges.get(id).into_iter().flatten() {
            let into = if members.contains(dependency) { &mut uses.ours } else { &mut uses.others };
            into.insert(names[dependency].clone());
        }
        let mut seen = BTreeSet::new();
        let mut todo = vec![id];
        while let Some(next) = todo.pop() {
            for (dependency, _) in edges.get(next).into_iter().flatten().filter(|(_, runs)| *runs) {
                if seen.insert(dependency) {
                    todo.push(dependency);
                }
            }
        }
        uses.reached = seen.into_iter().map(|id| names[id].clone()).collect();
        graph.insert(names[id].clone(), uses);
    }
    graph
}

mod must_complain {
    use super::super::about;
    use super::*;

    const TABLE: &str = "
text
| crate | may use | never |
| --- | --- | --- |
| model, selectors | | tokio, clock, random, async |
| api | model, store (reads) | sqlx, HTTP clients |
| store | model | |
| cli | all | |
";

    fn uses(ours: &[&str], others: &[&str], reached: &[&str]) -> Uses {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Uses { ours: set(ours), others: set(others), reached: set(reached) }
    }

    fn check(change: impl FnOnce(&mut BTreeMap<String, Uses>), parts: &[&str]) {
        let mut graph = BTreeMap::from([
            ("model".to_owned(), uses(&[], &["uuid"], &["uuid", "getrandom"])),
            ("selectors".to_owned(), uses(&[], &["cel"], &["cel"])),
            ("api".to_owned(), uses(&["model", "store"], &["axum"], &["axum", "tokio"])),
            ("store".to_owned(), uses(&["model"], &["sqlx"], &["sqlx", "tokio"])),
            ("tidegate".to_owned(), uses(&["api", "store"], &["anyhow", "reqwest"], &[])),
        ]);
        change(&mut graph);
        about(&complaints(&table(TABLE).expect("a table"), &graph), parts);
    }

    #[test]
    fn of_every_wrong_arrow() {
        check(|_| (), &[]);
        let add = |graph: &mut BTreeMap<String, Uses>, name: &str, uses: Uses| {
            graph.insert(name.to_owned(), uses);
        };
        check(|g| add(g, "store", uses(&["model", "api"], &[], &[])), &["`store` uses `api`"]);
        check(|g| add(g, "api", uses(&[], &["sqlx"], &[])), &["`api` uses `sqlx`, which its row forbids"]);
        check(|g| add(g, "api", uses(&[], &["hyper"], &[])), &["`api` uses `hyper`"]);
        check(|g| add(g, "api", uses(&[], &["anyhow"], &[])), &["`api` uses `anyhow`"]);
        check(|g| add(g, "model", uses(&[], &["x"], &["x", "tokio"])), &["`model` reaches `tokio`"]);
        check(|g| add(g, "model", uses(&[], &["getrandom"], &["getrandom"])), &["`model` uses `getrandom`"]);
        check(|g| add(g, "utils", uses(&[], &[], &[])), &["`utils` has no row"]);
        check(|g| assert!(g.remove("store").is_some()), &["`store` has a row in the table and is no crate"]);
    }

    #[test]
    fn of_a_table_that_is_not_there_or_says_two_things() {
        table("no table").expect_err("none is there");
        table("| crate | may use | never |\n| --- | --- | --- |\n| a | b |").expect_err("two cells");
        table("| crate | may use | never |\n| --- | --- | --- |\n| a | | |\n| a | | |").expect_err("two rows");
    }

    #[test]
    fn of_impure_lines() {
        let row = &table(TABLE).expect("a table")["model"];
        let text = "// Instant::now in a comment\nlet a = Instant::now();\nasync fn b() {}\nuse rand::Rng;\n";
        about(&impure("x.rs", text, row), &["x.rs:2: `Instant::now`", "x.rs:3: `async fn`", "x.rs:4: `rand::`"]);
        let free = &table(TABLE).expect("a table")["store"];
        about(&impure("x.rs", text, free), &[]);
    }

    #[test]
    fn the_account_of_cargo_is_read_with_its_kinds() {
        let metadata = serde_json::json!({
            "packages": [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}, {"id": "3", "name": "c"}, {"id": "4", "name": "d"}],
            "workspace_members": ["1", "2"],
            "resolve": {"nodes": [
                {"id": "1", "deps": [
                    {"pkg": "2", "dep_kinds": [{"kind": "dev"}]},
                    {"pkg": "3", "dep_kinds": [{"kind": null}]},
                ]},
                {"id": "2", "deps": [{"pkg": "1", "dep_kinds": [{"kind": "build"}]}]},
                {"id": "3", "deps": [{"pkg": "4", "dep_kinds": [{"kind": null}]}]},
            ]},
        });
        let graph = from_metadata(&metadata);
        assert!(graph["a"].ours.is_empty(), "a dependency of tests is no arrow");
        assert_eq!(graph["a"].reached, BTreeSet::from(["c".to_owned(), "d".to_owned()]));
        assert_eq!(graph["b"].ours, BTreeSet::from(["a".to_owned()]), "a build dependency is");
        assert!(graph["b"].reached.is_empty(), "but what it builds with does not run in it");
    }
}
