//! `tidegate approve` and `tidegate reject`: one person's word on a version, for environments.

use anyhow::Result;
use clap::Args;
use reqwest::Method;
use serde_json::json;

use crate::{
    client::Client,
    lookup,
    output::{self, Format, instant, text},
};

/// Arguments of both commands.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate approve --deployment site --version v1.4.2 --environment prod
  tidegate approve -d site -V v1.4.2 -e prod-eu -e prod-us --reason 'looked at the dashboards'
  tidegate reject  -d site -V v1.4.2 -e prod --reason 'breaks the checkout'

The word is that of the user whose key is used. The last one of each user stands.")]
pub struct Word {
    /// Of which deployment, by name or id; not needed when the version is given by id
    #[arg(long, short = 'd', value_name = "DEPLOYMENT")]
    deployment: Option<String>,
    /// Which version, by tag or id
    #[arg(long, short = 'V', value_name = "TAG|ID")]
    version: String,
    /// For which environment, by name or id; repeat it for more
    #[arg(long, short = 'e', value_name = "ENVIRONMENT", required = true)]
    environment: Vec<String>,
    /// Why, for those who read the trail later
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Records the word: `status` is `approved` or `rejected`.
pub async fn run(client: &Client, format: Format, arguments: Word, status: &'static str) -> Result<()> {
    let version = lookup::version_id(client, arguments.deployment.as_deref(), &arguments.version).await?;
    let mut environments = Vec::with_capacity(arguments.environment.len());
    for environment in &arguments.environment {
        environments.push(lookup::id(client, "environments", environment).await?);
    }
    let mut body = json!({"environmentIds": environments, "status": status});
    if let Some(reason) = arguments.reason {
        body["reason"] = reason.into();
    }
    let url = client.in_workspace(&["deployment-versions", &version, "user-approval-records"]);
    let (_, answer) = client.write(Method::PUT, url, &body).await?;
    output::print(format, &answer, || {
        let items = answer["items"].as_array().cloned().unwrap_or_default();
        let rows = items.iter().map(|item| {
            let id = text(item, "environmentId");
            let position = environments.iter().position(|environment| *environment == id);
            let environment = position.and_then(|index| arguments.environment.get(index)).cloned().unwrap_or(id);
            vec![arguments.version.clone(), environment, text(item, "user"), text(item, "status"), instant(item, "at")]
        });
        output::table(&["VERSION", "ENVIRONMENT", "USER", "STATUS", "AT"], rows.collect(), "nothing was recorded")
    })
}
