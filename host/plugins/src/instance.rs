//! One live instance of a component, and how it is called: limits set anew before every call, clock and random set
//! from the request.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use model::{
    Json,
    plugin::{ConfigError, Fault, FaultCode, Manifest},
    question::{Answer, Ask, Probe, Question},
    time::Timestamp,
};
use wasmtime::Store;

use crate::{
    Limits,
    fault::{Failure, fault},
    host::Shared,
    imports::{GuestState, Log},
    load::Loaded,
    ticker::epochs,
    v1::{self, Exports, answers::Reader},
};

/// What a guest is doing; each phase has its own budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Start,
    Describe,
    Validate,
    Probes,
    Evaluate,
}

impl Phase {
    pub(crate) const fn fuel(self, limits: &Limits) -> u64 {
        match self {
            Self::Start | Self::Describe | Self::Validate | Self::Probes => limits.start_fuel,
            Self::Evaluate => limits.call_fuel,
        }
    }

    pub(crate) const fn time(self, limits: &Limits) -> Duration {
        match self {
            Self::Start | Self::Describe | Self::Validate | Self::Probes => limits.start,
            Self::Evaluate => limits.call,
        }
    }

    pub(crate) const fn doing(self) -> &'static str {
        match self {
            Self::Start => "starting",
            Self::Describe => "describing itself",
            Self::Validate => "validating a configuration",
            Self::Probes => "saying what to measure",
            Self::Evaluate => "answering",
        }
    }
}

/// One instance. Whoever gets a fault from it throws it away.
pub(crate) struct Live {
    shared: Arc<Shared>,
    policy: Arc<str>,
    store: Store<GuestState>,
    exports: Exports,
}

impl Live {
    /// A fresh instance. `now` is what its clocks say while it starts.
    pub(crate) fn start(shared: &Arc<Shared>, loaded: &Loaded, now: Timestamp) -> Result<Self, Fault> {
        let limits = &shared.limits;
        let log = Log::new(Arc::clone(&loaded.policy), limits);
        let mut state = GuestState::new(limits, log, loaded.seed);
        state.now = now;
        let mut store = Store::new(&shared.engine, state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(limits.host_call_bytes);
        store.epoch_deadline_trap();
        let instance =
            limited(shared, &loaded.policy, Phase::Start, &mut store, |store| loaded.pre.instantiate(store))?;
        let exports = loaded.exports.load(&mut store, &instance).map_err(|error| {
            let message = format!("policy `{}`: {error:#}", loaded.policy);
            fault(FaultCode::TypeMismatch, message)
        })?;
        Ok(Self { shared: Arc::clone(shared), policy: Arc::clone(&loaded.policy), store, exports })
    }

    /// What the component says of itself.
    pub(crate) fn describe(&mut self) -> Result<Manifest, Fault> {
        let plugin = self.exports.plugin.clone();
        let said = self.call(Phase::Describe, |store| plugin.call_describe(store))?;
        v1::describe::manifest(&self.shared.limits, &self.exports, said)
    }

    /// What the component finds wrong with a configuration.
    pub(crate) fn validate(&mut self, config: &Json) -> Result<Vec<ConfigError>, Fault> {
        let plugin = self.exports.plugin.clone();
        let config = config.to_string();
        match self.call(Phase::Validate, |store| plugin.call_validate(store, &config))? {
            Ok(()) => Ok(Vec::new()),
            Err(errors) => Ok(v1::describe::config_errors(&self.shared.limits, errors)),
        }
    }

    /// What the host is to measure for a rule of this configuration.
    pub(crate) fn probes(&mut self, config: &Json) -> Result<Vec<Probe>, Fault> {
        let hook = self.exports.verify.clone().ok_or_else(|| self.no_hook("verify"))?;
        let config = config.to_string();
        let said = self.call(Phase::Probes, |store| hook.call_probes(store, &config))?;
        let reader = Reader { policy: &self.policy, now: self.store.data().now, limits: &self.shared.limits };
        reader.probes(said.map_err(|message| reader.error(&message))?)
    }

    /// Answers one question.
    pub(crate) fn answer(&mut self, question: &Question) -> Result<Answer, Fault> {
        let state = self.store.data_mut();
        state.begin_question(question);
        let policy = Arc::clone(&self.policy);
        let shared = Arc::clone(&self.shared);
        let reader = Reader { policy: &policy, now: question.now, limits: &shared.limits };
        let (now, rule) = (question.now, &question.rule);
        match &question.ask {
            Ask::Gate(ask) => {
                let hook = self.exports.gate.clone().ok_or_else(|| self.no_hook("gate"))?;
                let request = v1::requests::gate(now, rule, ask);
                let said = self.call(Phase::Evaluate, |store| hook.call_evaluate(store, &request))?;
                reader.gate(said.map_err(|message| reader.error(&message))?).map(Answer::Gate)
            }
            Ask::Retry(ask) => {
                let hook = self.exports.retry.clone().ok_or_else(|| self.no_hook("retry"))?;
                let request = v1::requests::retry(now, rule, ask);
                let said = self.call(Phase::Evaluate, |store| hook.call_decide(store, &request))?;
                reader.retry(said.map_err(|message| reader.error(&message))?).map(Answer::Retry)
            }
            Ask::Sequence(ask) => {
                let hook = self.exports.sequence.clone().ok_or_else(|| self.no_hook("sequence"))?;
                let request = v1::requests::sequence(now, rule, ask);
                let said = self.call(Phase::Evaluate, |store| hook.call_plan(store, &request))?;
                let steps = said.map_err(|message| reader.error(&message))?;
                reader.sequence(ask, steps).map(Answer::Sequence)
            }
            Ask::Verify(ask) => {
                let hook = self.exports.verify.clone().ok_or_else(|| self.no_hook("verify"))?;
                let request = v1::requests::verify(now, rule, ask);
                let said = self.call(Phase::Evaluate, |store| hook.call_assess(store, &request))?;
                reader.verify(said.map_err(|message| reader.error(&message))?).map(Answer::Verify)
            }
        }
    }

    fn no_hook(&self, hook: &str) -> Fault {
        let message = format!("policy `{}` has no {hook} hook, and a rule asks it for one", self.policy);
        fault(FaultCode::MissingExport, message)
    }

    fn call<R>(
        &mut self,
        phase: Phase,
        call: impl FnOnce(&mut Store<GuestState>) -> wasmtime::Result<R>,
    ) -> Result<R, Fault> {
        limited(&self.shared, &self.policy, phase, &mut self.store, call)
    }
}

/// Runs guest code with the fuel and the time of its phase.
fn limited<R>(
    shared: &Shared,
    policy: &str,
    phase: Phase,
    store: &mut Store<GuestState>,
    call: impl FnOnce(&mut Store<GuestState>) -> wasmtime::Result<R>,
) -> Result<R, Fault> {
    let limits = &shared.limits;
    store.data_mut().limiter.refused_bytes = None;
    store.set_epoch_deadline(epochs(phase.time(limits)));
    let started = Instant::now();
    let result = store.set_fuel(phase.fuel(limits)).and_then(|()| {
        let _running = shared.ticker.run();
        call(store)
    });
    result.map_err(|error| {
        let refused_bytes = store.data().limiter.refused_bytes;
        Failure { policy, phase, refused_bytes, elapsed: started.elapsed(), limits }.explain(&error)
    })
}
