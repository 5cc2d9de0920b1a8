//! The measuring loop: takes what verification rules want measured, when it is due.

use std::time::Duration;

use model::{
    Json,
    event::{Actor, EventKind, NewEvent},
    job::Job,
    question::Probe,
    time::Timestamp,
    verification::Measurement,
};
use serde_json::json;
use store::{StoreError, Tx, planning::Mark};
use tokio::{task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{Engine, measures::Provider};

/// Looks at least this often, whatever was signalled.
const PERIOD: Duration = Duration::from_secs(2);
/// Measurements taken at once.
const AT_ONCE: u32 = 16;
/// Whoever has claimed a measurement and has not taken it by then is taken to be gone, seconds.
const CLAIM_SECONDS: i64 = 120;
/// How long an agent may be late with what it reports, seconds.
const AGENT_SECONDS: i64 = 60;
/// When to look again at what nobody here can measure, seconds.
const NOBODY_SECONDS: i64 = 365 * 24 * 3600;

impl Engine {
    /// Measures until `shutdown`.
    pub async fn run_measuring(&self, shutdown: CancellationToken) {
        let mut signal = self.store.signals().measuring();
        while !shutdown.is_cancelled() {
            signal.mark_unchanged();
            let sleep_for = match self.measure_due().await {
                Ok(due_at) => due_at.map_or(PERIOD, |wait| PERIOD.min(wait)),
                Err(error) => {
                    tracing::warn!(%error, "measuring could not go on; trying again");
                    PERIOD
                }
            };
            tokio::select! {
                _ = timeout(sleep_for, signal.changed()) => {}
                () = shutdown.cancelled() => {}
            }
        }
    }

    /// Takes every measurement that is due now; how long it is until the next.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn measure_due(&self) -> Result<Option<Duration>, StoreError> {
        loop {
            let mut tx = self.store.write("engine.claim_measurements").await?;
            let until = tx.now().plus_seconds(CLAIM_SECONDS);
            let claimed = store::measurement::claim_due(&mut tx, until, AT_ONCE).await?;
            tx.commit().await?;
            if claimed.is_empty() {
                break;
            }
            let mut measuring = JoinSet::new();
            for measurement in claimed {
                let engine = self.clone();
                measuring.spawn(async move { engine.take(measurement).await });
            }
            while let Some(joined) = measuring.join_next().await {
                match joined {
                    Ok(taken) => taken?,
                    // Its claim lapses, and it is tried again.
                    Err(panic) => tracing::error!(%panic, "a measurement broke off"),
                }
            }
        }
        let mut tx = self.store.read("engine.next_measurement").await?;
        let now = tx.now();
        let next = store::measurement::next_due_at(&mut tx).await?;
        Ok(next.map(|at| Duration::from_millis(u64::try_from(at.millis_since(now)).unwrap_or(0))))
    }

    /// Takes every measurement that is due at the present instant, one after the other: what tests and simulations do
    /// in place of [`Engine::run_measuring`], since its order is always the same.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn settle_measuring(&self) -> Result<(), StoreError> {
        loop {
            let mut tx = self.store.write("engine.claim_measurements").await?;
            let until = tx.now().plus_seconds(CLAIM_SECONDS);
            let claimed = store::measurement::claim_due(&mut tx, until, AT_ONCE).await?;
            tx.commit().await?;
            if claimed.is_empty() {
                return Ok(());
            }
            for measurement in claimed {
                self.take(measurement).await?;
            }
        }
    }

    /// When something is to be measured next.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn next_measurement_due_at(&self) -> Result<Option<Timestamp>, StoreError> {
        let mut tx = self.store.read("engine.next_measurement").await?;
        store::measurement::next_due_at(&mut tx).await
    }

    async fn take(&self, measurement: Measurement) -> Result<(), StoreError> {
        let mut tx = self.store.read("engine.measurement").await?;
        let now = tx.now();
        let probe = self.probe(&mut tx, &measurement).await;
        drop(tx);
        let probe = match probe? {
            Ok(probe) => probe,
            Err(why) => return self.keep(&measurement, Err(why)).await,
        };
        match self.measures.provider(&probe) {
            Provider::Sleep { seconds } => {
                let end = measurement.due_at.plus_seconds(seconds);
                if now < end {
                    self.postpone(&measurement, end).await
                } else {
                    self.keep(&measurement, Ok(json!({}))).await
                }
            }
            Provider::Job => {
                let end = measurement.due_at.plus_seconds(AGENT_SECONDS);
                if now < end {
                    return self.postpone(&measurement, end).await;
                }
                self.keep(&measurement, Err(format!("the agent reported nothing within {AGENT_SECONDS} s"))).await
            }
            Provider::Outside(outside) => {
                let seen = outside.measure(probe).await;
                self.keep(&measurement, seen).await
            }
            Provider::Nobody => self.postpone(&measurement, now.plus_seconds(NOBODY_SECONDS)).await,
        }
    }

    /// How the rule wants its metric measured; or why nobody can say.
    async fn probe(&self, tx: &mut Tx, measurement: &Measurement) -> Result<Result<Probe, String>, StoreError> {
        let policies = store::policy::all(tx, measurement.workspace).await?;
        let plugins = store::plugin::all(tx, measurement.workspace).await?;
        let mut rules = policies.iter().flat_map(|policy| &policy.rules);
        let Some(rule) = rules.find(|rule| rule.id == measurement.rule) else {
            return Ok(Err("its rule is gone".to_owned()));
        };
        let Some(plugin) = rule.plugin.resolve(&plugins) else {
            return Ok(Err(format!("there is no plugin `{}`", rule.plugin)));
        };
        if let Err(fault) = self.load(plugin.digest).await {
            return Ok(Err(fault.message));
        }
        let probes = match self.host.probes(plugin.digest, &rule.config).await {
            Ok(probes) => probes,
            Err(fault) => return Ok(Err(fault.message)),
        };
        let found = probes.into_iter().find(|probe| probe.metric == measurement.metric);
        Ok(found.ok_or_else(|| format!("its rule has no metric `{}` any more", measurement.metric)))
    }

    async fn postpone(&self, measurement: &Measurement, until: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.store.write("engine.postpone_measurement").await?;
        store::measurement::postpone(&mut tx, measurement.id, until).await?;
        tx.commit().await
    }

    async fn keep(&self, measurement: &Measurement, seen: Result<Json, String>) -> Result<(), StoreError> {
        let mut tx = self.store.write("engine.take_measurement").await?;
        let job = store::job::get(&mut tx, measurement.workspace, measurement.job).await?;
        let Some(job) = job else { return Ok(()) };
        if store::measurement::take(&mut tx, measurement.id, &seen).await? {
            tell(&mut tx, Actor::System, &job, &measurement.metric, &seen).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}

/// The event of a measurement; what it says of health is planned next.
pub(crate) async fn tell(
    tx: &mut Tx,
    actor: Actor,
    job: &Job,
    metric: &str,
    seen: &Result<Json, String>,
) -> Result<(), StoreError> {
    let (value, error) = (seen.as_ref().ok(), seen.as_ref().err());
    let data = json!({"metric": metric, "value": value, "error": error});
    let event = NewEvent { kind: EventKind::MeasurementTaken, actor, subject: job.subject(), data };
    store::event::append(tx, job.workspace, event).await?;
    store::planning::mark(tx, job.target.deployment, Mark::Progress).await
}
