//! What a component says of itself, checked.

use model::{
    Json,
    limits::{MESSAGE_BYTES_MAX, NAME_BYTES_MAX},
    plugin::{ConfigError, FactKinds, Fault, FaultCode, Hooks, Manifest, Scope},
};

use super::{Exports, bindings::tidegate::policy::types};
use crate::{Limits, fault::fault};

/// Wrong places in a configuration that are reported; the rest follow once these are right.
const CONFIG_ERRORS_MAX: usize = 100;

/// The manifest of a component that exports `exports`.
pub(crate) fn manifest(limits: &Limits, exports: &Exports, said: types::Manifest) -> Result<Manifest, Fault> {
    let invalid = |message: String| fault(FaultCode::InvalidOutput, format!("describe {message}"));
    if said.name.is_empty() || said.name.len() > NAME_BYTES_MAX {
        return Err(invalid(format!("gave a name of {} bytes; it may have 1 to {NAME_BYTES_MAX}", said.name.len())));
    }
    if said.summary.len() > MESSAGE_BYTES_MAX {
        let seen = said.summary.len();
        return Err(invalid(format!("gave a summary of {seen} bytes; it may have {MESSAGE_BYTES_MAX}")));
    }
    if let Some(control) = said.name.chars().chain(said.summary.chars()).find(|c| c.is_control() && *c != '\n') {
        return Err(invalid(format!("gave a name or summary with the control character {control:?}")));
    }
    let hooks = Hooks {
        gate: said.hooks.contains(types::Hooks::GATE),
        retry: said.hooks.contains(types::Hooks::RETRY),
        sequence: said.hooks.contains(types::Hooks::SEQUENCE),
        verify: said.hooks.contains(types::Hooks::VERIFY),
    };
    same_hooks(hooks, exports)?;
    Ok(Manifest {
        name: said.name,
        summary: said.summary,
        hooks,
        scope: match said.scope {
            types::Scope::Target => Scope::Target,
            types::Scope::Environment => Scope::Environment,
            types::Scope::Deployment => Scope::Deployment,
            types::Scope::System => Scope::System,
            types::Scope::Workspace => Scope::Workspace,
        },
        facts: FactKinds {
            approvals: said.facts.contains(types::FactKinds::APPROVALS),
            target_jobs: said.facts.contains(types::FactKinds::TARGET_JOBS),
            version_history: said.facts.contains(types::FactKinds::VERSION_HISTORY),
            environment_progress: said.facts.contains(types::FactKinds::ENVIRONMENT_PROGRESS),
            dependencies: said.facts.contains(types::FactKinds::DEPENDENCIES),
            rollout_position: said.facts.contains(types::FactKinds::ROLLOUT_POSITION),
        },
        config_schema: schema(limits, &said.config_schema)?,
    })
}

/// `describe` must name exactly the hooks that are exported: one that is named and missing could never be asked.
fn same_hooks(said: Hooks, exports: &Exports) -> Result<(), Fault> {
    let hooks = [
        ("gate", said.gate, exports.gate.is_some()),
        ("retry", said.retry, exports.retry.is_some()),
        ("sequence", said.sequence, exports.sequence.is_some()),
        ("verify", said.verify, exports.verify.is_some()),
    ];
    for (name, said, exported) in hooks {
        if said && !exported {
            let message = format!("describe names the hook `{name}`, but `tidegate:policy/{name}` is not exported");
            return Err(fault(FaultCode::MissingExport, message));
        }
        if exported && !said {
            let message = format!("`tidegate:policy/{name}` is exported, but describe does not name the hook `{name}`");
            return Err(fault(FaultCode::InvalidOutput, message));
        }
    }
    Ok(())
}

/// A schema is a JSON object or a boolean (JSON Schema 2020-12, 4.3).
fn schema(limits: &Limits, text: &str) -> Result<Json, Fault> {
    let wrong = |message: String| fault(FaultCode::SettingsSchema, format!("describe's config-schema {message}"));
    if text.len() > limits.answer_bytes {
        return Err(wrong(format!("has {} bytes; it may have {}", text.len(), limits.answer_bytes)));
    }
    let schema: Json = serde_json::from_str(text).map_err(|error| wrong(format!("is no JSON: {error}")))?;
    if schema.is_object() || schema.is_boolean() {
        Ok(schema)
    } else {
        Err(wrong("is no JSON Schema (expected an object or a boolean)".to_owned()))
    }
}

/// What `validate` found, cut to what is worth showing.
pub(crate) fn config_errors(limits: &Limits, errors: Vec<types::ConfigError>) -> Vec<ConfigError> {
    let cut = |mut text: String| {
        text.truncate(text.floor_char_boundary(limits.reason_bytes));
        text.retain(|c| !c.is_control());
        text
    };
    errors
        .into_iter()
        .take(CONFIG_ERRORS_MAX)
        .map(|error| ConfigError { path: cut(error.path), message: cut(error.message) })
        .collect()
}
