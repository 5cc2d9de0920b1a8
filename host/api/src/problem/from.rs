//! The one place where other crates' errors become problems. An error that is ours is logged here, once, with its
//! sources; what the client is told names no statement, table or file.

use std::time::Duration;

use dispatch::{ClaimError, ReportError};
use engine::CommandError;
use model::{plugin::Fault, time::Timestamp};
use store::StoreError;

use super::{Code, Problem};

/// When to come back to a database that is away.
const STORE_WAIT: Duration = Duration::from_secs(1);

impl Problem {
    /// A failure of ours that is nobody's input.
    pub(crate) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error, "a request failed");
        Self::new(Code::Internal, "the server failed; its log has the reason")
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::NotFound { what } => {
                Self::new(Code::NotFound, format!("there is no {what} in this workspace"))
            }
            CommandError::Conflict { detail } => Self::new(Code::Conflict, detail),
            CommandError::Invalid(errors) => Self::of_fields(Code::InvalidContent, errors),
            CommandError::Plugin(fault) => fault.into(),
            CommandError::Store(error) => error.into(),
        }
    }
}

impl From<ClaimError> for Problem {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::UnknownAgent(id) => Self::not_found("job agent", id),
            ClaimError::UnknownJob(id) => Self::not_found("job", id),
            ClaimError::OtherAgent(_) => Self::new(Code::Forbidden, error.to_string()),
            ClaimError::NotYet(_) => Self::new(Code::Conflict, error.to_string()),
            ClaimError::NotFree { ref holder, .. } => {
                let holder = holder.clone();
                held(Self::new(Code::Conflict, error.to_string()), holder)
            }
            ClaimError::Store(error) => error.into(),
        }
    }
}

impl From<ReportError> for Problem {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::UnknownJob(id) => Self::not_found("job", id),
            ReportError::OtherAgent(_) => Self::new(Code::Forbidden, error.to_string()),
            ReportError::TokenRequired => Self::at(Code::LeaseTokenRequired, "/leaseToken", error.to_string()),
            ReportError::StaleLease { ref holder, .. } => {
                let holder = holder.clone();
                held(Self::new(Code::StaleLease, error.to_string()), holder)
            }
            ReportError::OtherResult(_) => Self::new(Code::ResultConflict, error.to_string()),
            ReportError::Transition(error) => Self::new(Code::IllegalTransition, error.to_string()),
            ReportError::Store(error) => error.into(),
        }
    }
}

/// Who has the job now, and since when; null when nobody does.
fn held(problem: Problem, holder: Option<(String, Timestamp)>) -> Problem {
    let (node, since) = holder.unzip();
    problem.with("holder", node).with("since", since.map(|since| since.to_string()))
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        let code = Code::Fault(fault.code);
        let problem = Self::new(code, fault.message);
        if code.status().is_server_error() { problem.retry_after(STORE_WAIT) } else { problem }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let away = match &error {
            StoreError::Address(_)
            | StoreError::Locked { .. }
            | StoreError::File { .. }
            | StoreError::Open { .. }
            | StoreError::Migrate { .. }
            | StoreError::Transaction { .. } => true,
            StoreError::Statement { .. } => error.is_retryable(),
            StoreError::BadRow { .. } | StoreError::Missing { .. } => false,
        };
        if !away {
            return Self::internal(&error);
        }
        tracing::error!(error = &error as &dyn std::error::Error, "the database is not available");
        Self::new(Code::StoreUnavailable, "the database does not answer; try again in a moment").retry_after(STORE_WAIT)
    }
}

#[cfg(test)]
mod tests {
    use model::{plugin::FaultCode, wanted::FieldError};

    use super::*;

    #[test]
    fn a_command_that_says_no_is_told_as_it_is() {
        let check = |error: CommandError, code: Code| assert_eq!(Problem::from(error).code(), code);
        check(CommandError::NotFound { what: "version `v1`".into() }, Code::NotFound);
        check(CommandError::Conflict { detail: "x".into() }, Code::Conflict);
        check(CommandError::field("/tag", "must not be empty"), Code::InvalidContent);
        let fault = Fault { code: FaultCode::UnknownImport, message: "imports `env.now`".into() };
        check(CommandError::Plugin(fault), Code::Fault(FaultCode::UnknownImport));
        let errors = vec![FieldError { pointer: "/a".into(), message: "is wrong".into() }];
        assert_eq!(Problem::from(CommandError::Invalid(errors)).document(None)["errors"][0]["pointer"], "/a");
    }

    #[test]
    fn nothing_of_the_store_is_told() {
        let row = StoreError::BadRow { table: "jobs", column: "status", id: "7".into(), problem: "odd".into() };
        let problem = Problem::from(row);
        assert_eq!(problem.code(), Code::Internal);
        let text = problem.document(None).to_string();
        assert!(!text.contains("jobs") && !text.contains("status`"), "{text}");
        let file = StoreError::File { path: "/secret/place".into(), source: std::io::Error::other("gone") };
        let problem = Problem::from(file);
        assert_eq!(problem.code(), Code::StoreUnavailable);
        assert!(!problem.document(None).to_string().contains("secret"));
        assert_eq!(problem.render(None).headers()["retry-after"], "1");
    }
}
