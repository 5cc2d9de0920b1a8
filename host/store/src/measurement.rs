//! Measurements: wanted by a plan, claimed by whoever takes them, and taken once. What was taken never changes.

use model::{
    Json,
    id::{DeploymentId, JobId, MeasurementId, RuleId, WorkspaceId},
    time::Timestamp,
    verification::Measurement,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    StoreError, Tx,
    many::{Many, all_many, run_many},
    planned::planned_releases,
    row::{Id, Place, instant, json, millis, text},
    tx::{all, one, run},
};

macro_rules! select {
    ($name:literal, $($rest:expr),+) => {
        concat!(
            "-- measurement.",
            $name,
            "\nSELECT m.id, m.workspace_id, m.job_id, m.rule_id, m.metric, m.due_at, m.taken_at, m.value, m.error\n",
            "FROM measurements m ",
            $($rest),+
        )
    };
}

const INSERT: Many = Many {
    sql: "-- measurement.insert
INSERT INTO measurements (id, workspace_id, job_id, rule_id, metric, due_at, taken_at, value, error) VALUES ",
    fixed: 0,
    columns: 9,
    tail: " ON CONFLICT DO NOTHING RETURNING id",
};
const UNWANT: Many = Many {
    sql: "-- measurement.unwant
DELETE FROM measurements WHERE taken_at IS NULL AND job_id IN (",
    fixed: 0,
    columns: 1,
    tail: ")",
};
// The outer conditions stand again because PostgreSQL looks at them anew when it had to wait for a row.
const CLAIM: &str = "-- measurement.claim_due
UPDATE measurements SET claimed_until = $2
WHERE id IN (
    SELECT id FROM measurements
    WHERE taken_at IS NULL AND due_at <= $1 AND (claimed_until IS NULL OR claimed_until <= $1)
    ORDER BY due_at, id LIMIT $3)
  AND taken_at IS NULL AND (claimed_until IS NULL OR claimed_until <= $1)
RETURNING id, workspace_id, job_id, rule_id, metric, due_at, taken_at, value, error";
const POSTPONE: &str = "-- measurement.postpone
UPDATE measurements SET claimed_until = $2 WHERE id = $1 AND taken_at IS NULL";
const TAKE: &str = "-- measurement.take
UPDATE measurements SET taken_at = $2, value = $3, error = $4, claimed_until = NULL WHERE id = $1 AND taken_at IS NULL";
const NEXT_DUE: &str = "-- measurement.next_due_at
SELECT MIN(CASE WHEN claimed_until > due_at THEN claimed_until ELSE due_at END) AS at
FROM measurements WHERE taken_at IS NULL";
const WANTED: &str =
    select!("wanted", "WHERE m.job_id = $1 AND m.metric = $2 AND m.taken_at IS NULL ORDER BY m.due_at, m.id");
const OF_JOB: &str = select!("of_job", "WHERE m.workspace_id = $1 AND m.job_id = $2 ORDER BY m.due_at, m.id");
// Those of the jobs that `job.for_planning` gives, while it is not settled whether they are well.
const FOR_PLANNING: &str = select!(
    "for_planning",
    "JOIN jobs j ON j.id = m.job_id JOIN releases r ON r.id = j.release_id\nWHERE j.verified IS NULL AND ",
    planned_releases!(),
    "\nORDER BY m.due_at, m.id"
);
pub(crate) const ALL: &[&str] = &[CLAIM, POSTPONE, TAKE, NEXT_DUE, WANTED, OF_JOB, FOR_PLANNING];
pub(crate) const MANY: &[Many] = &[INSERT, UNWANT];

/// Adds a measurement as it stands; false when one of that metric is wanted already.
pub async fn insert(tx: &mut Tx, measurement: &Measurement) -> Result<bool, StoreError> {
    Ok(!insert_all(tx, &[measurement]).await?.is_empty())
}

/// Takes over up to `limit` that are due, those that are due longest first. Nobody else gets them until `until`.
pub async fn claim_due(tx: &mut Tx, until: Timestamp, limit: u32) -> Result<Vec<Measurement>, StoreError> {
    let now = tx.now().as_millis();
    let rows = all!(tx, Row, CLAIM, now, until.as_millis(), i64::from(limit))?;
    let mut claimed = rows.into_iter().map(Measurement::try_from).collect::<Result<Vec<_>, _>>()?;
    claimed.sort_by_key(|measurement| (measurement.due_at, measurement.id));
    Ok(claimed)
}

/// Leaves one that is wanted alone until then.
pub async fn postpone(tx: &mut Tx, id: MeasurementId, until: Timestamp) -> Result<(), StoreError> {
    run!(tx, POSTPONE, id.0, until.as_millis())?;
    Ok(())
}

/// Writes what was seen, or why nothing could be; false when it is taken already, or not wanted any more.
pub async fn take(tx: &mut Tx, id: MeasurementId, seen: &Result<Json, String>) -> Result<bool, StoreError> {
    let now = tx.now().as_millis();
    let (value, error) = columns(Some(seen));
    Ok(run!(tx, TAKE, id.0, now, value, error)? == 1)
}

/// When one is due next; an instant in the past when one is now.
pub async fn next_due_at(tx: &mut Tx) -> Result<Option<Timestamp>, StoreError> {
    Ok(one!(tx, Due, NEXT_DUE)?.and_then(|row| instant(row.at)))
}

/// What is wanted of a metric of a job, one for each rule.
pub async fn wanted(tx: &mut Tx, job: JobId, metric: &str) -> Result<Vec<Measurement>, StoreError> {
    all!(tx, Row, WANTED, job.0, text(metric))?.into_iter().map(Measurement::try_from).collect()
}

/// Every measurement of a job, wanted or taken, by when it was due.
pub async fn of_job(tx: &mut Tx, workspace: WorkspaceId, job: JobId) -> Result<Vec<Measurement>, StoreError> {
    all!(tx, Row, OF_JOB, workspace.0, job.0)?.into_iter().map(Measurement::try_from).collect()
}

/// Measurements of those of a pass's jobs that are not settled, by when they were due.
pub(crate) async fn for_planning(tx: &mut Tx, deployment: DeploymentId) -> Result<Vec<Measurement>, StoreError> {
    all!(tx, Row, FOR_PLANNING, deployment.0)?.into_iter().map(Measurement::try_from).collect()
}

/// Adds measurements, but for what is wanted already; gives the ids of those added. Whoever takes them is woken after
/// the commit.
pub(crate) async fn insert_all(tx: &mut Tx, measurements: &[&Measurement]) -> Result<Vec<MeasurementId>, StoreError> {
    let rows = all_many!(tx, Id, INSERT, [], measurements, |measurement| [
        measurement.id.0,
        measurement.workspace.0,
        measurement.job.0,
        measurement.rule.0,
        text(&measurement.metric),
        measurement.due_at.as_millis(),
        millis(measurement.taken.as_ref().map(|(at, _)| *at)),
        columns(measurement.taken.as_ref().map(|(_, seen)| seen)).0,
        columns(measurement.taken.as_ref().map(|(_, seen)| seen)).1,
    ]);
    tx.pending.measuring |= measurements.iter().any(|measurement| measurement.taken.is_none());
    Ok(rows.into_iter().map(|row| row.id.into()).collect())
}

/// What is wanted of these jobs is not wanted any more.
pub(crate) async fn unwant_all(tx: &mut Tx, jobs: &[JobId]) -> Result<(), StoreError> {
    run_many!(tx, UNWANT, [], jobs, |job| [job.0]);
    Ok(())
}

/// What was seen as cells: the value, and the error.
fn columns(seen: Option<&Result<Json, String>>) -> (Option<String>, Option<String>) {
    match seen {
        None => (None, None),
        Some(Ok(value)) => (Some(json(value)), None),
        Some(Err(error)) => (None, Some(text(error).into_owned())),
    }
}

#[derive(FromRow)]
struct Due {
    at: Option<i64>,
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    workspace_id: Uuid,
    job_id: Uuid,
    rule_id: Uuid,
    metric: String,
    due_at: i64,
    taken_at: Option<i64>,
    value: Option<String>,
    error: Option<String>,
}

impl TryFrom<Row> for Measurement {
    type Error = StoreError;
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let place = Place { table: "measurements", id: &row.id };
        let taken = match (instant(row.taken_at), row.value, row.error) {
            (None, None, None) => None,
            (Some(at), Some(value), None) => Some((at, Ok(place.json("value", &value)?))),
            (Some(at), None, Some(error)) => Some((at, Err(error))),
            _ => return Err(place.bad("taken_at", "must be set exactly when one of `value` and `error` is")),
        };
        Ok(Self {
            id: row.id.into(),
            workspace: row.workspace_id.into(),
            job: row.job_id.into(),
            rule: RuleId(row.rule_id),
            metric: row.metric,
            due_at: Timestamp::from_millis(row.due_at),
            taken,
        })
    }
}
