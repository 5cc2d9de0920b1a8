//! Policies with their rules. Rules keep the ids they are given.

use std::{collections::BTreeMap, sync::Arc};

use model::{
    id::{PolicyId, WorkspaceId},
    plugin::{PluginRef, Scope},
    policy::{OnError, Order, Policy, Rule, RuleKey, RuleMode},
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    many::{Many, all_many, run_many},
    row::{Place, expect_one, json, labels, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- policy.",
            $name,
            "\nSELECT id, workspace_id, name, description, selector, priority, enabled, metadata, created_at\n",
            "FROM policies ",
            $rest
        )
    };
}

const INSERT: &str = "-- policy.insert
INSERT INTO policies (id, workspace_id, name, description, selector, priority, enabled, metadata, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const UPDATE: &str = "-- policy.update
UPDATE policies SET name = $3, description = $4, selector = $5, priority = $6, enabled = $7, metadata = $8
WHERE id = $1 AND workspace_id = $2";
const GET: &str = select!("get", "WHERE workspace_id = $1 AND id = $2");
const BY_NAME: &str = select!("by_name", "WHERE workspace_id = $1 AND name = $2");
const LIST: &str = select!("list", "WHERE workspace_id = $1 ORDER BY name LIMIT $2 OFFSET $3");
const COUNT: &str = "-- policy.count
SELECT COUNT(*) AS count FROM policies WHERE workspace_id = $1";
const EVERY: &str = select!("all", "WHERE workspace_id = $1 ORDER BY priority DESC, name");
const ENABLED: &str = select!("enabled", "WHERE workspace_id = $1 AND enabled ORDER BY priority DESC, name");
const DROP_RULES: &str = "-- policy.drop_rules
DELETE FROM rules WHERE policy_id = $1";
const DELETE: &str = "-- policy.delete
DELETE FROM policies WHERE id = $1";
const INSERT_RULES: Many = Many {
    sql: "-- policy.insert_rules
INSERT INTO rules (id, policy_id, position, rule_key, plugin_name, plugin_range, config, mode, on_error, scope, created_at,
  any_of, applies_to_first, version_order)
VALUES ",
    fixed: 0,
    columns: 14,
    tail: "",
};
const RULES: Many = Many {
    sql: "-- policy.rules
SELECT id, policy_id, rule_key, plugin_name, plugin_range, config, mode, on_error, scope, created_at, any_of,
  applies_to_first, version_order
FROM rules WHERE policy_id IN (",
    fixed: 0,
    columns: 1,
    tail: ") ORDER BY policy_id, position",
};
pub(crate) const ALL: &[&str] = &[INSERT, UPDATE, GET, BY_NAME, LIST, COUNT, EVERY, ENABLED, DROP_RULES, DELETE];
pub(crate) const MANY: &[Many] = &[INSERT_RULES, RULES];

/// Adds a policy with its rules.
pub async fn insert(tx: &mut Tx, policy: &Policy) -> Result<(), StoreError> {
    run!(
        tx,
        INSERT,
        policy.id.0,
        policy.workspace.0,
        text(&policy.name),
        text(&policy.description),
        text(&policy.selector),
        policy.priority,
        policy.enabled,
        labels(&policy.metadata),
        policy.created_at.as_millis(),
    )?;
    insert_rules(tx, policy).await
}

/// Writes all but id, workspace and creation; the rules become those given.
pub async fn update(tx: &mut Tx, policy: &Policy) -> Result<(), StoreError> {
    let changed = run!(
        tx,
        UPDATE,
        policy.id.0,
        policy.workspace.0,
        text(&policy.name),
        text(&policy.description),
        text(&policy.selector),
        policy.priority,
        policy.enabled,
        labels(&policy.metadata),
    )?;
    expect_one(changed, "policies", &policy.id)?;
    run!(tx, DROP_RULES, policy.id.0)?;
    insert_rules(tx, policy).await
}

/// Removes a policy with its rules; what was decided under them stays readable.
pub async fn delete(tx: &mut Tx, id: PolicyId) -> Result<(), StoreError> {
    run!(tx, DROP_RULES, id.0)?;
    let changed = run!(tx, DELETE, id.0)?;
    expect_one(changed, "policies", &id)
}

/// The policy with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: PolicyId) -> Result<Option<Policy>, StoreError> {
    let row = one!(tx, Row, GET, workspace.0, id.0)?;
    Ok(with_rules(tx, row.into_iter().collect()).await?.pop())
}

/// The policy with this name.
pub async fn by_name(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<Option<Policy>, StoreError> {
    let row = one!(tx, Row, BY_NAME, workspace.0, text(name))?;
    Ok(with_rules(tx, row.into_iter().collect()).await?.pop())
}

/// Policies by name.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, page: Page) -> Result<Listed<Policy>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, page.limit(), page.offset())?;
    let items = with_rules(tx, rows).await?;
    Ok(Listed::new(items, count!(tx, COUNT, workspace.0)?))
}

/// Every policy: priority high to low, then name.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Policy>, StoreError> {
    let rows = all!(tx, Row, EVERY, workspace.0)?;
    with_rules(tx, rows).await
}

/// Every enabled policy: priority high to low, then name.
pub async fn enabled(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Policy>, StoreError> {
    let rows = all!(tx, Row, ENABLED, workspace.0)?;
    with_rules(tx, rows).await
}

async fn insert_rules(tx: &mut Tx, policy: &Policy) -> Result<(), StoreError> {
    let rules: Vec<(i64, &Rule)> = (0..).zip(policy.rules.iter().map(Arc::as_ref)).collect();
    run_many!(tx, INSERT_RULES, [], rules, |(position, rule)| [
        rule.id.0,
        policy.id.0,
        *position,
        rule.key.name(),
        text(&rule.plugin.name),
        rule.plugin.range.to_string(),
        json(&rule.config),
        rule.mode.name(),
        rule.on_error.name(),
        rule.scope.map(Scope::name),
        rule.created_at.as_millis(),
        rule.any_of.as_deref().map(text),
        rule.applies_to_first,
        rule.order.name(),
    ]);
    Ok(())
}

async fn with_rules(tx: &mut Tx, rows: Vec<Row>) -> Result<Vec<Policy>, StoreError> {
    let mut rules: BTreeMap<Uuid, Vec<Arc<Rule>>> = BTreeMap::new();
    for row in all_many!(tx, RuleRow, RULES, [], rows, |row| [row.id]) {
        rules.entry(row.policy_id).or_default().push(Arc::new(row.try_into()?));
    }
    rows.into_iter()
        .map(|row| {
            let place = Place { table: "policies", id: &row.id };
            Ok(Policy {
                metadata: place.labels("metadata", &row.metadata)?,
                rules: rules.remove(&row.id).unwrap_or_default(),
                id: row.id.into(),
                workspace: row.workspace_id.into(),
                name: row.name,
                description: row.description,
                selector: row.selector,
                priority: row.priority,
                enabled: row.enabled,
                created_at: Timestamp::from_millis(row.created_at),
            })
        })
        .collect()
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    name: String,
    description: String,
    selector: String,
    priority: i64,
    enabled: bool,
    metadata: String,
    created_at: i64,
}

#[derive(FromRow)]
struct RuleRow {
    id: Uuid,
    policy_id: Uuid,
    rule_key: String,
    plugin_name: String,
    plugin_range: String,
    config: String,
    mode: String,
    on_error: String,
    scope: Option<String>,
    created_at: i64,
    any_of: Option<String>,
    applies_to_first: bool,
    version_order: String,
}

impl TryFrom<RuleRow> for Rule {
    type Error = StoreError;
    fn try_from(row: RuleRow) -> Result<Self, StoreError> {
        let place = Place { table: "rules", id: &row.id };
        let range = semver::VersionReq::parse(&row.plugin_range)
            .map_err(|error| place.bad("plugin_range", format!("no range of versions: {error}")))?;
        Ok(Self {
            key: place.word("rule_key", &row.rule_key, RuleKey::parse)?,
            config: place.json("config", &row.config)?,
            mode: place.word("mode", &row.mode, RuleMode::parse)?,
            on_error: place.word("on_error", &row.on_error, OnError::parse)?,
            scope: row.scope.as_deref().map(|scope| place.word("scope", scope, Scope::parse)).transpose()?,
            order: place.word("version_order", &row.version_order, Order::parse)?,
            id: row.id.into(),
            policy: row.policy_id.into(),
            plugin: PluginRef { name: row.plugin_name, range },
            created_at: Timestamp::from_millis(row.created_at),
            any_of: row.any_of,
            applies_to_first: row.applies_to_first,
        })
    }
}
