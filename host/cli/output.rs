//! What commands print: a table for people, JSON or YAML for programs. Data goes to standard output, everything else
//! to standard error.

use std::io::Write;

use anyhow::{Context, Result};
use clap::ValueEnum;
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value as Json;

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// As the API has it
    Json,
    /// The same as YAML
    Yaml,
}

/// Prints data in the format that was asked for; `table` makes the one for people.
pub fn print(format: Format, data: &Json, table: impl FnOnce() -> String) -> Result<()> {
    match format {
        Format::Table => line(&table()),
        Format::Json => line(&serde_json::to_string_pretty(data)?),
        Format::Yaml => {
            let text = serde_saphyr::to_string(data).context("the data cannot be written as YAML")?;
            line(text.trim_end())
        }
    }
}

/// Prints a line (or several) of data.
pub fn line(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}

/// A table with a heading, or the words for an empty one.
#[must_use]
pub fn table(heading: &[&str], rows: Vec<Vec<String>>, none: &str) -> String {
    if rows.is_empty() {
        return none.to_owned();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    // Where the width is unknown (a pipe, a file) nothing is wrapped: lines stay lines.
    table.set_header(heading.to_vec());
    for row in rows {
        table.add_row(row);
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 1));
    }
    // Cells are padded to the column's width; nobody needs that at the end of a line.
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// The text at a path of names, or a dash.
#[must_use]
pub fn text(data: &Json, path: &str) -> String {
    match at(data, path) {
        None | Some(Json::Null) => "-".to_owned(),
        Some(Json::String(text)) if text.is_empty() => "-".to_owned(),
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// What is at a path of names separated by dots.
#[must_use]
pub fn at<'a>(data: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(data, |data, name| data.get(name))
}

/// An instant without its fraction of a second, which tells people nothing.
#[must_use]
pub fn instant(data: &Json, path: &str) -> String {
    let full = text(data, path);
    match full.split_once('.') {
        Some((seconds, rest)) if rest.ends_with('Z') => format!("{seconds}Z"),
        _ => full,
    }
}

/// `key=value` pairs of an object of scalars.
#[must_use]
pub fn pairs(data: &Json) -> String {
    let Some(object) = data.as_object() else { return String::new() };
    let pair = |(key, value): (&String, &Json)| match value {
        Json::Null => None,
        Json::String(text) => Some(format!("{key}={text}")),
        other => Some(format!("{key}={other}")),
    };
    object.iter().filter_map(pair).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_aligned_and_an_empty_one_says_so() {
        let rows = vec![vec!["a".to_owned(), "1".to_owned()], vec!["longer".to_owned(), "-".to_owned()]];
        assert_eq!(table(&["NAME", "N"], rows, "none"), "NAME    N\na       1\nlonger  -");
        assert_eq!(table(&["NAME"], Vec::new(), "no names"), "no names");
    }

    #[test]
    fn what_is_not_there_is_a_dash() {
        let data = json!({"a": {"b": "x"}, "n": 1, "e": "", "at": "2026-03-02T08:00:00.123Z"});
        for (path, expected) in [("a.b", "x"), ("a.c", "-"), ("n", "1"), ("e", "-"), ("z.z", "-")] {
            assert_eq!(text(&data, path), expected, "{path}");
        }
        assert_eq!(instant(&data, "at"), "2026-03-02T08:00:00Z");
        assert_eq!(pairs(&json!({"a": "x", "b": 2, "c": null})), "a=x b=2");
    }
}
