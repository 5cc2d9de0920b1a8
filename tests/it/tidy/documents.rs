//! What the documents say is there: links lead somewhere, every crate is on the map, both databases have the same
//! migrations, and every crash point has its test.

use std::collections::BTreeSet;

use super::{File, about, files, none, root};

#[test]
fn links_lead_somewhere() {
    let pages = files("", ".md");
    let exists = |path: &str| root().join(path).exists();
    none(pages.iter().flat_map(|page| broken_links(page, &pages, exists)).collect());
}

#[test]
fn the_map_shows_every_crate() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the root manifest");
    let policies = std::fs::read_to_string(root().join("policies/Cargo.toml")).expect("the policies' manifest");
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let mut folders = members(&manifest, "");
    folders.extend(members(&policies, "policies/"));
    assert!(folders.len() > 10, "the members were not found: {folders:?}");
    none(missing_on_map(&folders, &map));
}

#[test]
fn both_databases_have_the_same_migrations() {
    let names = |engine: &str| -> BTreeSet<String> {
        let found = files(&format!("host/store/migrations/{engine}"), ".sql");
        found.iter().filter_map(|file| file.path.rsplit('/').next().map(str::to_owned)).collect()
    };
    none(unpaired(&names("sqlite"), &names("postgres")));
}

#[test]
fn every_crash_point_has_its_test() {
    none(untested(store::crash::POINTS, &files("tests/it", ".rs")));
}

/// Relative links whose file, or whose heading in it, is not there.
fn broken_links(page: &File, pages: &[File], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for target in links(&page.text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (path, heading) = target.split_once('#').map_or((target.as_str(), None), |(path, head)| (path, Some(head)));
        let path = if path.is_empty() { page.path.clone() } else { resolved(&page.path, path) };
        if !exists(&path) {
            found.push(format!("{}: `{target}` leads nowhere", page.path));
        } else if let Some(heading) = heading
            && let Some(other) = pages.iter().find(|other| other.path == path)
            && !headings(&other.text).contains(heading)
        {
            found.push(format!("{}: `{target}`: {path} has no such heading", page.path));
        }
    }
    found
}

/// Targets of `[text](target)` outside of code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        // Odd parts of a line split at backticks are code.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in plain.split("](").skip(1) {
            if let Some((target, _)) = rest.split_once(')') {
                found.push(target.split(' ').next().unwrap_or_default().to_owned());
            }
        }
    }
    found
}

fn headings(text: &str) -> BTreeSet<String> {
    let titles = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    titles.map(slug).collect()
}

/// Lines outside of fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// A heading as the last part of a link: lower case, words joined by `-`, punctuation dropped.
fn slug(title: &str) -> String {
    let kept = title.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// `path` as seen from the folder of `from`.
fn resolved(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The `members` of a workspace manifest, as folders from the root.
fn members(manifest: &str, prefix: &str) -> Vec<String> {
    let list = manifest.split("\nmembers = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(|member| format!("{prefix}{member}")).collect()
}

fn missing_on_map(folders: &[String], map: &str) -> Vec<String> {
    let shown = |folder: &String| map.contains(&format!("`{folder}`")) || map.contains(&format!("`{folder}/`"));
    folders.iter().filter(|folder| !shown(folder)).map(|f| format!("ARCHITECTURE.md does not show `{f}`")).collect()
}

fn unpaired(sqlite: &BTreeSet<String>, postgres: &BTreeSet<String>) -> Vec<String> {
    sqlite
        .symmetric_difference(postgres)
        .map(|name| format!("migration `{name}` is there for one database only"))
        .collect()
}

fn untested(points: &[&str], tests: &[File]) -> Vec<String> {
    let named = |point: &&&str| tests.iter().any(|file| file.text.contains(&format!("\"{point}\"")));
    points
        .iter()
        .filter(|point| !named(point))
        .map(|point| format!("no test names the crash point `{point}`"))
        .collect()
}

mod must_complain {
    use super::*;

    #[test]
    fn of_links_that_lead_nowhere() {
        let page = File::new(
            "docs/a.md",
            "# One: two\n[x](b.md) [y](../README.md#start) [z](#one-two) [w](https://a.b/c) `[n](no.md)`\n```\n[n](no.md)\n```\n",
        );
        let readme = File::new("README.md", "## Start\n");
        let pages = [page, readme];
        about(&broken_links(&pages[0], &pages, |path| path == "README.md" || path == "docs/a.md"), &["b.md"]);
        about(&broken_links(&pages[0], &pages, |_| true), &[]);
        let pages = [File::new("a.md", "[y](b.md#gone) [z](#gone)"), File::new("b.md", "# Here")];
        about(&broken_links(&pages[0], &pages, |_| true), &["b.md#gone", "#gone"]);
    }

    #[test]
    fn of_crates_that_the_map_lacks() {
        let folders = members("[workspace]\nmembers = [\n  \"a\",\n  \"host/b\",\n]\n", "");
        assert_eq!(folders, ["a", "host/b"]);
        about(&missing_on_map(&folders, "`a` and host/b"), &["host/b"]);
        about(&missing_on_map(&folders, "`a/` and `host/b`"), &[]);
    }

    #[test]
    fn of_migrations_for_one_database_only() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        about(&unpaired(&set(&["1.sql", "2.sql"]), &set(&["1.sql", "3.sql"])), &["2.sql", "3.sql"]);
    }

    #[test]
    fn of_crash_points_without_a_test() {
        let tests = [File::new("tests/it/crash.rs", "(\"a.b\", 3)")];
        about(&untested(&["a.b", "a.c"], &tests), &["a.c"]);
    }
}
