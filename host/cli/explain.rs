//! `tidegate explain`: why a target is where it is, and what would change it.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use jiff::{Timestamp, tz::TimeZone};
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
    output::print(format, &report, || render(&report, arguments.version.as_deref(), &TimeZone::system()))
}

/// The report as text.
fn render(report: &Json, only: Option<&str>, viewer: &TimeZone) -> String {
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
    line("next look", in_zones(report, "nextEvaluation", None, viewer));
    let candidates = items(report, "candidates");
    if candidates.is_empty()
        && let Some(tag) = only
    {
        let _ = writeln!(out, "\nversion {tag} is not looked at here: it is not ready, or older than what runs");
    }
    for candidate in candidates {
        let _ = writeln!(out, "\nversion {}", text(candidate, "version.tag"));
        for block in items(candidate, "blocks") {
            let until = in_zones(block, "until", None, viewer);
            let until = if until == "-" { String::new() } else { format!(" (until {until})") };
            let _ = writeln!(out, "  {}: {}{until}", text(block, "kind"), text(block, "reason"));
        }
        let rows = items(candidate, "gates").iter().map(|one| gate(one, viewer)).collect();
        let table = output::table(&["POLICY", "RULE", "VERDICT", "REASON"], rows, "no rule has a say");
        for row in table.lines() {
            let _ = writeln!(out, "  {row}");
        }
        for skip in items(candidate, "skips") {
            let until = in_zones(skip, "expiresAt", None, viewer);
            let until = if until == "-" { "until it is removed".to_owned() } else { format!("until {until}") };
            let _ = writeln!(
                out,
                "  skip {} of {}, {until}: {}",
                text(skip, "id"),
                text(skip, "user"),
                text(skip, "reason")
            );
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

fn items<'a>(of: &'a Json, list: &str) -> &'a [Json] {
    of[list].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// An instant as everybody knows it, as the rule's zone knows it, and as the reader's does.
fn in_zones(data: &Json, path: &str, rule: Option<&str>, viewer: &TimeZone) -> String {
    let mut shown = instant(data, path);
    let Ok(at) = text(data, path).parse::<Timestamp>() else { return shown };
    let mut add = |zone: TimeZone| {
        // Minutes are what people plan by, and what is UTC is there already.
        let local = at.to_zoned(zone);
        if local.offset().seconds() != 0 {
            let local = format!("{}", local.strftime("%a %H:%M %Z"));
            if !shown.contains(&local) {
                let _ = write!(shown, " = {local}");
            }
        }
    };
    if let Some(zone) = rule.and_then(|zone| TimeZone::get(zone).ok()) {
        add(zone);
    }
    add(viewer.clone());
    shown
}

fn gate(gate: &Json, viewer: &TimeZone) -> Vec<String> {
    let mut verdict = text(gate, "verdict");
    if gate["mode"] == "audit" {
        verdict.push_str(" (audit)");
    }
    let mut reason = text(gate, "reason");
    if gate["fault"].is_string() {
        let _ = write!(reason, " [{}]", text(gate, "fault"));
    }
    let zone = gate["timezone"].as_str();
    for (field, word) in [("nextEvaluation", "until"), ("validUntil", "good until")] {
        let at = in_zones(gate, field, zone, viewer);
        if at != "-" {
            let _ = write!(reason, " ({word} {at})");
        }
    }
    let mut rule = text(gate, "rule");
    if let Some(group) = gate["anyOf"].as_str() {
        let _ = write!(rule, " (any of {group})");
    }
    vec![text(gate, "policy"), rule, verdict, reason]
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
                {"policy": "windows", "rule": "hours", "verdict": "deny", "mode": "audit", "anyOf": "windows",
                 "timezone": "America/New_York",
                 "reason": "it ran too long", "nextEvaluation": "2026-03-02T08:00:00.000Z", "fault": "eval_timeout"},
            ], "blocks": [{"kind": "freeze", "reason": "holidays", "until": null}],
            "skips": [{"id": "1", "user": "ann", "reason": "outage", "expiresAt": "2026-03-02T09:00:00.000Z"}]}],
        });
        let berlin = TimeZone::get("Europe/Berlin").expect("a zone");
        assert_eq!(
            render(&report, None, &berlin),
            "\
site/prod/prod-eu: up to date
  reason    1 of 2 approvals
  current   v1
  desired   v1
  job       v1 in progress, attempt 2
  next look 2026-03-02T08:00:00Z = Mon 09:00 CET

version v2
  freeze: holidays
  POLICY         RULE                    VERDICT       REASON
  prod-approval  anyApproval             wait          1 of 2 approvals
  windows        hours (any of windows)  deny (audit)  it ran too long [eval_timeout] (until 2026-03-02T08:00:00Z = Mon 03:00 EST = Mon 09:00 CET)
  skip 1 of ann, until 2026-03-02T09:00:00Z = Mon 10:00 CET: outage"
        );
    }

    #[test]
    fn a_version_that_is_not_looked_at_is_said_to_be_so() {
        let report = json!({"deployment": {"name": "a"}, "environment": {"name": "b"}, "resource": {"identifier": "c"},
            "standing": "no_version", "reason": "no version is ready", "candidates": []});
        assert!(render(&report, Some("v9"), &TimeZone::UTC).contains("version v9 is not looked at here"));
    }
}
