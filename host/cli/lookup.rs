//! Names wherever ids are: what people type, turned into what the API takes.

use anyhow::Result;
use model::{id::Uuid, release_target::TargetKey};
use serde_json::Value as Json;

use crate::{
    client::Client,
    failure::{Problem, Refused, Usage},
    output::text,
};

/// A deployment, environment, job agent or another thing with a name: `noun` as it stands in the path.
pub async fn named(client: &Client, noun: &str, name_or_id: &str) -> Result<Json> {
    let url = match name_or_id.parse::<Uuid>() {
        Ok(_) => client.in_workspace(&[noun, name_or_id]),
        Err(_) => client.in_workspace(&[noun, "name", name_or_id]),
    };
    client.get(url, &[]).await
}

/// A resource, by identifier or id.
pub async fn resource(client: &Client, identifier_or_id: &str) -> Result<Json> {
    let url = match identifier_or_id.parse::<Uuid>() {
        Ok(_) => client.in_workspace(&["resources", identifier_or_id]),
        Err(_) => client.in_workspace(&["resources", "identifier", identifier_or_id]),
    };
    client.get(url, &[]).await
}

/// The id of a thing that has a name.
pub async fn id(client: &Client, noun: &str, name_or_id: &str) -> Result<String> {
    match name_or_id.parse::<Uuid>() {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Ok(text(&named(client, noun, name_or_id).await?, "id")),
    }
}

/// The id of a version, by its deployment and tag or by id alone.
pub async fn version_id(client: &Client, deployment: Option<&str>, tag_or_id: &str) -> Result<String> {
    if let Ok(id) = tag_or_id.parse::<Uuid>() {
        return Ok(id.to_string());
    }
    let Some(deployment) = deployment else {
        return Err(Usage(format!("version `{tag_or_id}` is a tag: say of which deployment with --deployment")).into());
    };
    let deployment_id = id(client, "deployments", deployment).await?;
    let versions = client.list(client.in_workspace(&["deployments", &deployment_id, "versions"]), &[]).await?;
    match versions.iter().find(|version| version["tag"] == tag_or_id) {
        Some(version) => Ok(text(version, "id")),
        None => {
            let near: Vec<&str> = versions.iter().filter_map(|version| version["tag"].as_str()).collect();
            let hint = selectors::suggest::nearest(tag_or_id, near.iter().copied())
                .map_or_else(String::new, |tag| format!(" (did you mean `{tag}`?)"));
            Err(not_found(format!("deployment `{deployment}` has no version `{tag_or_id}`{hint}")))
        }
    }
}

/// The key of a release target, by key or by `deployment/environment/resource`.
pub async fn target_key(client: &Client, key_or_path: &str) -> Result<TargetKey> {
    if let Ok(key) = key_or_path.parse::<TargetKey>() {
        return Ok(key);
    }
    let (deployment, environment, identifier) = split(key_or_path)?;
    let parse = |id: &str| id.parse::<Uuid>().map_err(|_| anyhow::anyhow!("the server answered with `{id}` as an id"));
    Ok(TargetKey {
        deployment: model::id::DeploymentId(parse(&id(client, "deployments", deployment).await?)?),
        environment: model::id::EnvironmentId(parse(&id(client, "environments", environment).await?)?),
        resource: model::id::ResourceId(parse(&text(&resource(client, identifier).await?, "id"))?),
    })
}

/// The parts of a path; an identifier may itself contain slashes.
fn split(path: &str) -> Result<(&str, &str, &str), Usage> {
    let mut parts = path.splitn(3, '/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(deployment), Some(environment), Some(resource)) if ![deployment, environment, resource].contains(&"") => {
            Ok((deployment, environment, resource))
        }
        _ => Err(Usage(format!("`{path}` is not a release target, expected deployment/environment/resource"))),
    }
}

fn not_found(detail: String) -> anyhow::Error {
    let problem =
        Problem { title: "There is no such thing".into(), detail, code: "not_found".into(), ..Problem::default() };
    anyhow::Error::new(Refused { status: 404, problem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_three_parts_and_identifiers_may_have_slashes() {
        assert_eq!(split("api/prod/c1").expect("a path"), ("api", "prod", "c1"));
        assert_eq!(split("api/prod/arn:aws/eks/c1").expect("a path"), ("api", "prod", "arn:aws/eks/c1"));
        for bad in ["", "api", "api/prod", "api/prod/", "/prod/c1", "api//c1"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }
}
