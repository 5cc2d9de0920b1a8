//! `tidegate explain`: why a target is where it is, and what would change it.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use serde_json::Value as Json;

use crate::{
    client::Client,
    lookup,
    output::{self, Format, instant, text},
};

/// Arguments of `tidegate explain`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate explain site/prod/prod-eu
  tidegate explain site/prod/prod-eu --version v1.4.2      only what is said of that version")]
pub struct Explain {
    /// The target: deployment/environment/resource, or its key
    #[arg(value_name = "TARGET")]
    target: String,
    /// Only what is said of this version, by tag
    #[arg(long, short = 'V', value_name = "TAG")]
    version: Option<String>,
}

/// Explains.
pub async fn run(client: &Client, format: Format, arguments: Explain) -> Result<()> {
    let key = lookup::target_key(client, &arguments.target).await?;
    let url = client.in_workspace(&["release-targets", &key.to_string(), "explain"]);
    let mut report = client.get(url, &[]).await?;
    if let (Some(tag), Some(candidates)) = (&arguments.version, report["candidates"].as_array_mut()) {
        candidates.retain(|candidate| candidate["version"]["tag"] == tag.as_str());
    }
    output::print(format, &report, || render(&report, arguments.version.as_deref()))
}

/// The report as text.
fn render(report: &Json, only: Option<&str>) -> String {
    let mut out = format!(
        "{}/{}/{}: {}\n",
        text(report, "deployment.name"),
        text(report, "environment.name"),
        text(report, "resource.identifier"),
        text(report, "standing").replace('_', " "),
    );
    // Writing to a string cannot fail.
    let mut line = |name: &str, value: String| {
        if value != "-" {
            let _ = writeln!(out, "  {name:<9} {value}");
        }
    };
    line("reason", text(report, "reason"));
    line("current", text(report, "current.tag"));
    line("desired", text(report, "desired.tag"));
    line("job", latest_job(report));
    line("next look", instant(report, "nextEvaluation"));
    let candidates = report["candidates"].as_array().map(Vec::as_slice).unwrap_or_default();
    if candidates.is_empty()
        && let Some(tag) = only
    {
        let _ = writeln!(out, "\nversion {tag} is not looked at here: it is not ready, or older than what runs");
    }
    for candidate in candidates {
        let _ = writeln!(out, "\nversion {}", text(candidate, "version.tag"));
        let gates = candidate["gates"].as_array().map(Vec::as_slice).unwrap_or_default();
        let rows = gates.iter().map(gate).collect();
        let table = output::table(&["POLICY", "RULE", "VERDICT", "REASON"], rows, "no rule has a say");
        for row in table.lines() {
            let _ = writeln!(out, "  {row}");
        }
    }
    out.trim_end().to_owned()
}

/// `v2 failed, attempt 1`, of a target with a latest job.
pub fn latest_job(target: &Json) -> String {
    let Some(job) = target.get("latestJob").filter(|job| !job.is_null()) else { return "-".to_owned() };
    // In the list the tag stands on the job; in the report it may be a version of its own.
    let tag = match text(job, "versionTag") {
        tag if tag == "-" => text(job, "version.tag"),
        tag => tag,
    };
    format!("{tag} {}, attempt {}", text(job, "status").replace('_', " "), text(job, "attempt"))
}

fn gate(gate: &Json) -> Vec<String> {
    let mut verdict = text(gate, "verdict");
    if gate["mode"] == "audit" {
        verdict.push_str(" (audit)");
    }
    let mut reason = text(gate, "reason");
    if gate["fault"].is_string() {
        let _ = write!(reason, " [{}]", text(gate, "fault"));
    }
    let until = instant(gate, "nextEvaluation");
    if until != "-" {
        let _ = write!(reason, " (until {until})");
    }
    vec![text(gate, "policy"), text(gate, "rule"), verdict, reason]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_reads_top_down() {
        let report = json!({
            "deployment": {"name": "site"}, "environment": {"name": "prod"}, "resource": {"identifier": "prod-eu"},
            "standing": "up_to_date", "reason": "1 of 2 approvals", "current": {"tag": "v1"}, "desired": {"tag": "v1"},
            "latestJob": {"status": "in_progress", "attempt": 2, "versionTag": "v1"},
            "nextEvaluation": "2026-03-02T08:00:00.000Z",
            "candidates": [{"version": {"tag": "v2"}, "gates": [
                {"policy": "prod-approval", "rule": "anyApproval", "verdict": "wait", "mode": "enforce",
                 "reason": "1 of 2 approvals", "nextEvaluation": null, "fault": null},
                {"policy": "windows", "rule": "hours", "verdict": "deny", "mode": "audit",
                 "reason": "it ran too long", "nextEvaluation": "2026-03-02T08:00:00.000Z", "fault": "eval_timeout"},
            ]}],
        });
        assert_eq!(
            render(&report, None),
            "\
site/prod/prod-eu: up to date
  reason    1 of 2 approvals
  current   v1
  desired   v1
  job       v1 in progress, attempt 2
  next look 2026-03-02T08:00:00Z

version v2
  POLICY         RULE         VERDICT       REASON
  prod-approval  anyApproval  wait          1 of 2 approvals
  windows        hours        deny (audit)  it ran too long [eval_timeout] (until 2026-03-02T08:00:00Z)"
        );
    }

    #[test]
    fn a_version_that_is_not_looked_at_is_said_to_be_so() {
        let report = json!({"deployment": {"name": "a"}, "environment": {"name": "b"}, "resource": {"identifier": "c"},
            "standing": "no_version", "reason": "no version is ready", "candidates": []});
        assert!(render(&report, Some("v9")).contains("version v9 is not looked at here"));
    }
}
