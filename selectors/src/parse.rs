//! From text to a checked tree. Parsing runs on a thread of its own with a large stack, since the generated parser
//! recurses; what it returns is bounded, so that evaluating and dropping it is safe anywhere.

use std::sync::{Arc, LazyLock};

use cel::{
    Env, ParseErrors,
    common::ast::{IdedExpr, SourceInfo},
};

use crate::{
    bounds::PARSE_STACK_BYTES,
    check::{Names, check},
    error::{Position, Problem, SelectorError},
    scan::scan,
};

/// The functions and macros of CEL's standard library; nothing is added to them.
pub(crate) static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// A checked expression.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: IdedExpr,
    /// Levels of the tree; what evaluation needs of the stack is in proportion.
    pub(crate) depth: usize,
}

/// Parses and checks `text`.
pub(crate) fn parse(text: &str, names: &Names) -> Result<Tree, SelectorError> {
    scan(text)?;
    let host = |error: &dyn std::fmt::Display| SelectorError::new(None, Problem::Host(error.to_string()));
    std::thread::scope(|scope| {
        let parser = std::thread::Builder::new()
            .name("selector-parse".to_owned())
            .stack_size(PARSE_STACK_BYTES)
            .spawn_scoped(scope, || parse_here(text, names))
            .map_err(|error| host(&error))?;
        // The parser is generated code of another project; should it panic on some text, then that text is refused.
        parser.join().unwrap_or_else(|_| {
            Err(SelectorError::new(None, Problem::Syntax("is not an expression that can be read".to_owned())))
        })
    })
}

fn parse_here(text: &str, names: &Names) -> Result<Tree, SelectorError> {
    let (root, source) = ENV.parser().parse_with_source_info(text).map_err(|errors| syntax_error(text, &errors))?;
    let depth = check(&root, names, &|id| position(text, &source, id))?;
    Ok(Tree { root, depth })
}

/// The first of the parser's errors, without the drawing it adds.
fn syntax_error(text: &str, errors: &ParseErrors) -> SelectorError {
    let Some(first) = errors.errors.first() else {
        return SelectorError::new(None, Problem::Syntax("is not an expression".to_owned()));
    };
    let message = plain(first.msg.strip_prefix("Syntax error: ").unwrap_or(&first.msg));
    let position = match (usize::try_from(first.pos.0), usize::try_from(first.pos.1)) {
        (Ok(line), Ok(column)) if line > 0 => Some(Position { line, column: column.max(1) }),
        _ => Some(Position::of(text, text.len())),
    };
    SelectorError::new(position, Problem::Syntax(message))
}

/// The parser's words without its token and type names.
fn plain(message: &str) -> String {
    let quoted = |text: &str| {
        let text = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
        if text == "<EOF>" { "unexpected end".to_owned() } else { format!("unexpected `{text}`") }
    };
    if let Some(rest) =
        ["mismatched input ", "extraneous input "].into_iter().find_map(|start| message.strip_prefix(start))
    {
        return quoted(rest.rsplit_once(" expecting ").map_or(rest, |(found, _)| found));
    }
    if let Some(found) = message.strip_prefix("no viable alternative at input ") {
        return quoted(found);
    }
    if let Some(found) = message.strip_prefix("token recognition error at: ") {
        return quoted(found);
    }
    if message.starts_with("Incomplete") { "is not complete".to_owned() } else { message.to_owned() }
}

/// Where a node was written.
fn position(text: &str, source: &SourceInfo, id: u64) -> Option<Position> {
    let (start, _) = source.offset_for(id)?;
    Some(Position::of(text, usize::try_from(start).ok()?))
}
