//! `tidegate version`: what CI calls.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::{Args, Subcommand};
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde_json::Value as Json;

use crate::{
    client::Client,
    failure::Usage,
    lookup,
    output::{self, Format, instant, text},
};

/// Subcommands of `tidegate version`.
#[derive(Debug, Subcommand)]
pub enum Version {
    /// Report a version of a deployment; the same again changes nothing
    Create(Create),
}

/// Arguments of `tidegate version create`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate version create --deployment site --tag v1.4.2
  tidegate version create --deployment site --tag \"$GIT_TAG\" --metadata commit=\"$GIT_SHA\" --status building
  tidegate version create --deployment site --tag v2 --config '{\"image\": \"registry/site:v2\"}'
  tidegate version create --deployment site --tag v2 --config @build/version.json")]
pub struct Create {
    /// Of which deployment, by name or id
    #[arg(long, short = 'd', value_name = "DEPLOYMENT")]
    deployment: String,
    /// Its tag, unique in the deployment
    #[arg(long, short = 't', value_name = "TAG")]
    tag: String,
    /// Its name, for people
    #[arg(long)]
    name: Option<String>,
    /// How far it is
    #[arg(long, value_parser = ["ready", "building", "failed", "rejected", "paused", "unspecified"], default_value = "ready")]
    status: String,
    /// What rules and executors need to know: a JSON object, or @ and a file with one
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,
    /// Merged over the deployment's job agent configuration: a JSON object, or @ and a file with one
    #[arg(long, value_name = "JSON|@FILE")]
    job_agent_config: Option<String>,
    /// A label; repeat it for more
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    metadata: Vec<(String, String)>,
    /// When it was made, if not now (RFC 3339)
    #[arg(long, value_name = "INSTANT")]
    created_at: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    tag: String,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_agent_config: Option<Json>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
}

/// Runs a subcommand.
pub async fn run(client: &Client, format: Format, command: Version) -> Result<()> {
    match command {
        Version::Create(arguments) => create(client, format, arguments).await,
    }
}

async fn create(client: &Client, format: Format, arguments: Create) -> Result<()> {
    let object = |name: &str, text: Option<String>| text.map(|text| json_object(name, &text)).transpose();
    let body = Body {
        config: object("config", arguments.config)?,
        job_agent_config: object("job-agent-config", arguments.job_agent_config)?,
        tag: arguments.tag,
        status: arguments.status,
        name: arguments.name,
        metadata: arguments.metadata.into_iter().collect(),
        created_at: arguments.created_at,
    };
    let deployment = lookup::id(client, "deployments", &arguments.deployment).await?;
    let url = client.in_workspace(&["deployments", &deployment, "versions"]);
    let (status, version) = client.write(Method::POST, url, &body).await?;
    output::print(format, &version, || {
        let row = ["tag", "status", "id"].map(|field| text(&version, field)).into_iter();
        let row = row.chain([instant(&version, "createdAt")]).collect();
        output::table(&["TAG", "STATUS", "ID", "CREATED"], vec![row], "")
    })?;
    if status != StatusCode::CREATED {
        eprintln!("it was there already; nothing changed");
    }
    Ok(())
}

/// A JSON object, written out or in a file.
fn json_object(name: &str, text: &str) -> Result<Json, Usage> {
    let content = match text.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| Usage(format!("--{name}: `{file}` cannot be read: {error}")))?,
        None => text.to_owned(),
    };
    match serde_json::from_str::<Json>(&content) {
        Ok(object @ Json::Object(_)) => Ok(object),
        Ok(_) => {
            Err(Usage(format!("--{name} is not a JSON object, expected one such as '{{\"image\": \"site:v2\"}}'")))
        }
        Err(error) => Err(Usage(format!("--{name} is not JSON: {error}"))),
    }
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_is_an_object_here_or_in_a_file() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "{\"a\": 1}").expect("written");
        let from_file = format!("@{}", file.path().display());
        for (text, expected) in [(r#"{"a": 1}"#, Some("{\"a\":1}")), (&from_file, Some("{\"a\":1}"))] {
            assert_eq!(json_object("config", text).ok().map(|json| json.to_string()).as_deref(), expected);
        }
        for (text, expected) in [("[1]", "not a JSON object"), ("{", "not JSON"), ("@/gone.json", "cannot be read")] {
            let told = json_object("config", text).expect_err(text).to_string();
            assert!(told.starts_with("--config") && told.contains(expected), "{told}");
        }
    }

    #[test]
    fn labels_are_pairs() {
        assert_eq!(label("commit=a=b"), Ok(("commit".into(), "a=b".into())));
        assert_eq!(label("empty="), Ok(("empty".into(), String::new())));
        assert!(label("commit").is_err() && label("=x").is_err());
    }
}
