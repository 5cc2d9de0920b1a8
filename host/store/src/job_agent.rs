//! Job agents.

use model::{
    id::{JobAgentId, WorkspaceId},
    job_agent::{AgentType, JobAgent},
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    row::{Place, expect_one, json, text},
    tx::{all, count, one, run},
};

macro_rules! select {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- job_agent.",
            $name,
            "\nSELECT id, workspace_id, name, agent_type, config, lease_seconds, created_at FROM job_agents ",
            $rest
        )
    };
}

const INSERT: &str = "-- job_agent.insert
INSERT INTO job_agents (id, workspace_id, name, agent_type, config, lease_seconds, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)";
const UPDATE: &str = "-- job_agent.update
UPDATE job_agents SET name = $3, agent_type = $4, config = $5, lease_seconds = $6 WHERE id = $1 AND workspace_id = $2";
const GET: &str = select!("get", "WHERE workspace_id = $1 AND id = $2");
const BY_NAME: &str = select!("by_name", "WHERE workspace_id = $1 AND name = $2");
const LIST: &str = select!("list", "WHERE workspace_id = $1 ORDER BY name LIMIT $2 OFFSET $3");
const COUNT: &str = "-- job_agent.count
SELECT COUNT(*) AS count FROM job_agents WHERE workspace_id = $1";
const EVERY: &str = select!("all", "WHERE workspace_id = $1 ORDER BY name");
pub(crate) const ALL: &[&str] = &[INSERT, UPDATE, GET, BY_NAME, LIST, COUNT, EVERY];

/// Adds an agent.
pub async fn insert(tx: &mut Tx, agent: &JobAgent) -> Result<(), StoreError> {
    let JobAgent { id, workspace, name, agent_type, config, lease_seconds, created_at } = agent;
    let created_at = created_at.as_millis();
    run!(tx, INSERT, id.0, workspace.0, text(name), agent_type.name(), json(config), *lease_seconds, created_at)?;
    Ok(())
}

/// Writes all but id, workspace and creation.
pub async fn update(tx: &mut Tx, agent: &JobAgent) -> Result<(), StoreError> {
    let JobAgent { id, workspace, name, agent_type, config, lease_seconds, created_at: _ } = agent;
    let changed = run!(tx, UPDATE, id.0, workspace.0, text(name), agent_type.name(), json(config), *lease_seconds)?;
    expect_one(changed, "job_agents", id)
}

/// The agent with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: JobAgentId) -> Result<Option<JobAgent>, StoreError> {
    one!(tx, Row, GET, workspace.0, id.0)?.map(JobAgent::try_from).transpose()
}

/// The agent with this name.
pub async fn by_name(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<Option<JobAgent>, StoreError> {
    one!(tx, Row, BY_NAME, workspace.0, text(name))?.map(JobAgent::try_from).transpose()
}

/// Agents by name.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, page: Page) -> Result<Listed<JobAgent>, StoreError> {
    let rows = all!(tx, Row, LIST, workspace.0, page.limit(), page.offset())?;
    let items = rows.into_iter().map(JobAgent::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, workspace.0)?))
}

/// Every agent by name.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<JobAgent>, StoreError> {
    all!(tx, Row, EVERY, workspace.0)?.into_iter().map(JobAgent::try_from).collect()
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    name: String,
    agent_type: String,
    config: String,
    lease_seconds: i64,
    created_at: i64,
}

impl TryFrom<Row> for JobAgent {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "job_agents", id: &row.id };
        Ok(Self {
            agent_type: place.word("agent_type", &row.agent_type, AgentType::parse)?,
            config: place.json("config", &row.config)?,
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            name: row.name,
            lease_seconds: row.lease_seconds,
            created_at: Timestamp::from_millis(row.created_at),
        })
    }
}
