//! The environment of a job's command, and what its end means. Pure.

use std::{path::Path, process::ExitStatus};

use serde_json::Value as Json;

use super::queue::{Offer, Report};
use crate::output::at;

/// Longest message of a report, bytes; the server takes no longer one.
const MESSAGE_BYTES_MAX: usize = model::limits::MESSAGE_BYTES_MAX;

/// The variables that a job's command finds.
#[must_use]
pub fn environment(offer: &Offer, context_file: &Path) -> Vec<(&'static str, String)> {
    let of_context = |path: &str| match at(&offer.context, path) {
        Some(Json::String(text)) => text.clone(),
        None | Some(Json::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    let mut variables = vec![
        ("TIDEGATE_JOB_ID", offer.id.clone()),
        ("TIDEGATE_ATTEMPT", of_context("job.attempt")),
        ("TIDEGATE_LEASE_TOKEN", offer.lease_token.to_string()),
        ("TIDEGATE_DEPLOYMENT", of_context("deployment.name")),
        ("TIDEGATE_ENVIRONMENT", of_context("environment.name")),
        ("TIDEGATE_RESOURCE", of_context("resource.identifier")),
        ("TIDEGATE_RESOURCE_CONFIG", of_context("resource.config")),
        ("TIDEGATE_VERSION", of_context("version.tag")),
        ("TIDEGATE_VERSION_CONFIG", of_context("version.config")),
        ("TIDEGATE_JOB_CONFIG", offer.config.to_string()),
        ("TIDEGATE_CONTEXT_FILE", context_file.display().to_string()),
    ];
    // No variable can hold a zero byte; the file has the whole.
    variables.retain(|(_, value)| !value.contains('\0'));
    variables
}

/// What is reported of a command that ended by itself.
#[must_use]
pub fn ended(status: ExitStatus, last_error_line: &str) -> Report {
    use std::os::unix::process::ExitStatusExt as _;

    if status.success() {
        return Report { status: "completed", message: String::new() };
    }
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    };
    let message = if last_error_line.is_empty() { how } else { format!("{how}: {last_error_line}") };
    Report { status: "failed", message: clipped(message) }
}

/// At most as much as a report may hold.
#[must_use]
pub fn clipped(mut message: String) -> String {
    if message.len() > MESSAGE_BYTES_MAX {
        let mut end = MESSAGE_BYTES_MAX - '…'.len_utf8();
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt as _, time::Duration};

    use serde_json::json;

    use super::*;

    #[test]
    fn the_command_finds_names_and_configuration() {
        let offer = Offer {
            id: "j1".to_owned(),
            lease_token: 7,
            lease: Duration::from_secs(30),
            config: json!({"a": 1}),
            context: json!({
                "job": {"attempt": 2}, "deployment": {"name": "site"}, "environment": {"name": "prod"},
                "resource": {"identifier": "c1", "config": {"path": "x"}},
                "version": {"tag": "v\u{0}1", "config": null},
            }),
        };
        let variables = environment(&offer, Path::new("/tmp/context.json"));
        let get = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str());
        for (name, expected) in [
            ("TIDEGATE_JOB_ID", Some("j1")),
            ("TIDEGATE_ATTEMPT", Some("2")),
            ("TIDEGATE_LEASE_TOKEN", Some("7")),
            ("TIDEGATE_DEPLOYMENT", Some("site")),
            ("TIDEGATE_ENVIRONMENT", Some("prod")),
            ("TIDEGATE_RESOURCE", Some("c1")),
            ("TIDEGATE_RESOURCE_CONFIG", Some(r#"{"path":"x"}"#)),
            ("TIDEGATE_VERSION_CONFIG", Some("")),
            ("TIDEGATE_JOB_CONFIG", Some(r#"{"a":1}"#)),
            ("TIDEGATE_CONTEXT_FILE", Some("/tmp/context.json")),
            ("TIDEGATE_VERSION", None),
        ] {
            assert_eq!(get(name), expected, "{name}");
        }
    }

    #[test]
    fn an_end_is_success_or_says_how_it_failed() {
        for (wait_status, line, status, message) in [
            (0, "a warning", "completed", ""),
            (3 << 8, "no such build", "failed", "exit status 3: no such build"),
            (1 << 8, "", "failed", "exit status 1"),
            (9, "", "failed", "ended by signal 9"),
        ] {
            let report = ended(ExitStatus::from_raw(wait_status), line);
            assert_eq!((report.status, report.message.as_str()), (status, message));
        }
        let long = ended(ExitStatus::from_raw(1 << 8), &"é".repeat(MESSAGE_BYTES_MAX));
        assert!(long.message.len() <= MESSAGE_BYTES_MAX && long.message.ends_with('…'));
    }
}
