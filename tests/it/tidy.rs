//! The repository's own rules, as tests: which crate may know which, how files begin and how long they are, what
//! names are called, what the documents name. Every check is a function of its input that gives complaints, so that
//! each has a case here that makes it complain. Nothing in this module starts a server.

mod arrows;
mod documents;
mod sources;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A text file of the repository.
struct File {
    /// From the root, with `/`.
    path: String,
    text: String,
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `folder` whose name ends in `ending`, sorted; what is built or fetched is left out.
fn files(folder: &str, ending: &str) -> Vec<File> {
    let mut found = Vec::new();
    walk(&root().join(folder), ending, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no {ending} file below `{folder}`: is the check looking at the right place?");
    found
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<File>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("`{}`: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder's entry can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | "node_modules" | ".git") {
                walk(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("`{}`: {error}", path.display()));
            let path = path.strip_prefix(root()).expect("it was found below the root");
            found.push(File { path: path.to_string_lossy().replace('\\', "/"), text });
        }
    }
}

/// Fails with all complaints at once.
fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// What `complaints` say must be about these, in this order, and about nothing else.
fn about(complaints: &[String], parts: &[&str]) {
    assert_eq!(complaints.len(), parts.len(), "{complaints:#?}");
    for (complaint, part) in complaints.iter().zip(parts) {
        assert!(complaint.contains(part), "`{complaint}` does not say `{part}`");
    }
}
