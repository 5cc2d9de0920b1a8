//! One document, from JSON to what should be there.

use model::{
    Json,
    job_agent::AgentType,
    limits::{JOB_DEADLINE_SECONDS_MAX, LEASE_SECONDS_MAX},
    names::{check_name, check_path_name},
    time::Timestamp,
    wanted::{
        FieldError, Wanted, WantedDeployment, WantedEnvironment, WantedFreeze, WantedJobAgent, WantedPolicy,
        WantedResource, WantedSystem,
    },
};
use selectors::Place;

use crate::{
    fields::{Fields, expected, list, unknown},
    rule,
};

/// The types of document there are, as they are written.
pub const TYPES: &[&str] = &["System", "Resource", "JobAgent", "Environment", "Deployment", "Policy", "Freeze"];

/// Reads one document. Pointers of errors are relative to it.
///
/// # Errors
/// Everything that is wrong with it, not only the first thing.
pub fn from_json(document: &Json) -> Result<Wanted, Vec<FieldError>> {
    let at = |pointer: &str, message: String| vec![FieldError { pointer: pointer.to_owned(), message }];
    let Some(object) = document.as_object() else {
        return Err(at("", expected("a document with `type` and `name`", document)));
    };
    let mut fields = Fields::new(object, "");
    let type_name = match fields.take("type") {
        None => return Err(at("/type", format!("is missing, expected one of {}", list(TYPES)))),
        Some(Json::String(type_name)) => type_name.as_str(),
        Some(other) => return Err(at("/type", expected("a string", other))),
    };
    let wanted = match type_name {
        "System" => system(&mut fields),
        "Resource" => resource(&mut fields),
        "JobAgent" => job_agent(&mut fields),
        "Environment" => environment(&mut fields),
        "Deployment" => deployment(&mut fields),
        "Policy" => policy(&mut fields),
        "Freeze" => freeze(&mut fields),
        other => return Err(at("/type", unknown("type", other, TYPES))),
    };
    let errors = fields.finish();
    if errors.is_empty() { Ok(wanted) } else { Err(errors) }
}

fn system(fields: &mut Fields<'_>) -> Wanted {
    Wanted::System(WantedSystem {
        name: fields.name("name", check_name),
        description: fields.text("description"),
        metadata: fields.labels("metadata"),
    })
}

fn resource(fields: &mut Fields<'_>) -> Wanted {
    let identifier = fields.name("identifier", check_name);
    Wanted::Resource(WantedResource {
        name: fields.optional_name("name").unwrap_or_else(|| identifier.clone()),
        identifier,
        kind: fields.name("kind", check_name),
        version: fields.optional_name("version").unwrap_or_else(|| "v1".to_owned()),
        metadata: fields.labels("metadata"),
        config: fields.config("config"),
    })
}

fn job_agent(fields: &mut Fields<'_>) -> Wanted {
    let types: Vec<&'static str> = AgentType::ALL.iter().map(|agent_type| agent_type.name()).collect();
    let agent_type = fields.word("agentType", AgentType::parse, &types).unwrap_or(AgentType::Pull);
    Wanted::JobAgent(WantedJobAgent {
        name: fields.name("name", check_name),
        agent_type,
        config: fields.config("config"),
        lease_seconds: fields.integer("leaseSeconds", 1, LEASE_SECONDS_MAX),
    })
}

fn environment(fields: &mut Fields<'_>) -> Wanted {
    Wanted::Environment(WantedEnvironment {
        name: fields.name("name", check_path_name),
        description: fields.text("description"),
        systems: fields.names("systems"),
        resource_selector: fields.selector("resourceSelector", Place::Resource),
        metadata: fields.labels("metadata"),
    })
}

fn deployment(fields: &mut Fields<'_>) -> Wanted {
    Wanted::Deployment(WantedDeployment {
        name: fields.name("name", check_path_name),
        description: fields.text("description"),
        systems: fields.names("systems"),
        resource_selector: fields.selector("resourceSelector", Place::Resource),
        job_agent: fields.optional_name("jobAgent"),
        job_agent_config: fields.config("jobAgentConfig"),
        job_deadline_seconds: fields.integer("jobDeadlineSeconds", 1, JOB_DEADLINE_SECONDS_MAX),
        metadata: fields.labels("metadata"),
    })
}

fn policy(fields: &mut Fields<'_>) -> Wanted {
    Wanted::Policy(WantedPolicy {
        name: fields.name("name", check_name),
        description: fields.text("description"),
        selector: fields.selector("selector", Place::Policy),
        priority: fields.integer("priority", i64::MIN, i64::MAX).unwrap_or(0),
        enabled: fields.boolean("enabled").unwrap_or(true),
        rules: rule::rules(fields),
        metadata: fields.labels("metadata"),
    })
}

fn freeze(fields: &mut Fields<'_>) -> Wanted {
    let (name, selector) = (fields.name("name", check_name), fields.selector("selector", Place::Policy));
    let (start, end) = (fields.instant("start"), fields.instant("end"));
    check_span(fields, start, end);
    let reason = fields.required_text("reason", "why nothing may start");
    Wanted::Freeze(WantedFreeze { name, selector, start, end, reason })
}

/// A freeze that ends before it begins would freeze nothing.
pub(crate) fn check_span(fields: &mut Fields<'_>, start: Option<Timestamp>, end: Option<Timestamp>) {
    if let (Some(start), Some(end)) = (start, end)
        && end <= start
    {
        fields.error("end", format!("{end} is not after the start ({start})"));
    }
}
