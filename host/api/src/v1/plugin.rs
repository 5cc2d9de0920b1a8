//! Plugins on the wire: a component is uploaded under a name and version.

use axum::{Json, extract::State, http::StatusCode};
use engine::CommandError;
use model::{
    Json as AnyJson,
    id::Uuid,
    plugin::{FactKinds, Hooks, Manifest},
};
use semver::Version as SemVer;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::wire::{Entity, Listed, Paging, ScopeName, Time, Ws, listed};
use crate::{
    app::App,
    extract::{Auth, Query, WasmBody, refused},
    problem::{Code, Problem},
};

/// One uploaded component under a name and version. Immutable.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Plugin {
    pub id: Uuid,
    #[schema(example = "approval")]
    pub name: String,
    #[schema(example = "1.0.0")]
    pub version: String,
    /// Which bytes.
    #[schema(example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    pub digest: String,
    pub manifest: PluginManifest,
    pub created_at: Time,
}

/// What a plugin says of itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PluginManifest {
    pub name: String,
    pub summary: String,
    /// What it rules on: gate, retry, sequence, verify.
    pub hooks: Vec<&'static str>,
    pub scope: ScopeName,
    /// What it decides from.
    pub facts: Vec<&'static str>,
    /// JSON Schema (2020-12) of a rule's configuration.
    pub config_schema: AnyJson,
}

impl From<model::plugin::Plugin> for Plugin {
    fn from(plugin: model::plugin::Plugin) -> Self {
        Self {
            id: plugin.id.0,
            name: plugin.name,
            version: plugin.version.to_string(),
            digest: plugin.digest.to_string(),
            manifest: plugin.manifest.into(),
            created_at: plugin.created_at.into(),
        }
    }
}

impl From<Manifest> for PluginManifest {
    fn from(manifest: Manifest) -> Self {
        Self {
            name: manifest.name,
            summary: manifest.summary,
            hooks: hooks(manifest.hooks),
            scope: manifest.scope.into(),
            facts: facts(manifest.facts),
            config_schema: manifest.config_schema,
        }
    }
}

fn hooks(hooks: Hooks) -> Vec<&'static str> {
    let Hooks { gate, retry, sequence, verify } = hooks;
    set(&[("gate", gate), ("retry", retry), ("sequence", sequence), ("verify", verify)])
}

fn facts(facts: FactKinds) -> Vec<&'static str> {
    let FactKinds { approvals, target_jobs, version_history, environment_progress, dependencies, rollout_position } =
        facts;
    set(&[
        ("approvals", approvals),
        ("targetJobs", target_jobs),
        ("versionHistory", version_history),
        ("environmentProgress", environment_progress),
        ("dependencies", dependencies),
        ("rolloutPosition", rollout_position),
    ])
}

fn set(flags: &[(&'static str, bool)]) -> Vec<&'static str> {
    flags.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect()
}

/// Under which name and version a component is taken in.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Under {
    /// The name that rules use.
    #[param(example = "freeze-on-friday")]
    name: String,
    /// A semantic version, such as 1.2.0.
    #[param(example = "1.2.0")]
    version: String,
}

/// Takes a component in. The same bytes again are answered with 200; a version never changes.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/plugins", tag = "policies", operation_id = "uploadPlugin",
    params(Ws, Under), request_body(content = String, content_type = "application/wasm"),
    responses(
        (status = 201, description = "Taken in.", body = Plugin),
        (status = 200, description = "It was there already.", body = Plugin),
    ))]
pub(crate) async fn upload(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(under): Query<Under>,
    WasmBody(bytes): WasmBody,
) -> Result<Entity<Plugin>, Problem> {
    let version: SemVer = under.version.parse().map_err(|error| {
        refused("version", &format!("`{}` is not a semantic version such as 1.2.0: {error}", under.version))
    })?;
    let uploaded = app.engine.upload_plugin(&caller, &under.name, version, bytes.to_vec()).await;
    let (plugin, created) = uploaded.map_err(|error| match error {
        // The fields of this command travel in the query.
        CommandError::Invalid(errors) => Problem::of_fields(Code::InvalidQuery, errors),
        other => other.into(),
    })?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Entity(status, plugin.into()))
}

/// Every plugin, by name, then upload.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/plugins", tag = "policies", operation_id = "listPlugins",
    params(Ws, Paging), responses((status = 200, description = "A page of the list.", body = Listed<Plugin>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Auth(caller): Auth,
    Query(paging): Query<Paging>,
) -> Result<Json<Listed<Plugin>>, Problem> {
    let page = paging.page()?;
    let mut tx = app.store.read("api.plugin.list").await?;
    Ok(listed(store::plugin::list(&mut tx, caller.workspace, page).await?, page))
}
