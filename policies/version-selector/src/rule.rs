//! Whether the condition is true of a version at a place. Pure: everything is an argument.
//!
//! That an older version is never taken in place of a newer one that runs is not decided here: the planner offers no
//! version older than what a target runs.

use condition::{Cel, shortened, variables};
use serde_json::{Map, Value};
use tidegate_policy::{Asset, Deployment, Environment, Version, gate::Decision};

use crate::Config;

/// Where the version would go. What the rule's scope leaves open is not there for the condition either.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The deployment.
    pub deployment: &'a Deployment,
    /// The environment, where the rule is asked per environment or per target.
    pub environment: Option<&'a Environment>,
    /// The resource, where the rule is asked per target.
    pub resource: Option<&'a Asset>,
}

/// May the version go?
///
/// # Errors
/// The selector has no answer for this version.
pub fn decide(config: &Config, cel: &Cel, candidate: &Version, place: &Place<'_>) -> Result<Decision, String> {
    let selector = format!("`{}`", shortened(&config.selector));
    let holds = cel.holds(&config.selector, &variables_of(candidate, place)?)?;
    let meaning = match config.description.as_deref().map(str::trim) {
        Some(text) if !text.is_empty() => format!(" ({})", shortened(text)),
        Some(_) | None => String::new(),
    };
    Ok(if holds {
        let made_at = candidate.created_at.min(candidate.received_at);
        Decision::allow(format!("{selector}{meaning} is true of {}", candidate.tag)).satisfied_at(made_at)
    } else {
        let tag = &candidate.tag;
        Decision::deny(format!("{selector}{meaning} is false of {tag}; a version of which it is true can go instead"))
    })
}

fn variables_of(candidate: &Version, place: &Place<'_>) -> Result<Value, String> {
    let mut members = Map::new();
    members.insert("version".to_owned(), variables::version(candidate)?);
    members.insert("deployment".to_owned(), variables::deployment(place.deployment));
    if let Some(environment) = place.environment {
        members.insert("environment".to_owned(), variables::environment(environment));
    }
    if let Some(resource) = place.resource {
        members.insert("resource".to_owned(), variables::resource(resource)?);
    }
    Ok(Value::Object(members))
}

#[cfg(test)]
mod tests {
    use tidegate_policy::gate::Verdict;

    use super::*;

    const CEL: Cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };

    fn ask(selector: &str, description: Option<&str>) -> Result<Decision, String> {
        let labels = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let version = Version {
            id: "v".into(),
            tag: "v2.1.0".into(),
            name: String::new(),
            created_at: 2_000,
            received_at: 1_000,
            created_by: None,
            labels: labels(&[("channel", "beta")]),
            config: r#"{"signed": true}"#.into(),
        };
        let deployment = Deployment { id: "d".into(), name: "api".into(), labels: Vec::new() };
        let environment = Environment { id: "e".into(), name: "prod".into(), labels: labels(&[("tier", "1")]) };
        let asset = Asset {
            id: "r".into(),
            identifier: "c1".into(),
            name: "c1".into(),
            kind: "Cluster".into(),
            version: "v1".into(),
            labels: labels(&[("region", "eu")]),
            config: "{}".into(),
        };
        let place = Place { deployment: &deployment, environment: Some(&environment), resource: Some(&asset) };
        let config = Config { selector: selector.to_owned(), description: description.map(str::to_owned) };
        decide(&config, &CEL, &version, &place)
    }

    fn check(selector: &str, description: Option<&str>, verdict: &Verdict, reason: &str) {
        let decision = ask(selector, description).expect("an answer");
        assert_eq!((&decision.verdict, decision.reason.as_str()), (verdict, reason));
    }

    #[test]
    fn true_lets_it_go_and_false_does_not() {
        let stable = "version.metadata['channel'] == 'stable'";
        check(
            stable,
            Some("customers get stable only"),
            &Verdict::Deny,
            "`version.metadata['channel'] == 'stable'` (customers get stable only) is false of v2.1.0; a version of \
             which it is true can go instead",
        );
        check("version.config.signed", Some(" "), &Verdict::Allow, "`version.config.signed` is true of v2.1.0");
        let all = "deployment.name == 'api' && environment.metadata.tier == '1' && resource.metadata.region == 'eu'";
        check(all, None, &Verdict::Allow, &format!("`{all}` is true of v2.1.0"));
        // Since the server had it; the creator's clock ran ahead.
        assert_eq!(ask("true", None).expect("an answer").satisfied_at, Some(1_000));
    }

    #[test]
    fn a_selector_without_an_answer_is_an_error() {
        let error = |selector| ask(selector, None).expect_err(selector);
        assert!(error("version.metadata['team'] == 'x'").contains("there is no `team`"));
        assert!(error("version.tag").contains("gives a string, expected true or false"));
        assert!(error("1 / 0 == 1").contains("division by zero"));
        assert!(error("relase.id == ''").contains("`relase` is not known here"));
    }
}
