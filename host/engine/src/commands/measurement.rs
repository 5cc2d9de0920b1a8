//! Measurements that are reported: by the agent of a job, or by whoever watches what it deployed.

use model::{
    Json,
    access::Caller,
    event::Actor,
    id::{JobId, MeasurementId, RuleId},
    names::check_name,
    verification::Measurement,
};
use store::Tx;

use crate::{CommandError, Engine, measure::tell};

impl Engine {
    /// Takes in what was seen of a metric of a job: it fulfils what is wanted of that metric, and counts as taken now
    /// where nothing is.
    ///
    /// # Errors
    ///
    /// When the job is not there, its verification is over, or no rule has such a metric.
    pub async fn record_measurement(
        &self,
        caller: &Caller,
        job: JobId,
        metric: &str,
        seen: Result<Json, String>,
    ) -> Result<(), CommandError> {
        check_name(metric).map_err(|message| CommandError::field("/metric", message))?;
        let rules = self.rules_with(caller, metric).await?;
        let mut tx = self.store.write("command.record_measurement").await?;
        let now = tx.now();
        let found = store::job::get(&mut tx, caller.workspace, job).await?;
        let found = found.ok_or_else(|| CommandError::NotFound { what: format!("job {job}") })?;
        if let Some(verified) = found.verified {
            let detail = format!("the verification of this job is over ({})", verified.name());
            return Err(CommandError::Conflict { detail });
        }
        let wanted = store::measurement::wanted(&mut tx, job, metric).await?;
        let mut taken = false;
        for measurement in &wanted {
            taken |= store::measurement::take(&mut tx, measurement.id, &seen).await?;
        }
        if !taken {
            if rules.is_empty() {
                return Err(CommandError::field("/metric", format!("no verification rule has a metric `{metric}`")));
            }
            for rule in rules {
                let measurement = Measurement {
                    id: MeasurementId(tx.new_id()),
                    workspace: caller.workspace,
                    job,
                    rule,
                    metric: metric.to_owned(),
                    due_at: now,
                    taken: Some((now, seen.clone())),
                };
                store::measurement::insert(&mut tx, &measurement).await?;
            }
        }
        tell(&mut tx, Actor::User(caller.user.clone()), &found, metric, &seen).await?;
        tx.commit().await?;
        store::crash_point!("command.committed");
        Ok(())
    }

    /// Rules that want to know the metric. This asks plugins, so it runs before the transaction.
    async fn rules_with(&self, caller: &Caller, metric: &str) -> Result<Vec<RuleId>, CommandError> {
        let mut tx: Tx = self.store.read("command.rules_with_metric").await?;
        let policies = store::policy::enabled(&mut tx, caller.workspace).await?;
        let plugins = store::plugin::all(&mut tx, caller.workspace).await?;
        drop(tx);
        let mut found = Vec::new();
        for rule in policies.iter().flat_map(|policy| &policy.rules) {
            let plugin = rule.plugin.resolve(&plugins).filter(|plugin| plugin.manifest.hooks.verify);
            let Some(plugin) = plugin else { continue };
            self.load(plugin.digest).await.map_err(CommandError::Plugin)?;
            let probes = self.host.probes(plugin.digest, &rule.config).await.map_err(CommandError::Plugin)?;
            if probes.iter().any(|probe| probe.metric == metric) {
                found.push(rule.id);
            }
        }
        Ok(found)
    }
}
