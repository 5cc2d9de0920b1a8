//! How sources begin, how long they are, what they call things and what they may not leave behind.

use super::{File, about, files, none};

/// Lines of a file, above which it needs a reason here.
const LINES_MAX: usize = 600;

/// Longer ones, each with its reason.
const LONG: &[(&str, &str)] = &[];

/// Folders with Rust of ours.
const FOLDERS: [&str; 5] = ["host", "selectors", "policies", "tests", "xtask"];

/// Words that say nothing about what a thing does.
const EMPTY_WORDS: [&str; 6] = ["Manager", "Service", "Helper", "Utils", "Util", "Processor"];

fn sources() -> Vec<File> {
    FOLDERS.iter().flat_map(|folder| files(folder, ".rs")).collect()
}

#[test]
fn every_file_begins_by_saying_what_it_is() {
    none(sources().iter().filter_map(head).collect());
}

#[test]
fn files_are_readable_in_one_sitting() {
    none(lengths(&sources(), LONG));
}

#[test]
fn names_say_what_a_thing_does() {
    none(sources().iter().flat_map(names).collect());
}

#[test]
fn nothing_is_left_for_later_or_waved_through() {
    none(sources().iter().flat_map(leftovers).collect());
}

#[test]
fn versions_and_lints_stand_in_the_root_manifest() {
    let manifests: Vec<File> = ["host", "selectors", "tests", "xtask"]
        .iter()
        .flat_map(|folder| files(folder, "Cargo.toml"))
        // Workspaces of their own, for another target.
        .filter(|file| !file.path.starts_with("tests/guests/programs"))
        .collect();
    none(manifests.iter().flat_map(own_versions).collect());
}

fn head(file: &File) -> Option<String> {
    (!file.text.starts_with("//! ")).then(|| format!("{} does not begin with `//! ` and what it is", file.path))
}

fn lengths(files: &[File], long: &[(&str, &str)]) -> Vec<String> {
    let listed = |path: &str| long.iter().any(|(listed, _)| *listed == path);
    let too_long = |file: &&File| file.text.lines().count() > LINES_MAX;
    let mut found: Vec<String> = files
        .iter()
        .filter(|file| too_long(file) && !listed(&file.path))
        .map(|file| format!("{} has more than {LINES_MAX} lines: split it, or list it with a reason", file.path))
        .collect();
    for (path, reason) in long {
        if reason.is_empty() || !files.iter().any(|file| file.path == *path && too_long(&file)) {
            found.push(format!("{path} is listed as long: it is not (any more), or the reason is missing"));
        }
    }
    found
}

fn names(file: &File) -> Vec<String> {
    let stem = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs").replace(['-', '_'], " ");
    let mut found = Vec::new();
    for word in EMPTY_WORDS {
        if stem.split(' ').any(|part| part.eq_ignore_ascii_case(word)) {
            found.push(format!("{}: a file called `{word}`", file.path));
        }
    }
    for (number, line) in file.text.lines().enumerate() {
        let Some(name) = defined(line) else { continue };
        if let Some(word) = EMPTY_WORDS.iter().find(|word| name.ends_with(*word) || name.starts_with(*word)) {
            found.push(format!("{}:{}: `{name}` is called a {word}", file.path, number + 1));
        }
    }
    found
}

/// The name of the type or trait that a line defines.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    if !matches!(words.next(), Some("struct" | "enum" | "trait" | "type")) {
        return None;
    }
    words.next().map(|name| name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
}

fn leftovers(file: &File) -> Vec<String> {
    // In two parts, so that this list is not what it looks for.
    let signs = [concat!("to", "do!("), concat!("db", "g!("), concat!("unimpl", "emented!("), concat!("[al", "low(")];
    let mut found = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        if let Some(sign) = signs.iter().find(|sign| code.contains(**sign)) {
            found.push(format!("{}:{}: `{sign}`", file.path, number + 1));
        }
    }
    found
}

fn own_versions(manifest: &File) -> Vec<String> {
    let mut found = Vec::new();
    if !manifest.text.contains("[lints]\nworkspace = true") {
        found.push(format!("{} does not take the workspace's lints", manifest.path));
    }
    let mut in_dependencies = false;
    for line in manifest.text.lines() {
        if let Some(section) = line.strip_prefix('[') {
            in_dependencies = section.contains("dependencies");
        } else if in_dependencies && line.contains('=') && !line.contains("workspace = true") && !line.starts_with('#')
        {
            found.push(format!("{}: `{line}` does not take its version from the root manifest", manifest.path));
        }
    }
    found
}

mod must_complain {
    use super::*;

    #[test]
    fn of_a_file_without_a_head() {
        about(&head(&File::new("a.rs", "use std::fs;\n")).into_iter().collect::<Vec<_>>(), &["a.rs"]);
        about(&head(&File::new("a.rs", "//! What it is.\n")).into_iter().collect::<Vec<_>>(), &[]);
    }

    #[test]
    fn of_long_files_and_of_reasons_that_no_longer_hold() {
        let long = File::new("long.rs", &"x\n".repeat(LINES_MAX + 1));
        let just = File::new("just.rs", &"x\n".repeat(LINES_MAX));
        let files = [long, just];
        about(&lengths(&files, &[]), &["long.rs"]);
        about(&lengths(&files, &[("long.rs", "one table")]), &[]);
        about(&lengths(&files, &[("long.rs", "")]), &["long.rs"]);
        about(&lengths(&files, &[("long.rs", "one table"), ("just.rs", "x")]), &["just.rs"]);
    }

    #[test]
    fn of_names_that_say_nothing() {
        about(&names(&File::new("host/x/src/utils.rs", "")), &["`Utils`"]);
        about(&names(&File::new("a.rs", "pub(crate) struct JobManager<T> {\n")), &["a.rs:1: `JobManager`"]);
        about(&names(&File::new("a.rs", "// a JobManager\nlet manager = 1;\npub enum Serviced {}\n")), &["Serviced"]);
        about(&names(&File::new("utilisation.rs", "pub struct Job;\n")), &[]);
    }

    #[test]
    fn of_what_is_left_for_later() {
        let text = concat!("fn a() { to", "do!() }\n#[al", "low(dead_code)]\n// db", "g!(x)\n");
        about(&leftovers(&File::new("a.rs", text)), &["a.rs:1", "a.rs:2"]);
    }

    #[test]
    fn of_versions_and_lints_of_ones_own() {
        let text = "[package]\nversion = \"1\"\n[lints]\nworkspace = true\n[dev-dependencies]\nserde = \"1\"\na.workspace = true\n";
        about(&own_versions(&File::new("x/Cargo.toml", text)), &["`serde = \"1\"`"]);
        about(&own_versions(&File::new("x/Cargo.toml", "[package]\n")), &["lints"]);
    }
}
