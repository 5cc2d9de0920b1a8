//! Events: appended in the transaction of the change, numbered by the sequencer, never changed.
//!
//! An event is written with a row in the outbox. The sequencer moves committed rows to `event_positions`, rising
//! without gaps per workspace: on SQLite at the end of each transaction (there is one writer), on PostgreSQL right
//! after the commit and by period, one sequencer at a time.

use model::{
    event::{Actor, Event, EventKind, NewEvent, Subject},
    id::WorkspaceId,
    time::Timestamp,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{
    StoreError, Tx,
    many::{Many, run_many},
    page::Page,
    row::{Place, json, text},
    tx::{Inner, all, run},
};

const INSERT: Many = Many {
    sql: "-- event.append
INSERT INTO events (id, workspace_id, at, kind, actor, system_id, deployment_id, environment_id, resource_id,
  version_id, release_id, job_id, policy_id, data)
VALUES ",
    fixed: 0,
    columns: 14,
    tail: "",
};
const OUTBOX: Many = Many {
    sql: "-- event.outbox\nINSERT INTO event_outbox (workspace_id, event_id) VALUES ",
    fixed: 0,
    columns: 2,
    tail: "",
};
const AFTER: &str = "-- event.after
SELECT e.id, p.position, e.at, e.kind, e.actor, e.system_id, e.deployment_id, e.environment_id, e.resource_id,
  e.version_id, e.release_id, e.job_id, e.policy_id, e.data
FROM event_positions p JOIN events e ON e.id = p.event_id
WHERE p.workspace_id = $1 AND p.position > $2 ORDER BY p.position LIMIT $3";
const SEQUENCE: &str = "-- event.sequence
INSERT INTO event_positions (workspace_id, position, event_id)
SELECT o.workspace_id,
  COALESCE((SELECT MAX(p.position) FROM event_positions p WHERE p.workspace_id = o.workspace_id), 0)
    + ROW_NUMBER() OVER (PARTITION BY o.workspace_id ORDER BY o.seq),
  o.event_id
FROM event_outbox o";
// Only what has a position: an event committed between the two statements waits for the next time.
const CLEAR: &str = "-- event.clear_outbox
DELETE FROM event_outbox WHERE EXISTS (SELECT 1 FROM event_positions p WHERE p.event_id = event_outbox.event_id)";
/// PostgreSQL alone; the number is this lock's name there.
pub(crate) const LOCK: &str = "-- event.lock_sequence
SELECT pg_advisory_xact_lock(7465673)";
pub(crate) const ALL: &[&str] = &[AFTER, SEQUENCE, CLEAR];
pub(crate) const MANY: &[Many] = &[INSERT, OUTBOX];

/// Appends one event.
pub async fn append(tx: &mut Tx, workspace: WorkspaceId, event: NewEvent) -> Result<(), StoreError> {
    append_all(tx, workspace, &[event]).await
}

/// Appends events, in order.
pub async fn append_all(tx: &mut Tx, workspace: WorkspaceId, events: &[NewEvent]) -> Result<(), StoreError> {
    let at = tx.now().as_millis();
    let events: Vec<(Uuid, &NewEvent)> = events.iter().map(|event| (tx.new_id(), event)).collect();
    run_many!(tx, INSERT, [], events, |(id, event)| [
        *id,
        workspace.0,
        at,
        event.kind.name(),
        text(&event.actor.text()).into_owned(),
        event.subject.system.map(|id| id.0),
        event.subject.deployment.map(|id| id.0),
        event.subject.environment.map(|id| id.0),
        event.subject.resource.map(|id| id.0),
        event.subject.version.map(|id| id.0),
        event.subject.release.map(|id| id.0),
        event.subject.job.map(|id| id.0),
        event.subject.policy.map(|id| id.0),
        json(&event.data),
    ]);
    run_many!(tx, OUTBOX, [], events, |(id, _)| [workspace.0, *id]);
    tx.unsequenced |= !events.is_empty();
    Ok(())
}

/// Events after a position (0 for all), in order, `limit` at most.
pub async fn after(tx: &mut Tx, workspace: WorkspaceId, position: i64, limit: u32) -> Result<Vec<Event>, StoreError> {
    let limit = Page { limit, offset: 0 }.limit();
    let rows = all!(tx, Row, AFTER, workspace.0, position, limit)?;
    rows.into_iter().map(|row| row.event(workspace)).collect()
}

/// Gives what stands in the outbox its positions; how many got one.
pub(crate) async fn sequence(tx: &mut Tx) -> Result<u64, StoreError> {
    let sequenced = run!(tx, SEQUENCE)?;
    if sequenced > 0 {
        run!(tx, CLEAR)?;
    }
    Ok(sequenced)
}

/// Waits until no other transaction sequences. On SQLite no other one writes anyway.
pub(crate) async fn lock_sequence(tx: &mut Tx) -> Result<(), StoreError> {
    match tx.inner {
        Inner::Postgres(_) => run!(tx, LOCK).map(drop),
        Inner::Sqlite(_) => Ok(()),
    }
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    position: i64,
    at: i64,
    kind: String,
    actor: String,
    system_id: Option<Uuid>,
    deployment_id: Option<Uuid>,
    environment_id: Option<Uuid>,
    resource_id: Option<Uuid>,
    version_id: Option<Uuid>,
    release_id: Option<Uuid>,
    job_id: Option<Uuid>,
    policy_id: Option<Uuid>,
    data: String,
}

impl Row {
    fn event(self, workspace: WorkspaceId) -> Result<Event, StoreError> {
        let place = Place { table: "events", id: &self.id };
        Ok(Event {
            event: NewEvent {
                kind: place.word("kind", &self.kind, EventKind::parse)?,
                actor: Actor::parse(&self.actor),
                subject: Subject {
                    system: self.system_id.map(Into::into),
                    deployment: self.deployment_id.map(Into::into),
                    environment: self.environment_id.map(Into::into),
                    resource: self.resource_id.map(Into::into),
                    version: self.version_id.map(Into::into),
                    release: self.release_id.map(Into::into),
                    job: self.job_id.map(Into::into),
                    policy: self.policy_id.map(Into::into),
                },
                data: place.json("data", &self.data)?,
            },
            id: self.id.into(),
            workspace,
            position: self.position,
            at: Timestamp::from_millis(self.at),
        })
    }
}
