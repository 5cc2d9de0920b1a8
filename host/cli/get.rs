//! `tidegate get`: lists, and one thing by name.

use anyhow::Result;
use clap::{Args, Subcommand};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value as Json, json};

use crate::{
    client::Client,
    explain::latest_job,
    lookup,
    output::{self, Format, instant, pairs, text},
};

/// Targets explained at a time, for `--why`.
const EXPLAINED_AT_A_TIME: usize = 8;

/// Subcommands of `tidegate get`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  tidegate get targets                              the matrix: what runs where, and what should
  tidegate get targets -e prod --why                the same, and why each one is where it is
  tidegate get jobs --status in_progress
  tidegate get versions -d site -o json
  tidegate get resource prod-eu -o yaml")]
pub enum Get {
    /// Systems
    #[command(visible_alias = "system")]
    Systems(One),
    /// Resources
    #[command(visible_alias = "resource")]
    Resources(One),
    /// Environments
    #[command(visible_alias = "environment")]
    Environments(One),
    /// Deployments
    #[command(visible_alias = "deployment")]
    Deployments(One),
    /// Policies
    #[command(visible_alias = "policy")]
    Policies(One),
    /// Job agents
    #[command(visible_alias = "agent")]
    Agents(One),
    /// Uploaded policy plugins
    #[command(visible_alias = "plugin")]
    Plugins,
    /// Release targets: what runs on each, what should, and the latest job
    #[command(visible_alias = "target")]
    Targets(Targets),
    /// Versions of a deployment
    #[command(visible_alias = "version")]
    Versions(Versions),
    /// Releases
    #[command(visible_alias = "release")]
    Releases(Releases),
    /// Jobs
    #[command(visible_alias = "job")]
    Jobs(Jobs),
}

/// A list, or one thing.
#[derive(Debug, Args)]
pub struct One {
    /// Only this one, by name (a resource by identifier) or id
    #[arg(value_name = "NAME|ID")]
    name: Option<String>,
}

/// Arguments of `tidegate get targets`.
#[derive(Debug, Args)]
pub struct Targets {
    /// Only of this deployment
    #[arg(long, short = 'd', value_name = "DEPLOYMENT")]
    deployment: Option<String>,
    /// Only in this environment
    #[arg(long, short = 'e', value_name = "ENVIRONMENT")]
    environment: Option<String>,
    /// Only on this resource
    #[arg(long, short = 'r', value_name = "RESOURCE")]
    resource: Option<String>,
    /// Say of each why it is where it is
    #[arg(long)]
    why: bool,
}

/// Arguments of `tidegate get versions`.
#[derive(Debug, Args)]
pub struct Versions {
    /// Of which deployment
    #[arg(long, short = 'd', value_name = "DEPLOYMENT")]
    deployment: String,
}

/// Arguments of `tidegate get releases`.
#[derive(Debug, Args)]
pub struct Releases {
    /// Only of this deployment
    #[arg(long, short = 'd', value_name = "DEPLOYMENT")]
    deployment: Option<String>,
    /// Only of this version, by tag (with --deployment) or id
    #[arg(long, short = 'V', value_name = "TAG|ID")]
    version: Option<String>,
    /// Only on this target
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
}

/// Arguments of `tidegate get jobs`.
#[derive(Debug, Args)]
pub struct Jobs {
    /// Only in this status
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Only of this deployment
    #[arg(long, short = 'd', value_name = "DEPLOYMENT")]
    deployment: Option<String>,
    /// Only of this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only on this target
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
}

/// Prints what was asked for.
pub async fn run(client: &Client, format: Format, what: Get) -> Result<()> {
    match what {
        Get::Systems(one) => nouns(client, format, "systems", one, &SYSTEM).await,
        Get::Resources(one) => nouns(client, format, "resources", one, &RESOURCE).await,
        Get::Environments(one) => nouns(client, format, "environments", one, &ENVIRONMENT).await,
        Get::Deployments(one) => nouns(client, format, "deployments", one, &DEPLOYMENT).await,
        Get::Policies(one) => nouns(client, format, "policies", one, &POLICY).await,
        Get::Agents(one) => nouns(client, format, "job-agents", one, &AGENT).await,
        Get::Plugins => {
            let plugins = client.list(client.in_workspace(&["plugins"]), &[]).await?;
            print(format, plugins, &PLUGIN)
        }
        Get::Targets(arguments) => targets(client, format, arguments).await,
        Get::Versions(arguments) => {
            let deployment = lookup::id(client, "deployments", &arguments.deployment).await?;
            let url = client.in_workspace(&["deployments", &deployment, "versions"]);
            print(format, client.list(url, &[]).await?, &VERSION)
        }
        Get::Releases(arguments) => releases(client, format, arguments).await,
        Get::Jobs(arguments) => jobs(client, format, arguments).await,
    }
}

/// A column of a noun's table: its heading, and what stands there.
type Column = (&'static str, fn(&Json) -> String);

const SYSTEM: [Column; 3] = [
    ("NAME", |item| text(item, "name")),
    ("DESCRIPTION", |item| text(item, "description")),
    ("LABELS", |item| pairs(&item["metadata"])),
];
const RESOURCE: [Column; 5] = [
    ("IDENTIFIER", |item| text(item, "identifier")),
    ("NAME", |item| text(item, "name")),
    ("KIND", |item| text(item, "kind")),
    ("VERSION", |item| text(item, "version")),
    ("LABELS", |item| pairs(&item["metadata"])),
];
const ENVIRONMENT: [Column; 3] = [
    ("NAME", |item| text(item, "name")),
    ("RESOURCES", |item| text(item, "resourceSelector")),
    ("DESCRIPTION", |item| text(item, "description")),
];
const DEPLOYMENT: [Column; 3] = ENVIRONMENT;
const POLICY: [Column; 5] = [
    ("NAME", |item| text(item, "name")),
    ("PRIORITY", |item| text(item, "priority")),
    ("ENABLED", |item| text(item, "enabled")),
    ("FOR", |item| text(item, "selector")),
    ("RULES", |item| rule_names(item)),
];
const AGENT: [Column; 3] = [
    ("NAME", |item| text(item, "name")),
    ("TYPE", |item| text(item, "agentType")),
    ("LEASE", |item| format!("{}s", text(item, "leaseSeconds"))),
];
const PLUGIN: [Column; 4] = [
    ("NAME", |item| text(item, "name")),
    ("VERSION", |item| text(item, "version")),
    ("DIGEST", |item| text(item, "digest").chars().take(19).collect()),
    ("SUMMARY", |item| text(item, "manifest.summary")),
];
const VERSION: [Column; 5] = [
    ("TAG", |item| text(item, "tag")),
    ("STATUS", |item| text(item, "status")),
    ("CREATED", |item| instant(item, "createdAt")),
    ("BY", |item| text(item, "createdBy")),
    ("LABELS", |item| pairs(&item["metadata"])),
];
const JOB: [Column; 7] = [
    ("TARGET", target_path),
    ("VERSION", |item| text(item, "version.tag")),
    ("STATUS", |item| text(item, "status").replace('_', " ")),
    ("ATTEMPT", |item| text(item, "attempt")),
    ("HOLDER", |item| text(item, "lease.holder")),
    ("UPDATED", |item| instant(item, "updatedAt")),
    ("MESSAGE", |item| text(item, "message")),
];

async fn nouns(client: &Client, format: Format, noun: &str, one: One, columns: &[Column]) -> Result<()> {
    let Some(name) = one.name else {
        return print(format, client.list(client.in_workspace(&[noun]), &[]).await?, columns);
    };
    let item = if noun == "resources" {
        lookup::resource(client, &name).await
    } else {
        lookup::named(client, noun, &name).await
    }?;
    // One thing is printed as itself, not as a list of one.
    output::print(format, &item, || rows(std::slice::from_ref(&item), columns))
}

fn print(format: Format, items: Vec<Json>, columns: &[Column]) -> Result<()> {
    let items = Json::Array(items);
    output::print(format, &items, || rows(items.as_array().map(Vec::as_slice).unwrap_or_default(), columns))
}

fn rows(items: &[Json], columns: &[Column]) -> String {
    let heading: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let rows = items.iter().map(|item| columns.iter().map(|(_, cell)| cell(item)).collect()).collect();
    output::table(&heading, rows, "none")
}

async fn targets(client: &Client, format: Format, arguments: Targets) -> Result<()> {
    let mut query = Vec::new();
    if let Some(deployment) = &arguments.deployment {
        query.push(("deploymentId", lookup::id(client, "deployments", deployment).await?));
    }
    if let Some(environment) = &arguments.environment {
        query.push(("environmentId", lookup::id(client, "environments", environment).await?));
    }
    if let Some(resource) = &arguments.resource {
        query.push(("resourceId", text(&lookup::resource(client, resource).await?, "id")));
    }
    let mut targets = client.list(client.in_workspace(&["release-targets"]), &query).await?;
    if arguments.why {
        targets = explained(client, targets).await?;
    }
    // Stages in the order of their names, then resources: what belongs together stands together.
    targets.sort_by_key(target_path);
    let targets = Json::Array(targets);
    output::print(format, &targets, || {
        let items = targets.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut heading = vec!["TARGET", "CURRENT", "DESIRED", "LATEST JOB"];
        if arguments.why {
            heading.extend(["STANDING", "REASON"]);
        }
        output::table(&heading, items.iter().map(|target| target_row(target, arguments.why)).collect(), "no targets")
    })
}

fn target_row(target: &Json, why: bool) -> Vec<String> {
    let mut path = target_path(target);
    if target["attached"] == false {
        path.push_str(" (detached)");
    }
    let mut row =
        vec![path, text(target, "currentVersion.tag"), text(target, "desiredVersion.tag"), latest_job(target)];
    if why {
        row.extend([text(target, "explain.standing").replace('_', " "), text(target, "explain.reason")]);
    }
    row
}

/// Each target with the report on it.
async fn explained(client: &Client, targets: Vec<Json>) -> Result<Vec<Json>> {
    let explain = |mut target: Json| async move {
        let url = client.in_workspace(&["release-targets", &text(&target, "key"), "explain"]);
        let report = client.get(url, &[]).await?;
        target["explain"] = json!({
            "standing": report["standing"], "reason": report["reason"], "nextEvaluation": report["nextEvaluation"],
        });
        anyhow::Ok(target)
    };
    futures::stream::iter(targets.into_iter().map(explain)).buffered(EXPLAINED_AT_A_TIME).try_collect().await
}

async fn releases(client: &Client, format: Format, arguments: Releases) -> Result<()> {
    let mut query = Vec::new();
    if let Some(deployment) = &arguments.deployment {
        query.push(("deploymentId", lookup::id(client, "deployments", deployment).await?));
    }
    if let Some(version) = &arguments.version {
        query.push(("versionId", lookup::version_id(client, arguments.deployment.as_deref(), version).await?));
    }
    if let Some(target) = &arguments.target {
        query.push(("targetKey", lookup::target_key(client, target).await?.to_string()));
    }
    let releases = Json::Array(client.list(client.in_workspace(&["releases"]), &query).await?);
    let names = if format == Format::Table { target_names(client).await? } else { Vec::new() };
    output::print(format, &releases, || {
        let items = releases.as_array().map(Vec::as_slice).unwrap_or_default();
        let row = |release: &Json| {
            let key = text(release, "targetKey");
            let path = names.iter().find(|(other, _)| *other == key).map_or(key, |(_, path)| path.clone());
            let state = match text(release, "closed") {
                closed if closed == "-" => "open".to_owned(),
                closed => closed,
            };
            vec![path, text(release, "version.tag"), state, instant(release, "createdAt"), text(release, "id")]
        };
        output::table(&["TARGET", "VERSION", "STATE", "CREATED", "ID"], items.iter().map(row).collect(), "no releases")
    })
}

/// What people call each target.
async fn target_names(client: &Client) -> Result<Vec<(String, String)>> {
    let targets = client.list(client.in_workspace(&["release-targets"]), &[]).await?;
    Ok(targets.iter().map(|target| (text(target, "key"), target_path(target))).collect())
}

async fn jobs(client: &Client, format: Format, arguments: Jobs) -> Result<()> {
    let mut query = Vec::new();
    if let Some(status) = arguments.status {
        query.push(("status", status));
    }
    if let Some(deployment) = &arguments.deployment {
        query.push(("deploymentId", lookup::id(client, "deployments", deployment).await?));
    }
    if let Some(agent) = &arguments.agent {
        query.push(("agentId", lookup::id(client, "job-agents", agent).await?));
    }
    if let Some(target) = &arguments.target {
        query.push(("targetKey", lookup::target_key(client, target).await?.to_string()));
    }
    print(format, client.list(client.in_workspace(&["jobs"]), &query).await?, &JOB)
}

/// `deployment/environment/resource` of something that has these three.
pub fn target_path(item: &Json) -> String {
    let parts = ["deployment.name", "environment.name", "resource.identifier"];
    parts.map(|part| text(item, part)).join("/")
}

/// The keys of a policy's rules; of a plugin of one's own, its name.
fn rule_names(policy: &Json) -> String {
    let own = ["id", "createdAt", "mode", "onError", "scope"];
    let rules = policy["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |rule: &Json| {
        let key = rule.as_object()?.keys().find(|key| !own.contains(&key.as_str()))?.clone();
        Some(if key == "plugin" { text(rule, "plugin.name") } else { key })
    };
    rules.iter().filter_map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_shows_what_runs_and_what_should() {
        let target = json!({
            "key": "k", "deployment": {"name": "site"}, "environment": {"name": "prod"},
            "resource": {"identifier": "prod-eu"}, "attached": false, "currentVersion": {"tag": "v1"},
            "desiredVersion": null, "latestJob": {"status": "in_progress", "attempt": 2, "versionTag": "v2"},
            "explain": {"standing": "no_agent", "reason": "nobody"},
        });
        assert_eq!(
            target_row(&target, true),
            ["site/prod/prod-eu (detached)", "v1", "-", "v2 in progress, attempt 2", "no agent", "nobody"]
        );
    }

    #[test]
    fn rules_are_called_by_their_key_or_plugin() {
        let policy = json!({"rules": [
            {"id": "1", "mode": "enforce", "anyApproval": {}},
            {"id": "2", "plugin": {"name": "freeze-fridays"}},
        ]});
        assert_eq!(rule_names(&policy), "anyApproval, freeze-fridays");
    }
}
