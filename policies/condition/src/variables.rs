//! What a condition may look at, under the names that selectors have: `version.tag`, `resource.metadata['region']`.
//! Instants are RFC 3339 text here, since JSON has none: `timestamp(version.createdAt)` makes one of it.

use serde_json::{Map, Value, json};
use tidegate_policy::{Asset, Deployment, Environment, Timestamp, Version, instant_text};

/// `deployment`
#[must_use]
pub fn deployment(deployment: &Deployment) -> Value {
    json!({"id": deployment.id, "name": deployment.name, "metadata": metadata(&deployment.labels)})
}

/// `environment`
#[must_use]
pub fn environment(environment: &Environment) -> Value {
    json!({"id": environment.id, "name": environment.name, "metadata": metadata(&environment.labels)})
}

/// `resource`
///
/// # Errors
/// The host gave a config that is no JSON.
pub fn resource(asset: &Asset) -> Result<Value, String> {
    Ok(json!({
        "id": asset.id,
        "identifier": asset.identifier,
        "name": asset.name,
        "kind": asset.kind,
        "version": asset.version,
        "metadata": metadata(&asset.labels),
        "config": document(&asset.config, "resource")?,
    }))
}

/// `version`. Without a known creator it has no `createdBy`.
///
/// # Errors
/// The host gave a config that is no JSON.
pub fn version(version: &Version) -> Result<Value, String> {
    let mut value = json!({
        "id": version.id,
        "tag": version.tag,
        "name": version.name,
        "metadata": metadata(&version.labels),
        "config": document(&version.config, "version")?,
        "createdAt": rfc_3339(version.created_at),
    });
    if let (Some(creator), Value::Object(members)) = (&version.created_by, &mut value) {
        members.insert("createdBy".to_owned(), Value::String(creator.clone()));
    }
    Ok(value)
}

fn metadata(labels: &[(String, String)]) -> Value {
    let members: Map<String, Value> =
        labels.iter().map(|(key, value)| (key.clone(), Value::String(value.clone()))).collect();
    Value::Object(members)
}

fn document(json: &str, of: &str) -> Result<Value, String> {
    serde_json::from_str(json).map_err(|error| format!("the config of the {of} is no JSON: {error}"))
}

/// `2026-03-02T08:00:00.250Z`, from the `2026-03-02 08:00:00 UTC` that people read.
fn rfc_3339(at: Timestamp) -> String {
    let text = instant_text(at);
    let seconds = text.trim_end_matches(" UTC").replacen(' ', "T", 1);
    format!("{seconds}.{:03}Z", at.rem_euclid(1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cel;

    const CEL: Cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };

    fn check(condition: &str, variables: &Value) {
        assert_eq!(CEL.holds(condition, variables), Ok(true), "{condition} over {variables}");
    }

    #[test]
    fn names_are_those_of_selectors() {
        let made = Version {
            id: "v".into(),
            tag: "v2".into(),
            name: "two".into(),
            created_at: 1_772_438_400_250,
            received_at: 1_772_438_400_250,
            created_by: Some("carol".into()),
            labels: vec![("channel".into(), "stable".into())],
            config: r#"{"image": {"digest": "sha256:0"}}"#.into(),
        };
        let asset = Asset {
            id: "r".into(),
            identifier: "c1".into(),
            name: "C 1".into(),
            kind: "Cluster".into(),
            version: "kubernetes/v1".into(),
            labels: vec![("region".into(), "eu".into())],
            config: "{}".into(),
        };
        let named = |name: &str| (name.to_owned(), vec![("tier".to_owned(), "1".to_owned())]);
        let (name, labels) = named("api");
        let api = Deployment { id: "d".into(), name, labels };
        let (name, labels) = named("prod");
        let prod = Environment { id: "e".into(), name, labels };
        let all = json!({
            "version": version(&made).expect("JSON"),
            "resource": resource(&asset).expect("JSON"),
            "deployment": deployment(&api),
            "environment": environment(&prod),
        });
        check(
            "version.id == 'v' && version.tag == 'v2' && version.name == 'two' && version.createdBy == 'carol'",
            &all,
        );
        check("version.metadata['channel'] == 'stable' && version.config.image.digest.startsWith('sha256:')", &all);
        check("timestamp(version.createdAt) == timestamp('2026-03-02T08:00:00.250Z')", &all);
        check("resource.identifier == 'c1' && resource.name == 'C 1' && resource.metadata.region == 'eu'", &all);
        check("resource.kind == 'Cluster' && resource.version == 'kubernetes/v1' && size(resource.config) == 0", &all);
        check("deployment.name == 'api' && deployment.metadata.tier == '1' && deployment.id == 'd'", &all);
        check("environment.name == 'prod' && environment.metadata.tier == '1' && environment.id == 'e'", &all);

        let nobody = Version { created_by: None, ..made.clone() };
        check("!has(version.createdBy)", &json!({"version": version(&nobody).expect("JSON")}));
        assert!(version(&Version { config: "{".into(), ..made }).expect_err("no JSON").contains("of the version"));
    }
}
