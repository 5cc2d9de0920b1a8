//! What agents reported under their tokens: the one result that counted, and what came too late, as evidence.
//! Rows are added and never changed.

use model::{
    id::JobId,
    job_state::{JobStatus, LeaseToken},
    time::Timestamp,
};
use sqlx::FromRow;

use crate::{
    StoreError, Tx,
    row::{Place, text},
    tx::{all, run},
};

const INSERT: &str = "-- job_result.insert
INSERT INTO job_results (job_id, lease_token, at, accepted, status, body_hash, body) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (job_id, lease_token, body_hash) DO NOTHING";
const OF_JOB: &str = "-- job_result.of_job
SELECT lease_token, at, accepted, status, body_hash, body FROM job_results WHERE job_id = $1
ORDER BY at, lease_token, body_hash";
pub(crate) const ALL: &[&str] = &[INSERT, OF_JOB];

/// One report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobResult {
    /// Under which token.
    pub token: LeaseToken,
    /// When it came.
    pub at: Timestamp,
    /// Whether it counted; at most one of a job does.
    pub accepted: bool,
    /// What it said; progress that came too late counts as in progress.
    pub status: JobStatus,
    /// SHA-256 of what was sent.
    pub body_hash: [u8; 32],
    /// What was sent.
    pub body: String,
}

/// Adds a report; false when the same one is there already.
pub async fn insert(tx: &mut Tx, job: JobId, result: &JobResult) -> Result<bool, StoreError> {
    let JobResult { token, at, accepted, status, body_hash, body } = result;
    let inserted =
        run!(tx, INSERT, job.0, token.0, at.as_millis(), *accepted, status.name(), &body_hash[..], text(body))?;
    Ok(inserted == 1)
}

/// Reports of a job, oldest first.
pub async fn of_job(tx: &mut Tx, job: JobId) -> Result<Vec<JobResult>, StoreError> {
    all!(tx, Row, OF_JOB, job.0)?.into_iter().map(|row| row.result(job)).collect()
}

#[derive(FromRow)]
struct Row {
    lease_token: i64,
    at: i64,
    accepted: bool,
    status: String,
    body_hash: Vec<u8>,
    body: String,
}

impl Row {
    fn result(self, job: JobId) -> Result<JobResult, StoreError> {
        let place = Place { table: "job_results", id: &job };
        Ok(JobResult {
            token: LeaseToken(self.lease_token),
            at: Timestamp::from_millis(self.at),
            accepted: self.accepted,
            status: place.word("status", &self.status, JobStatus::parse)?,
            body_hash: self.body_hash.try_into().map_err(|_| place.bad("body_hash", "not 32 bytes"))?,
            body: self.body,
        })
    }
}
