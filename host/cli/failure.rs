//! What a command can end with, and the exit code of each.

use std::{fmt, process::ExitCode};

use serde::Deserialize;

/// Printed below `tidegate --help`.
pub const EXIT_CODES: &str = "Exit codes:
  0  it is done
  1  it failed: the server cannot be reached or failed itself, or what was to happen did not
  2  it cannot be done as it is written: wrong arguments, or a file with errors
  3  the server refused: not found, not allowed, in conflict with what is there, or not valid";

/// What was asked for cannot be done as it is written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// The server refused.
#[derive(Debug, thiserror::Error)]
pub struct Refused {
    /// The status of the answer.
    pub status: u16,
    /// What it said.
    pub problem: Problem,
}

/// An `application/problem+json` document (RFC 9457).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Problem {
    /// The kind of problem, for people.
    pub title: String,
    /// This one, for people.
    pub detail: String,
    /// The stable code.
    pub code: String,
    /// Which fields are wrong.
    pub errors: Vec<ProblemField>,
    /// Finds it in the server's log.
    pub request_id: Option<String>,
    /// What the stale holder of a lease is told.
    pub holder: Option<String>,
}

/// One field that is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ProblemField {
    /// JSON Pointer into what was sent.
    pub pointer: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Problem {
    /// The problem in the body of an answer; of one that is none, the text as far as it helps.
    #[must_use]
    pub fn parse(status: u16, body: &[u8]) -> Self {
        match serde_json::from_slice::<Self>(body) {
            Ok(problem) if !problem.title.is_empty() || !problem.detail.is_empty() => problem,
            Ok(_) | Err(_) => {
                let text = String::from_utf8_lossy(body);
                let text = text.trim();
                let detail = text.char_indices().nth(300).map_or(text, |(end, _)| &text[..end]).to_owned();
                Self { title: format!("the server answered with status {status}"), detail, ..Self::default() }
            }
        }
    }

    /// What could be done about it, for the codes where that is not obvious.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self.code.as_str() {
            "credentials_missing" => Some(
                "give a key with --api-key or TIDEGATE_API_KEY; on the server's own machine, --data-dir finds the \
                 key that its first start made",
            ),
            "credentials_invalid" => Some("the key may have ended, or be of another server: check --api-key and --url"),
            _ => None,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = &self.problem;
        f.write_str(if problem.title.is_empty() { "refused" } else { &problem.title })?;
        // The detail of a content that is not valid repeats the first field in other words.
        let told_below = problem.errors.iter().any(|field| problem.detail.contains(&field.message));
        if !problem.detail.is_empty() && problem.detail != problem.title && !told_below {
            write!(f, ": {}", problem.detail)?;
        }
        for field in &problem.errors {
            let pointer = if field.pointer.is_empty() { "(whole)" } else { &field.pointer };
            write!(f, "\n  {pointer}: {}", field.message)?;
        }
        if let Some(hint) = problem.hint() {
            write!(f, "\n  hint: {hint}")?;
        }
        if !problem.code.is_empty() {
            write!(f, "\n  code: {} ({})", problem.code, self.status)?;
        }
        if let Some(request) = problem.request_id.as_ref().filter(|_| self.status >= 500) {
            write!(f, "\n  request: {request} (in the server's log)")?;
        }
        Ok(())
    }
}

/// The exit code of a failure.
#[must_use]
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(code(error))
}

fn code(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if cause.is::<Usage>() {
            return 2;
        }
        if let Some(refused) = cause.downcast_ref::<Refused>() {
            return if refused.status >= 500 { 1 } else { 3 };
        }
    }
    1
}

/// Whether the reader of our output went away, as `head` does; that is no failure.
#[must_use]
pub fn is_closed_output(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    fn refused(status: u16, body: &str) -> anyhow::Error {
        anyhow::Error::new(Refused { status, problem: Problem::parse(status, body.as_bytes()) })
    }

    #[test]
    fn every_failure_has_its_code() {
        assert_eq!(code(&anyhow::anyhow!("connection refused")), 1);
        assert_eq!(code(&Err::<(), _>(Usage("no such file".into())).context("apply").expect_err("failed")), 2);
        assert_eq!(code(&refused(404, r#"{"title":"not there"}"#)), 3);
        assert_eq!(code(&refused(500, "")), 1);
    }

    #[test]
    fn a_detail_that_repeats_a_field_is_left_out() {
        let body = r#"{"title":"The content is not valid","detail":"/tag: is missing","code":"invalid_content",
            "errors":[{"pointer":"/tag","message":"is missing"}]}"#;
        let told = refused(422, body).to_string();
        assert_eq!(told, "The content is not valid\n  /tag: is missing\n  code: invalid_content (422)");
    }

    #[test]
    fn a_problem_is_told_in_full() {
        let body = r#"{"type":"/docs/reference/errors#invalid_content","title":"The content is not valid","status":422,
            "detail":"2 fields are wrong","code":"invalid_content","requestId":"r-1",
            "errors":[{"pointer":"/tag","message":"is missing"},{"pointer":"","message":"is too long"}]}"#;
        let told = refused(422, body).to_string();
        assert_eq!(
            told,
            "The content is not valid: 2 fields are wrong\n  /tag: is missing\n  (whole): is too long\n  code: \
             invalid_content (422)"
        );
        let told = refused(502, "<html>bad gateway</html>").to_string();
        assert_eq!(told, "the server answered with status 502: <html>bad gateway</html>");
        assert!(refused(401, r#"{"title":"x","code":"credentials_missing"}"#).to_string().contains("TIDEGATE_API_KEY"));
    }
}
