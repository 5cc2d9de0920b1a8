//! Jobs. What may become of one is the model's to say; here a state goes into its columns and comes back whole.

use model::{
    id::{JobAgentId, JobId, ReleaseId, VersionId, WorkspaceId},
    job::{Job, JobKind},
    job_state::{JobState, JobStatus, Lease, LeaseToken},
    question::Intent,
    release_target::TargetKey,
    time::Timestamp,
    verification::Verified,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    Listed, Page, StoreError, Tx,
    many::{Many, all_many, run_many},
    planned::planned_releases,
    row::{Id, Place, instant, json, labels, millis, text},
    tx::{all, count, one},
};

/// What every query of jobs selects, from `jobs j`.
macro_rules! select {
    ($name:literal, $($rest:expr),+) => {
        concat!(
            "-- job.",
            $name,
            "\nSELECT j.id, j.workspace_id, j.release_id, j.deployment_id, j.environment_id, j.resource_id,\n",
            "  j.version_id, j.kind, j.agent_id, j.attempt, j.available_at, j.priority, j.lease_seconds,\n",
            "  j.deadline_seconds, j.config, j.context, j.external_id, j.links, j.message, j.created_at,\n",
            "  j.updated_at, j.status, j.offers, j.lease_token, j.lease_holder, j.lease_since, j.lease_until,\n",
            "  j.started_at, j.ended_at, j.cancel_requested_at, j.intent, j.verified\nFROM jobs j ",
            $($rest),+
        )
    };
}
/// The same with the names that people know things by.
macro_rules! select_named {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- job.",
            $name,
            "\nSELECT j.id, j.workspace_id, j.release_id, j.deployment_id, j.environment_id, j.resource_id,\n",
            "  j.version_id, j.kind, j.agent_id, j.attempt, j.available_at, j.priority, j.lease_seconds,\n",
            "  j.deadline_seconds, j.config, j.context, j.external_id, j.links, j.message, j.created_at,\n",
            "  j.updated_at, j.status, j.offers, j.lease_token, j.lease_holder, j.lease_since, j.lease_until,\n",
            "  j.started_at, j.ended_at, j.cancel_requested_at, j.intent, j.verified,\n",
            "  d.name AS deployment_name, e.name AS environment_name, r.identifier AS resource_identifier,\n",
            "  r.name AS resource_name, v.tag AS version_tag\n",
            "FROM jobs j JOIN deployments d ON d.id = j.deployment_id JOIN environments e ON e.id = j.environment_id\n",
            "  JOIN resources r ON r.id = j.resource_id JOIN versions v ON v.id = j.version_id\n",
            $rest
        )
    };
}
pub(crate) use select;

const GET: &str = select!("get", "WHERE j.workspace_id = $1 AND j.id = $2");
const GET_NAMED: &str = select_named!("get_named", "WHERE j.workspace_id = $1 AND j.id = $2");
const LIST: &str = select_named!(
    "list",
    "WHERE j.workspace_id = $1 AND (j.status = $2 OR $2 IS NULL) AND (j.deployment_id = $3 OR $3 IS NULL)
  AND (j.environment_id = $4 OR $4 IS NULL) AND (j.resource_id = $5 OR $5 IS NULL)
  AND (j.agent_id = $6 OR $6 IS NULL) AND (j.release_id = $7 OR $7 IS NULL)
ORDER BY j.created_at, j.id LIMIT $8 OFFSET $9"
);
const COUNT: &str = "-- job.count
SELECT COUNT(*) AS count FROM jobs j
WHERE j.workspace_id = $1 AND (j.status = $2 OR $2 IS NULL) AND (j.deployment_id = $3 OR $3 IS NULL)
  AND (j.environment_id = $4 OR $4 IS NULL) AND (j.resource_id = $5 OR $5 IS NULL)
  AND (j.agent_id = $6 OR $6 IS NULL) AND (j.release_id = $7 OR $7 IS NULL)";
// Those of the releases that `release.for_planning` gives.
const FOR_PLANNING: &str = select!(
    "for_planning",
    "JOIN releases r ON r.id = j.release_id\nWHERE ",
    planned_releases!(),
    "\nORDER BY j.created_at, j.id"
);
const LEASE_ON_TARGET: &str = select!(
    "leased_on_target",
    "WHERE j.deployment_id = $1 AND j.environment_id = $2 AND j.resource_id = $3
  AND j.ended_at IS NULL AND j.lease_token IS NOT NULL
ORDER BY j.lease_token DESC LIMIT 1"
);
// Two jobs of one release are never unfinished at once: the second is not added.
const INSERT: Many = Many {
    sql: "-- job.insert
INSERT INTO jobs (id, workspace_id, release_id, deployment_id, environment_id, resource_id, version_id, kind, agent_id,
  attempt, available_at, priority, lease_seconds, deadline_seconds, config, context, external_id, links, message,
  created_at, updated_at, status, offers, lease_token, lease_holder, lease_since, lease_until, started_at, ended_at,
  cancel_requested_at, intent, verified)
VALUES ",
    fixed: 0,
    columns: 32,
    tail: " ON CONFLICT DO NOTHING RETURNING id",
};
const SAVE: Many = Many {
    sql: "-- job.save
WITH v(id, available_at, external_id, links, message, updated_at, status, offers, lease_token, lease_holder, lease_since,
  lease_until, started_at, ended_at, cancel_requested_at) AS (VALUES ",
    fixed: 0,
    columns: 15,
    tail: ")
UPDATE jobs SET available_at = v.available_at, external_id = v.external_id, links = v.links, message = v.message,
  updated_at = v.updated_at, status = v.status, offers = v.offers, lease_token = v.lease_token,
  lease_holder = v.lease_holder, lease_since = v.lease_since, lease_until = v.lease_until,
  started_at = v.started_at, ended_at = v.ended_at, cancel_requested_at = v.cancel_requested_at
FROM v WHERE jobs.id = v.id AND jobs.ended_at IS NULL",
};
/// What SAVE's binds are on PostgreSQL, which cannot tell from the text alone.
pub(crate) const SAVE_TYPES: &[&str] = &[
    "uuid", "int8", "text", "text", "text", "int8", "text", "int8", "int8", "text", "int8", "int8", "int8", "int8",
    "int8",
];
// Settled once, and only of what has ended.
const SETTLE: Many = Many {
    sql: "-- job.settle_verification
WITH s(job, outcome, seen, at) AS (VALUES ",
    fixed: 0,
    columns: 4,
    tail: ")
UPDATE jobs SET verified = s.outcome, updated_at = s.at,
  message = CASE WHEN s.seen = '' THEN jobs.message ELSE s.seen END
FROM s WHERE jobs.id = s.job AND jobs.verified IS NULL AND jobs.ended_at IS NOT NULL
RETURNING id",
};
/// What SETTLE's binds are on PostgreSQL.
pub(crate) const SETTLE_TYPES: &[&str] = &["uuid", "text", "text", "int8"];
const UNFINISHED: &str = "-- job.unfinished
SELECT id FROM jobs WHERE release_id = $1 AND ended_at IS NULL ORDER BY id";
const LAST_BEGUN: &str = select!(
    "last_begun",
    "WHERE j.deployment_id = $1 AND j.environment_id = $2 AND j.resource_id = $3 AND j.kind = 'deploy'
  AND (j.started_at IS NOT NULL OR (j.ended_at IS NULL AND j.lease_token IS NOT NULL))
ORDER BY j.created_at DESC, j.id DESC LIMIT 1"
);
const GOOD_VERSIONS: &str = "-- job.good_versions
SELECT version_id AS id FROM jobs
WHERE deployment_id = $1 AND environment_id = $2 AND resource_id = $3 AND kind = 'deploy' AND status = 'completed'
  AND verified IN ('not_asked', 'passed')
GROUP BY version_id ORDER BY MAX(ended_at) DESC, MAX(created_at) DESC, version_id DESC";
pub(crate) const ALL: &[&str] =
    &[GET, GET_NAMED, LIST, COUNT, FOR_PLANNING, LEASE_ON_TARGET, UNFINISHED, LAST_BEGUN, GOOD_VERSIONS];
const NAMED: Many = Many {
    sql: select_named!("named", "WHERE j.id IN ("),
    fixed: 0,
    columns: 1,
    tail: ") ORDER BY j.available_at, j.priority DESC, j.id",
};
pub(crate) const MANY: &[Many] = &[INSERT, SAVE, NAMED, SETTLE];

/// Which jobs to list; whatever is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// In this status.
    pub status: Option<JobStatus>,
    /// Of this deployment.
    pub deployment: Option<model::id::DeploymentId>,
    /// Of this agent.
    pub agent: Option<JobAgentId>,
    /// Of this target.
    pub target: Option<TargetKey>,
    /// Of this release.
    pub release: Option<ReleaseId>,
}

/// A job with the names that people know its parts by.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedJob {
    /// The job.
    pub job: Job,
    /// Its deployment's name.
    pub deployment_name: String,
    /// Its environment's name.
    pub environment_name: String,
    /// Its resource's identifier.
    pub resource_identifier: String,
    /// Its resource's name.
    pub resource_name: String,
    /// Its version's tag.
    pub version_tag: String,
}

/// The job with this id.
pub async fn get(tx: &mut Tx, workspace: WorkspaceId, id: JobId) -> Result<Option<Job>, StoreError> {
    one!(tx, Row, GET, workspace.0, id.0)?.map(Job::try_from).transpose()
}

/// The job with this id, with names.
pub async fn get_named(tx: &mut Tx, workspace: WorkspaceId, id: JobId) -> Result<Option<NamedJob>, StoreError> {
    one!(tx, NamedRow, GET_NAMED, workspace.0, id.0)?.map(NamedJob::try_from).transpose()
}

/// Jobs, oldest first.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: Filter,
    page: Page,
) -> Result<Listed<NamedJob>, StoreError> {
    let status = filter.status.map(JobStatus::name);
    let deployment = filter.deployment.or(filter.target.map(|key| key.deployment)).map(|id| id.0);
    let environment = filter.target.map(|key| key.environment.0);
    let resource = filter.target.map(|key| key.resource.0);
    let (agent, release) = (filter.agent.map(|id| id.0), filter.release.map(|id| id.0));
    let (limit, offset) = (page.limit(), page.offset());
    let ws = workspace.0;
    let rows = all!(tx, NamedRow, LIST, ws, status, deployment, environment, resource, agent, release, limit, offset)?;
    let items = rows.into_iter().map(NamedJob::try_from).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, count!(tx, COUNT, ws, status, deployment, environment, resource, agent, release)?))
}

/// The jobs with these ids, with names, in the order in which they are handed out.
pub async fn named(tx: &mut Tx, ids: &[JobId]) -> Result<Vec<NamedJob>, StoreError> {
    all_many!(tx, NamedRow, NAMED, [], ids, |id| [id.0]).into_iter().map(NamedJob::try_from).collect()
}

/// Every job of the releases that a pass over this deployment looks at, oldest first.
pub(crate) async fn for_planning(tx: &mut Tx, deployment: model::id::DeploymentId) -> Result<Vec<Job>, StoreError> {
    all!(tx, Row, FOR_PLANNING, deployment.0)?.into_iter().map(Job::try_from).collect()
}

/// The job that somebody holds on this target under the highest token, if anybody does.
pub async fn leased_on_target(tx: &mut Tx, key: TargetKey) -> Result<Option<Job>, StoreError> {
    let row = one!(tx, Row, LEASE_ON_TARGET, key.deployment.0, key.environment.0, key.resource.0)?;
    row.map(Job::try_from).transpose()
}

/// Jobs of a release that have not ended.
pub async fn unfinished(tx: &mut Tx, release: ReleaseId) -> Result<Vec<JobId>, StoreError> {
    Ok(all!(tx, Id, UNFINISHED, release.0)?.into_iter().map(|row| row.id.into()).collect())
}

/// The newest job that brought a version to the target, or that an agent has in hand: one that nobody began changed
/// nothing there.
pub async fn last_begun(tx: &mut Tx, key: TargetKey) -> Result<Option<Job>, StoreError> {
    let row = one!(tx, Row, LAST_BEGUN, key.deployment.0, key.environment.0, key.resource.0)?;
    row.map(Job::try_from).transpose()
}

/// Versions that came to the target with a success that stands, the latest first, each once.
pub async fn good_versions(tx: &mut Tx, key: TargetKey) -> Result<Vec<VersionId>, StoreError> {
    let rows = all!(tx, Id, GOOD_VERSIONS, key.deployment.0, key.environment.0, key.resource.0)?;
    Ok(rows.into_iter().map(|row| row.id.into()).collect())
}

/// Settles the verification of those of the jobs that have ended and are not settled; gives their ids. What was seen
/// becomes their message, unless it is empty.
pub(crate) async fn settle_all(tx: &mut Tx, settled: &[(JobId, (Verified, &str))]) -> Result<Vec<JobId>, StoreError> {
    let now = tx.now().as_millis();
    let rows =
        all_many!(tx, Id, SETTLE, [], settled, |(job, (verified, seen))| [job.0, verified.name(), text(seen), now]);
    Ok(rows.into_iter().map(|row| row.id.into()).collect())
}

/// Adds jobs as they stand, but for those whose release has an unfinished one; gives the ids of those added. Agents
/// that may claim one are woken after the commit.
pub async fn insert_all(tx: &mut Tx, jobs: &[Job]) -> Result<Vec<JobId>, StoreError> {
    let jobs: Vec<(&Job, Columns<'_>)> = jobs.iter().map(|job| (job, Columns::of(&job.state))).collect();
    let rows = all_many!(tx, Id, INSERT, [], jobs, |(job, state)| [
        job.id.0,
        job.workspace.0,
        job.release.0,
        job.target.deployment.0,
        job.target.environment.0,
        job.target.resource.0,
        job.version.0,
        job.kind.name(),
        job.agent.0,
        i64::from(job.attempt),
        job.available_at.as_millis(),
        job.priority,
        job.lease_seconds,
        job.deadline_seconds,
        json(&job.config),
        json(&job.context),
        job.external_id.as_deref().map(text),
        labels(&job.links),
        text(&job.message),
        job.created_at.as_millis(),
        job.updated_at.as_millis(),
        job.state.status().name(),
        state.offers,
        state.lease_token,
        state.lease_holder.map(text),
        state.lease_since,
        state.lease_until,
        state.started_at,
        state.ended_at,
        state.cancel_requested_at,
        job.intent.name(),
        job.verified.map(Verified::name),
    ]);
    let added: Vec<JobId> = rows.into_iter().map(|row| row.id.into()).collect();
    for (job, _) in &jobs {
        if matches!(job.state, JobState::Queued { .. }) && job.available_at <= tx.now() && added.contains(&job.id) {
            tx.wake_for_job(job.agent);
        }
    }
    Ok(added)
}

/// Writes what changes in the life of a job. One that has ended stays as it is.
pub async fn save(tx: &mut Tx, job: &Job) -> Result<(), StoreError> {
    save_all(tx, &[job]).await
}

/// [`save`] for many.
pub async fn save_all(tx: &mut Tx, jobs: &[&Job]) -> Result<(), StoreError> {
    let jobs: Vec<(&Job, Columns<'_>)> = jobs.iter().map(|job| (*job, Columns::of(&job.state))).collect();
    run_many!(tx, SAVE, [], jobs, |(job, state)| [
        job.id.0,
        job.available_at.as_millis(),
        job.external_id.as_deref().map(text),
        labels(&job.links),
        text(&job.message),
        job.updated_at.as_millis(),
        job.state.status().name(),
        state.offers,
        state.lease_token,
        state.lease_holder.map(text),
        state.lease_since,
        state.lease_until,
        state.started_at,
        state.ended_at,
        state.cancel_requested_at,
    ]);
    Ok(())
}

/// A state as cells, but for its status.
#[derive(Default)]
struct Columns<'a> {
    offers: i64,
    lease_token: Option<i64>,
    lease_holder: Option<&'a str>,
    lease_since: Option<i64>,
    lease_until: Option<i64>,
    started_at: Option<i64>,
    ended_at: Option<i64>,
    cancel_requested_at: Option<i64>,
}

impl<'a> Columns<'a> {
    fn of(state: &'a JobState) -> Self {
        let lease = state.lease();
        let mut columns = Self {
            lease_token: lease.map(|lease| lease.token.0),
            lease_holder: lease.map(|lease| lease.holder.as_str()),
            lease_since: lease.map(|lease| lease.since.as_millis()),
            lease_until: lease.map(|lease| lease.until.as_millis()),
            started_at: millis(state.started_at()),
            ended_at: millis(state.ended_at()),
            ..Self::default()
        };
        match state {
            JobState::Pending | JobState::Triggered { .. } => {}
            JobState::Queued { offers } | JobState::Offered { offers, .. } => columns.offers = i64::from(*offers),
            JobState::Running { cancel_requested_at, .. } => columns.cancel_requested_at = millis(*cancel_requested_at),
            JobState::Ended { token, .. } => columns.lease_token = token.map(|token| token.0),
        }
        columns
    }
}

#[derive(FromRow)]
pub(crate) struct Row {
    id: Uuid,
    workspace_id: Uuid,
    release_id: Uuid,
    deployment_id: Uuid,
    environment_id: Uuid,
    resource_id: Uuid,
    version_id: Uuid,
    kind: String,
    agent_id: Uuid,
    attempt: i64,
    available_at: i64,
    priority: i64,
    lease_seconds: i64,
    deadline_seconds: i64,
    config: String,
    context: String,
    external_id: Option<String>,
    links: String,
    message: String,
    created_at: i64,
    updated_at: i64,
    status: String,
    offers: i64,
    lease_token: Option<i64>,
    lease_holder: Option<String>,
    lease_since: Option<i64>,
    lease_until: Option<i64>,
    started_at: Option<i64>,
    ended_at: Option<i64>,
    cancel_requested_at: Option<i64>,
    intent: String,
    verified: Option<String>,
}

impl Row {
    fn state(&self, place: &Place<'_>) -> Result<JobState, StoreError> {
        let status = place.word("status", &self.status, JobStatus::parse)?;
        let offers = place.count("offers", self.offers)?;
        let lease = || -> Result<Lease, StoreError> {
            Ok(Lease {
                token: LeaseToken(place.needed("lease_token", self.lease_token)?),
                holder: place.needed("lease_holder", self.lease_holder.clone())?,
                since: place.needed("lease_since", instant(self.lease_since))?,
                until: place.needed("lease_until", instant(self.lease_until))?,
            })
        };
        let started_at = || place.needed("started_at", instant(self.started_at));
        if self.ended_at.is_some() != status.is_final() {
            return Err(place.bad("ended_at", format!("does not go with the status `{}`", status.name())));
        }
        Ok(match status {
            JobStatus::Pending => JobState::Pending,
            JobStatus::Queued if self.lease_token.is_none() => JobState::Queued { offers },
            JobStatus::Queued => JobState::Offered { lease: lease()?, offers },
            JobStatus::Triggered => JobState::Triggered { started_at: started_at()? },
            JobStatus::InProgress | JobStatus::ActionRequired => JobState::Running {
                lease: lease()?,
                started_at: started_at()?,
                action_required: status == JobStatus::ActionRequired,
                cancel_requested_at: instant(self.cancel_requested_at),
            },
            JobStatus::Completed
            | JobStatus::Failed
            | JobStatus::Cancelled
            | JobStatus::Skipped
            | JobStatus::InvalidJobAgent
            | JobStatus::InvalidIntegration
            | JobStatus::ExternalRunNotFound => JobState::Ended {
                status: place.needed("status", status.as_final())?,
                started_at: instant(self.started_at),
                ended_at: place.needed("ended_at", instant(self.ended_at))?,
                token: self.lease_token.map(LeaseToken),
            },
        })
    }
}

impl TryFrom<Row> for Job {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "jobs", id: &row.id };
        Ok(Self {
            state: row.state(&place)?,
            kind: place.word("kind", &row.kind, JobKind::parse)?,
            intent: place.word("intent", &row.intent, Intent::parse)?,
            verified: row.verified.as_deref().map(|word| place.word("verified", word, Verified::parse)).transpose()?,
            attempt: place.count("attempt", row.attempt)?,
            config: place.json("config", &row.config)?,
            context: place.json("context", &row.context)?,
            links: place.labels("links", &row.links)?,
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            release: row.release_id.into(),
            target: TargetKey {
                deployment: row.deployment_id.into(),
                environment: row.environment_id.into(),
                resource: row.resource_id.into(),
            },
            version: row.version_id.into(),
            agent: row.agent_id.into(),
            available_at: Timestamp::from_millis(row.available_at),
            priority: row.priority,
            lease_seconds: row.lease_seconds,
            deadline_seconds: row.deadline_seconds,
            external_id: row.external_id,
            message: row.message,
            created_at: Timestamp::from_millis(row.created_at),
            updated_at: Timestamp::from_millis(row.updated_at),
        })
    }
}

#[derive(FromRow)]
struct NamedRow {
    #[sqlx(flatten)]
    job: Row,
    deployment_name: String,
    environment_name: String,
    resource_identifier: String,
    resource_name: String,
    version_tag: String,
}

impl TryFrom<NamedRow> for NamedJob {
    type Error = StoreError;
    fn try_from(row: NamedRow) -> Result<Self, StoreError> {
        Ok(Self {
            job: row.job.try_into()?,
            deployment_name: row.deployment_name,
            environment_name: row.environment_name,
            resource_identifier: row.resource_identifier,
            resource_name: row.resource_name,
            version_tag: row.version_tag,
        })
    }
}
