//! What the host keeps beside one instance.

use model::{
    question::{Ask, Question},
    time::Timestamp,
};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::{Log, cel::Expressions, wasi::Random};
use crate::{Limits, limiter::Limiter};

/// What the imports see.
pub(crate) struct GuestState {
    pub(crate) limiter: Limiter,
    pub(crate) log: Log,
    /// What WASI's clocks say: the request's now. It stands still.
    pub(crate) now: Timestamp,
    /// What WASI's random source gives: a stream that begins anew with each request, from the request's own hash.
    pub(crate) random: Random,
    /// Of the component alone, so that what a toolchain seeds once (hash maps) does not depend on who asked first.
    pub(crate) component_seed: u64,
    pub(crate) table: ResourceTable,
    pub(crate) expressions: Expressions,
    /// Made when a guest first calls WASI; few do.
    wasi: Option<WasiCtx>,
}

impl GuestState {
    pub(crate) fn new(limits: &Limits, log: Log, component_seed: u64) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles);
        Self {
            limiter: Limiter::new(limits),
            log,
            now: Timestamp::from_millis(0),
            random: Random::new(component_seed),
            component_seed,
            table,
            expressions: Expressions::default(),
            wasi: None,
        }
    }
}

impl GuestState {
    /// Clock, random source and log as this question has them.
    pub(crate) fn begin_question(&mut self, question: &Question) {
        self.now = question.now;
        self.random = Random::new(self.component_seed ^ request_hash(question));
        self.log.begin();
    }
}

/// FNV-1a over what tells one request from another: rule, instant, and what it is about. Cheap, since every question
/// pays for it, and the same in every build, since decisions are replayed.
fn request_hash(question: &Question) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(&question.now.as_millis().to_le_bytes());
    add(question.rule.id.0.as_bytes());
    match &question.ask {
        Ask::Gate(ask) => {
            add(ask.candidate.id.0.as_bytes());
            if let Some(environment) = &ask.environment {
                add(environment.id.0.as_bytes());
            }
            if let Some(facts) = &ask.target {
                add(facts.target.key.resource.0.as_bytes());
            }
        }
        Ask::Retry(ask) => {
            add(ask.version.id.0.as_bytes());
            add(ask.target.key.environment.0.as_bytes());
            add(ask.target.key.resource.0.as_bytes());
            add(&u64::try_from(ask.attempts.len()).unwrap_or(u64::MAX).to_le_bytes());
        }
        Ask::Sequence(ask) => {
            ask.ready.iter().for_each(|ready| add(ready.id.0.as_bytes()));
            ask.running.iter().for_each(|running| add(running.job.id.0.as_bytes()));
        }
        Ask::Verify(ask) => {
            add(ask.job.id.0.as_bytes());
            add(&u64::try_from(ask.measurements.len()).unwrap_or(u64::MAX).to_le_bytes());
        }
    }
    hash
}

impl WasiView for GuestState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        // The default context has no environment, no arguments, no files and closed standard streams.
        let ctx = self.wasi.get_or_insert_with(|| WasiCtx::builder().build());
        WasiCtxView { ctx, table: &mut self.table }
    }
}
