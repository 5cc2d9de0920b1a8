//! Which hooks a component exports, and how to reach them.

use wasmtime::{
    Result, Store,
    component::{Instance, InstancePre},
    error::Context as _,
};

use super::bindings::exports::tidegate::policy::{gate, plugin, retry, sequence, verify};
use crate::imports::GuestState;

/// Where the exports of a component are; looked up once.
pub(crate) struct ExportIndices {
    plugin: plugin::GuestIndices,
    gate: Option<gate::GuestIndices>,
    retry: Option<retry::GuestIndices>,
    sequence: Option<sequence::GuestIndices>,
    verify: Option<verify::GuestIndices>,
}

/// The exports of one instance.
pub(crate) struct Exports {
    pub(crate) plugin: plugin::Guest,
    pub(crate) gate: Option<gate::Guest>,
    pub(crate) retry: Option<retry::Guest>,
    pub(crate) sequence: Option<sequence::Guest>,
    pub(crate) verify: Option<verify::Guest>,
}

impl ExportIndices {
    /// Fails when an interface is exported but lacks a function.
    pub(crate) fn of(pre: &InstancePre<GuestState>) -> Result<Self> {
        let exports = |interface: &str| pre.component().get_export_index(None, name(interface)).is_some();
        Ok(Self {
            plugin: plugin::GuestIndices::new(pre)?,
            gate: exports("gate").then(|| gate::GuestIndices::new(pre)).transpose()?,
            retry: exports("retry").then(|| retry::GuestIndices::new(pre)).transpose()?,
            sequence: exports("sequence").then(|| sequence::GuestIndices::new(pre)).transpose()?,
            verify: exports("verify").then(|| verify::GuestIndices::new(pre)).transpose()?,
        })
    }

    /// Fails when an export has another type than the interface.
    pub(crate) fn load(&self, store: &mut Store<GuestState>, instance: &Instance) -> Result<Exports> {
        Ok(Exports {
            plugin: self.plugin.load(&mut *store, instance).with_context(|| name("plugin"))?,
            gate: load("gate", self.gate.as_ref().map(|hook| hook.load(&mut *store, instance)))?,
            retry: load("retry", self.retry.as_ref().map(|hook| hook.load(&mut *store, instance)))?,
            sequence: load("sequence", self.sequence.as_ref().map(|hook| hook.load(&mut *store, instance)))?,
            verify: load("verify", self.verify.as_ref().map(|hook| hook.load(&mut *store, instance)))?,
        })
    }
}

/// The interface's name is the path in what people are told about a type that does not match.
fn load<H>(interface: &str, hook: Option<Result<H>>) -> Result<Option<H>> {
    hook.transpose().with_context(|| name(interface))
}

fn name(interface: &str) -> String {
    format!("tidegate:policy/{interface}@1.0.0")
}
