//! `tidegate apply`: what should be there, from files. Everything is checked here first, sent as one request, and what
//! the server finds wrong leads back to the file and line.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::Args;
use manifest::Document;
use reqwest::Method;
use serde_json::json;

use crate::{
    client::Client,
    failure::{Refused, Usage},
    output::{self, Format, text},
};

/// Arguments of `tidegate apply`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate apply -f examples/quickstart             every .yaml and .yml file of a folder, and of those in it
  tidegate apply -f shop.yaml -f policies.yaml
  tidegate apply -f shop.yaml --dry-run             say what would change, and change nothing
  generate | tidegate apply -f -                    from standard input

The order of files and documents does not matter. One wrong document changes nothing.")]
pub struct Apply {
    /// A file of YAML documents, a folder of such files, or - for standard input
    #[arg(short = 'f', long = "file", value_name = "FILE|DIR", required = true)]
    files: Vec<PathBuf>,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Applies.
pub async fn run(client: &Client, format: Format, arguments: Apply) -> Result<()> {
    let documents = read(&arguments.files)?;
    let body = json!({
        "documents": documents.iter().map(|document| &document.json).collect::<Vec<_>>(),
        "dryRun": arguments.dry_run,
    });
    let answer = client.write(Method::POST, client.in_workspace(&["apply"]), &body).await;
    let (_, answer) = answer.map_err(|error| in_files(error, &documents))?;
    output::print(format, &answer, || {
        let results = answer["results"].as_array().cloned().unwrap_or_default();
        let rows = results.iter().map(|result| {
            let change = text(result, "change");
            vec![text(result, "type"), text(result, "name"), change]
        });
        output::table(&["TYPE", "NAME", "CHANGE"], rows.collect(), "nothing to do")
    })?;
    if arguments.dry_run {
        eprintln!("dry run: nothing was changed");
    }
    Ok(())
}

/// All documents of all files; or everything that is wrong in any of them.
fn read(files: &[PathBuf]) -> Result<Vec<Document>> {
    let mut documents = Vec::new();
    let mut wrong = Vec::new();
    for path in expand(files)? {
        let name = path.display().to_string();
        match manifest::parse_yaml(&name, &read_text(&path)?) {
            Ok(found) => documents.extend(found),
            Err(errors) => wrong.extend(errors.iter().map(ToString::to_string)),
        }
    }
    if !wrong.is_empty() {
        return Err(Usage(format!("nothing was applied:\n{}", wrong.join("\n"))).into());
    }
    if documents.is_empty() {
        return Err(Usage("there are no documents in what was given".to_owned()).into());
    }
    Ok(documents)
}

fn read_text(path: &Path) -> Result<String> {
    let unreadable = |error| Usage(format!("`{}` cannot be read: {error}", path.display()));
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
        return Ok(text);
    }
    Ok(std::fs::read_to_string(path).map_err(unreadable)?)
}

/// Folders become the YAML files in them, at any depth, in a stable order.
fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Usage> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        walk(path, &mut files)?;
        if files.len() == before {
            return Err(Usage(format!("there is no .yaml or .yml file in `{}`", path.display())));
        }
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Usage> {
    let unreadable = |error| Usage(format!("`{}` cannot be read: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        // A link to a folder could lead in a circle.
        if hidden || (path.is_symlink() && path.is_dir()) {
            continue;
        }
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            files.push(path);
        }
    }
    Ok(())
}

/// Turns pointers such as `/documents/3/rules/0` into file, line and field.
fn in_files(error: anyhow::Error, documents: &[Document]) -> anyhow::Error {
    let mut refused = match error.downcast::<Refused>() {
        Ok(refused) => refused,
        Err(other) => return other,
    };
    for field in &mut refused.problem.errors {
        let Some(rest) = field.pointer.strip_prefix("/documents/") else { continue };
        let (index, pointer) = rest.find('/').map_or((rest, ""), |end| rest.split_at(end));
        if let Some(document) = index.parse::<usize>().ok().and_then(|index| documents.get(index)) {
            let (line, column) = document.position(pointer);
            let place = format!("{}:{line}:{column}", document.file);
            field.pointer = if pointer.is_empty() { place } else { format!("{place}: {pointer}") };
        }
    }
    refused.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{Problem, ProblemField};

    #[test]
    fn folders_are_read_whole_and_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [
            ("b.yaml", "{type: System, name: b}"),
            ("a.yml", "{type: System, name: a}"),
            ("in/c.yaml", "{type: System, name: c}"),
            ("readme.md", "{type: Nonsense}"),
            (".hidden.yaml", "{type: Nonsense}"),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let documents = read(&[folder.path().to_owned()]).expect("right");
        let names: Vec<&str> = documents.iter().map(|document| document.wanted.key()).collect();
        assert_eq!(names, ["a", "b", "c"]);

        let empty = tempfile::tempdir().expect("a folder");
        assert!(read(&[empty.path().to_owned()]).expect_err("nothing there").is::<Usage>());
        assert!(read(&[folder.path().join("gone.yaml")]).expect_err("not there").is::<Usage>());
    }

    #[test]
    fn everything_wrong_in_any_file_is_told_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.yaml"), "type: System\nnmae: a\n").expect("written");
        std::fs::write(folder.path().join("b.yaml"), "type: Sytem\n").expect("written");
        let told = read(&[folder.path().to_owned()]).expect_err("wrong").to_string();
        for part in
            ["a.yaml:1:1: /name: is missing", "a.yaml:2:1: /nmae: unknown field", "b.yaml:1:1: /type: unknown type"]
        {
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn what_the_server_finds_wrong_leads_back_to_the_file() {
        let text = "type: System\nname: shop\n---\ntype: Policy\nname: p\nrules:\n  - retry:\n      maxRetries: -1\n";
        let documents = manifest::parse_yaml("shop.yaml", text).expect("right");
        let field = |pointer: &str| ProblemField { pointer: pointer.to_owned(), message: "is wrong".to_owned() };
        let pointers = [
            "/documents/1/rules/0/retry/maxRetries",
            "/documents/1",
            "/documents/9/name",
            "/documents/0/gone",
            "/dryRun",
        ];
        let problem = Problem { errors: pointers.into_iter().map(field).collect(), ..Problem::default() };
        let error = in_files(anyhow::Error::new(Refused { status: 422, problem }), &documents);
        let refused = error.downcast::<Refused>().expect("still refused");
        let told: Vec<&str> = refused.problem.errors.iter().map(|field| field.pointer.as_str()).collect();
        assert_eq!(
            told,
            [
                "shop.yaml:8:7: /rules/0/retry/maxRetries",
                "shop.yaml:4:1",
                "/documents/9/name",
                "shop.yaml:1:1: /gone",
                "/dryRun"
            ]
        );
    }
}
