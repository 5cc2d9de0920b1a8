//! What an executor is told: the merged configuration and the dispatch context.

use model::{
    Json, deployment::Deployment, id::ReleaseId, job_agent::JobAgent, release_target::ReleaseTarget, version::Version,
};
use serde_json::{Value, json};

/// Deep merge, later wins: the agent's config, the deployment's, the version's. Objects merge, all else replaces.
pub fn merged_config(agent: &JobAgent, deployment: &Deployment, version: &Version) -> Json {
    let mut merged = agent.config.clone();
    merge(&mut merged, &deployment.job_agent_config);
    merge(&mut merged, &version.job_agent_config);
    merged
}

/// The whole snapshot that an executor needs, but for the lease token, which is new at every claim.
pub fn dispatch_context(
    target: &ReleaseTarget,
    version: &Version,
    release: ReleaseId,
    variables: &Json,
    about_job: Json,
) -> Json {
    let ReleaseTarget { deployment, environment, resource, .. } = target;
    json!({
        "job": about_job,
        "deployment": {"id": deployment.id.to_string(), "name": deployment.name, "metadata": deployment.metadata},
        "environment": {"id": environment.id.to_string(), "name": environment.name, "metadata": environment.metadata},
        "resource": {
            "id": resource.id.to_string(),
            "identifier": resource.identifier,
            "name": resource.name,
            "kind": resource.kind,
            "version": resource.version,
            "metadata": resource.metadata,
            "config": resource.config,
        },
        "version": {
            "id": version.id.to_string(),
            "tag": version.tag,
            "name": version.name,
            "metadata": version.metadata,
            "config": version.config,
        },
        "release": {"id": release.to_string()},
        "variables": variables,
    })
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (into, from) => *into = from.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_stay_and_the_later_wins() {
        let mut config = json!({"spec": {"image": "a", "env": {"A": 1}}, "list": [1, 2]});
        merge(&mut config, &json!({"spec": {"image": "b", "env": {"B": 2}}, "list": [3], "gone": null}));
        assert_eq!(config, json!({"spec": {"image": "b", "env": {"A": 1, "B": 2}}, "list": [3], "gone": null}));
        merge(&mut config, &Value::Null);
        assert_eq!(config["list"], json!([3]));
    }
}
