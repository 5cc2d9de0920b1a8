//! A store with one tenant, and dispatch over it.

use std::{sync::Arc, time::Duration};

use dispatch::{Dispatch, Offer, Report, ReportError};
use model::{
    access::{Caller, Role},
    event::{Event, EventKind},
    job::Job,
    job_state::{JobState, JobStatus, LeaseToken},
    plan::{Plan, Step},
    time::Timestamp,
};
use store::{Durability, ManualClock, Options, Store, job_result::JobResult};

use crate::world::{self, World};

/// 2026-03-02T08:00:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_772_438_400_000);

pub struct Bench {
    pub dispatch: Dispatch,
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub world: World,
    /// One on each resource, queued.
    pub jobs: Vec<Job>,
    pub caller: Caller,
    versions: std::sync::atomic::AtomicU32,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub async fn new(resources: usize) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let clock = Arc::new(ManualClock::new(START));
        let url = format!("sqlite:{}", folder.path().join("tidegate.db").display());
        let options = Options { url, clock: Arc::clone(&clock) as _, id_seed: 3, durability: Durability::Power };
        let store = Store::open(options).await.expect("a fresh database opens");
        let world = World::write(&store, resources).await;
        let jobs = world.start(&store).await;
        let dispatch = Dispatch::new(store.clone());
        dispatch.sweep().await.expect("sweeps");
        let caller = Caller {
            workspace: world.workspace,
            user: "agent-key".into(),
            teams: vec![],
            role: Role::Agent,
            agent: Some(world.agent.id),
        };
        let versions = std::sync::atomic::AtomicU32::new(2);
        Self { dispatch, store, clock, world, jobs, caller, versions, _folder: folder }
    }

    pub fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Another queued job on the first target, of a version of its own.
    pub async fn another(&self, change: impl FnOnce(&mut Job)) -> Job {
        let n = self.versions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let tag = format!("v{n}");
        let mut tx = self.store.write("test.version").await.expect("a transaction begins");
        let version = world::version(self.world.id().into(), &self.world.deployment, &tag, tx.now());
        store::version::insert(&mut tx, &version).await.expect("inserts");
        tx.commit().await.expect("committed");
        let release = self.world.release(0, version.id);
        let mut job = self.world.job(&release);
        change(&mut job);
        let steps = vec![Step::CreateRelease(release), Step::CreateJob(job.clone())];
        world::apply(&self.store, self.world.workspace, &Plan { steps, ..Plan::default() }).await;
        job
    }

    pub async fn next(&self, node: &str, max: u32) -> Vec<Offer> {
        let polled = self.dispatch.next(&self.caller, self.world.agent.id, node, max, Duration::ZERO).await;
        polled.expect("the queue answers")
    }

    /// The next job, offered to a node.
    pub async fn offered(&self, node: &str) -> Offer {
        self.next(node, 1).await.pop().expect("a job waits")
    }

    /// The next job, at work on a node.
    pub async fn running(&self, node: &str) -> Offer {
        let offer = self.offered(node).await;
        self.say(&offer, JobStatus::InProgress, "").await.expect("acknowledged");
        offer
    }

    /// Reports under an offer's token; what is sent is told apart by the message.
    pub async fn say(&self, offer: &Offer, status: JobStatus, message: &str) -> Result<Job, ReportError> {
        self.say_under(&offer.job.job, Some(offer.token), status, message).await
    }

    pub async fn say_under(
        &self,
        job: &Job,
        token: Option<LeaseToken>,
        status: JobStatus,
        message: &str,
    ) -> Result<Job, ReportError> {
        let message = (!message.is_empty()).then(|| message.to_owned());
        let mut hash = [0; 32];
        for (byte, from) in hash.iter_mut().zip(status.name().bytes().chain(message.iter().flat_map(|m| m.bytes()))) {
            *byte = from;
        }
        let report = Report { status: Some(status), message, ..Report::default() };
        self.dispatch.report(&self.caller, job.id, token, &report, hash).await
    }

    pub async fn sweep(&self) {
        self.dispatch.sweep().await.expect("sweeps");
    }

    pub async fn job(&self, job: &Job) -> Job {
        let mut tx = self.store.read("test.job").await.expect("a transaction begins");
        store::job::get(&mut tx, job.workspace, job.id).await.expect("reads").expect("is there")
    }

    pub async fn state(&self, job: &Job) -> JobState {
        self.job(job).await.state
    }

    pub async fn results(&self, job: &Job) -> Vec<JobResult> {
        let mut tx = self.store.read("test.results").await.expect("a transaction begins");
        store::job_result::of_job(&mut tx, job.id).await.expect("reads")
    }

    /// What the trail says of a job, from its offer on.
    pub async fn events(&self, job: &Job) -> Vec<Event> {
        let mut all = Vec::new();
        loop {
            let after = all.last().map_or(0, |event: &Event| event.position);
            let mut tx = self.store.read("test.events").await.expect("a transaction begins");
            let some = store::event::after(&mut tx, job.workspace, after, 1000).await.expect("reads");
            if some.is_empty() {
                break;
            }
            all.extend(some);
        }
        all.retain(|event| event.event.subject.job == Some(job.id) && event.event.kind != EventKind::JobCreated);
        all
    }

    pub async fn kinds(&self, job: &Job) -> Vec<&'static str> {
        self.events(job).await.iter().map(|event| event.event.kind.name()).collect()
    }
}
