//! Plugins, and their bytes once per digest.

use model::{
    id::WorkspaceId,
    plugin::{Digest, FactKinds, Hooks, Manifest, Plugin, Scope},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    row::{Place, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- plugin.",
            $name,
            "\nSELECT id, workspace_id, name, version, digest, manifest, created_at FROM plugins ",
            $rest
        )
    };
}

const INSERT_BLOB: &str = "-- plugin.insert_blob
INSERT INTO plugin_blobs (digest, bytes) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING";
const INSERT: &str = "-- plugin.insert
INSERT INTO plugins (id, workspace_id, name, version, digest, manifest, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)";
const BYTES: &str = "-- plugin.bytes
SELECT bytes FROM plugin_blobs WHERE digest = $1";
const BY_VERSION: &str = select!("by_version", "WHERE workspace_id = $1 AND name = $2 AND version = $3");
const LIST: &str = select!("list", "WHERE workspace_id = $1 ORDER BY name, created_at, id LIMIT $2 OFFSET $3");
const COUNT: &str = "-- plugin.count
SELECT COUNT(*) AS count FROM plugins WHERE workspace_id = $1";
const EVERY: &str = select!("all", "WHERE workspace_id = $1 ORDER BY name, created_at, id");
pub(crate) const ALL: &[&str] = &[INSERT_BLOB, INSERT, BYTES, BY_VERSION, LIST, COUNT, EVERY];

/// Adds a plugin; its bytes are kept once for all that have the same digest.
pub async fn insert(tx: &mut Tx, plugin: &Plugin, bytes: &[u8]) -> Result<(), StoreError> {
    let digest = &plugin.digest.0[..];
    run!(tx, INSERT_BLOB, digest, bytes)?;
    run!(
        tx,
        INSERT,
        plugin.id.0,
        plugin.workspace.0,
        text(&plugin.name),
        plugin.version.to_string(),
        digest,
        manifest_text(&plugin.manifest),
        plugin.created_at.as_millis(),
    )?;
    Ok(())
}

/// The bytes with this digest.
pub async fn bytes(tx: &mut Tx, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(one!(tx, Blob, BYTES, &digest.0[..])?.map(|row| row.bytes))
}

/// The plugin of this name and exact version.
pub async fn by_version(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
    version: &semver::Version,
) -> Result<Option<Plugin>, StoreError> {
    one!(tx, Row, BY_VERSION, workspace.0, text(name), version.to_string())?.map(Plugin::try_from).transpose()
}

/// Plugins by name, then upload.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, page: Page) -> Result<Listed<Plugin>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, page.limit(), page.offset())?;
    let items = rows.into_iter().map(Plugin::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, workspace.0)?))
}

/// Every plugin by name, then upload.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Plugin>, StoreError> {
    all!(tx, Row, EVERY, workspace.0)?.into_iter().map(Plugin::try_from).collect()
}

#[derive(FromRow)]
struct Blob {
    bytes: Vec<u8>,
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    name: String,
    version: String,
    digest: Vec<u8>,
    manifest: String,
    created_at: i64,
}

impl TryFrom<Row> for Plugin {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "plugins", id: &row.id };
        let version = row.version.parse().map_err(|error| place.bad("version", format!("no version: {error}")))?;
        Ok(Self {
            digest: digest(&place, &row.digest)?,
            manifest: manifest(&place, &row.manifest)?,
            version,
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            name: row.name,
            created_at: Timestamp::from_millis(row.created_at),
        })
    }
}

pub(crate) fn digest(place: &Place<'_>, bytes: &[u8]) -> Result<Digest, StoreError> {
    let bytes = bytes.try_into().map_err(|_| place.bad("digest", format!("{} bytes, not 32", bytes.len())))?;
    Ok(Digest(bytes))
}

/// The manifest's cell. A field that is missing reads as "no", so that older rows stay readable when facts are added.
#[derive(Serialize, Deserialize)]
struct ManifestCell {
    name: String,
    summary: String,
    hooks: Vec<String>,
    scope: String,
    facts: Vec<String>,
    config_schema: model::Json,
}

fn manifest_text(manifest: &Manifest) -> String {
    let Hooks { gate, retry, sequence, verify } = manifest.hooks;
    let FactKinds { approvals, target_jobs, version_history, environment_progress, dependencies, rollout_position } =
        manifest.facts;
    let cell = ManifestCell {
        name: manifest.name.clone(),
        summary: manifest.summary.clone(),
        hooks: set(&[(gate, "gate"), (retry, "retry"), (sequence, "sequence"), (verify, "verify")]),
        scope: manifest.scope.name().to_owned(),
        facts: set(&[
            (approvals, "approvals"),
            (target_jobs, "target-jobs"),
            (version_history, "version-history"),
            (environment_progress, "environment-progress"),
            (dependencies, "dependencies"),
            (rollout_position, "rollout-position"),
        ]),
        config_schema: manifest.config_schema.clone(),
    };
    serde_json::to_string(&cell).expect("strings, lists of strings and JSON are JSON")
}

fn set(flags: &[(bool, &str)]) -> Vec<String> {
    flags.iter().filter(|(on, _)| *on).map(|(_, name)| (*name).to_owned()).collect()
}

fn manifest(place: &Place<'_>, text: &str) -> Result<Manifest, StoreError> {
    let cell: ManifestCell =
        serde_json::from_str(text).map_err(|error| place.bad("manifest", format!("no manifest: {error}")))?;
    let hook = |name: &str| cell.hooks.iter().any(|hook| hook == name);
    let fact = |name: &str| cell.facts.iter().any(|fact| fact == name);
    Ok(Manifest {
        hooks: Hooks { gate: hook("gate"), retry: hook("retry"), sequence: hook("sequence"), verify: hook("verify") },
        scope: place.word("manifest", &cell.scope, Scope::parse)?,
        facts: FactKinds {
            approvals: fact("approvals"),
            target_jobs: fact("target-jobs"),
            version_history: fact("version-history"),
            environment_progress: fact("environment-progress"),
            dependencies: fact("dependencies"),
            rollout_position: fact("rollout-position"),
        },
        name: cell.name,
        summary: cell.summary,
        config_schema: cell.config_schema,
    })
}
