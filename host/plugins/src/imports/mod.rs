//! What a guest may call: the log, CEL, and a WASI that grants nothing.

mod cel;
mod log;
mod state;
mod wasi;

use wasmtime::{
    Engine, Result,
    component::{HasSelf, Linker},
};

pub(crate) use log::Log;
pub(crate) use state::GuestState;

use crate::v1::bindings::tidegate::policy;

/// Every import that the host gives.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<GuestState>> {
    let mut linker = Linker::new(engine);
    policy::log::add_to_linker::<_, HasSelf<GuestState>>(&mut linker, |state| state)?;
    policy::cel::add_to_linker::<_, HasSelf<GuestState>>(&mut linker, |state| state)?;
    wasi::add_to_linker(&mut linker)?;
    Ok(linker)
}

/// The WASI interfaces (0.2) that are linked, and so may be imported.
pub(crate) use wasi::INTERFACES as WASI_INTERFACES;
