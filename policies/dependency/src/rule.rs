//! Whether what is needed runs on the resource. Pure: everything is an argument.

use condition::{Cel, shortened, variables};
use serde_json::{Value, json};
use tidegate_policy::{
    Asset, Version,
    gate::{Decision, Dependency},
};

use crate::Config;

/// So many others are named in a reason.
const NAMED_MAX: usize = 5;

/// Does one of the others run a version of which the condition is true?
///
/// Where it has no answer for one of them (a metadata key that only some have), that one is not what is meant.
///
/// # Errors
/// It has no answer for any of them.
pub fn decide(config: &Config, cel: &Cel, resource: &Asset, others: &[Dependency]) -> Result<Decision, String> {
    let mut others: Vec<&Dependency> = others.iter().collect();
    // In the order that people know them by, whatever the order of the facts.
    others.sort_by_cached_key(|other| {
        let names = (other.deployment.name.clone(), other.environment.name.clone());
        (names, other.deployment.id.clone(), other.environment.id.clone())
    });
    let resource_variable = variables::resource(resource)?;
    let mut no_answer: Option<String> = None;
    let mut answers = 0_u32;
    for other in &others {
        let Some(version) = &other.current else { continue };
        match cel.holds(&config.depends_on, &variables_of(other, version, &resource_variable)?) {
            Ok(true) => return Ok(allow(config, resource, other, version)),
            Ok(false) => answers += 1,
            Err(error) => {
                no_answer.get_or_insert(error);
            }
        }
    }
    match no_answer {
        Some(error) if answers == 0 => Err(error),
        Some(_) | None => Ok(wait(config, resource, &others)),
    }
}

fn variables_of(other: &Dependency, version: &Version, resource: &Value) -> Result<Value, String> {
    Ok(json!({
        "deployment": variables::deployment(&other.deployment),
        "environment": variables::environment(&other.environment),
        "version": variables::version(version)?,
        "resource": resource,
    }))
}

fn allow(config: &Config, resource: &Asset, other: &Dependency, version: &Version) -> Decision {
    let (deployment, tag) = (&other.deployment.name, &version.tag);
    let depends_on = shortened(&config.depends_on);
    Decision::allow(format!("{deployment} runs {tag} on {}, of which `{depends_on}` is true", resource.name))
        .detail("deployment", deployment)
        .detail("environment", &other.environment.name)
        .detail("version", tag)
}

fn wait(config: &Config, resource: &Asset, others: &[&Dependency]) -> Decision {
    let depends_on = format!("`{}`", shortened(&config.depends_on));
    let resource = &resource.name;
    let reason = if others.is_empty() {
        format!("no other deployment goes to {resource}; one of which {depends_on} is true must run there first")
    } else {
        let mut named: Vec<String> = others.iter().take(NAMED_MAX).map(|other| standing(other)).collect();
        let more = others.len().saturating_sub(NAMED_MAX);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        format!("{depends_on} must become true of what else runs on {resource}: {}", named.join(", "))
    };
    Decision::wait(reason).detail("others", others.len())
}

fn standing(other: &Dependency) -> String {
    let (deployment, environment) = (&other.deployment.name, &other.environment.name);
    let runs = other.current.as_ref().map_or("nothing yet", |version| &version.tag);
    format!("{deployment} runs {runs} ({environment})")
}

#[cfg(test)]
mod tests;
