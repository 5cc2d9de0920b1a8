//! From bytes to a component that can be asked. Checks come in a fixed order, each with its own code: size, what kind
//! of file, well-formed, which major, exports, imports, memory; then it is compiled and linked.

mod inspect;
mod names;

use std::sync::Arc;

use model::plugin::{Digest, Fault, FaultCode};
use wasmtime::{
    Engine,
    component::{Component, InstancePre, Linker},
};

use crate::{
    Limits,
    cache::Cache,
    fault::{fault, mebibytes},
    imports::GuestState,
    v1::ExportIndices,
};

/// A component ready to be instantiated.
pub(crate) struct Loaded {
    /// Which policy, as people call it. Its digest until `describe` has told its name.
    pub(crate) policy: Arc<str>,
    pub(crate) pre: InstancePre<GuestState>,
    pub(crate) exports: ExportIndices,
    /// Of the component's bytes; what toolchains seed their hash maps from.
    pub(crate) seed: u64,
}

/// Checks, compiles (or takes from the cache) and links.
pub(crate) fn load(
    engine: &Engine,
    linker: &Linker<GuestState>,
    limits: &Limits,
    cache: Option<&Cache>,
    digest: Digest,
    bytes: &[u8],
) -> Result<Loaded, Fault> {
    kind(limits, bytes)?;
    let inspected = inspect::inspect(bytes)?;
    names::check(&inspected)?;
    memory(limits, inspected.memory_bytes_min)?;
    let component = match cache.and_then(|cache| cache.get(engine, digest)) {
        Some(component) => component,
        None => {
            let component = compile(engine, bytes)?;
            if let Some(cache) = cache {
                cache.put(digest, &component);
            }
            component
        }
    };
    let mismatch = |error: wasmtime::Error| fault(FaultCode::TypeMismatch, format!("{error:#}"));
    let pre = linker.instantiate_pre(&component).map_err(mismatch)?;
    let exports = ExportIndices::of(&pre).map_err(mismatch)?;
    let mut seed = [0; 8];
    seed.copy_from_slice(&digest.0[..8]);
    Ok(Loaded { policy: digest.to_string().into(), pre, exports, seed: u64::from_le_bytes(seed) })
}

/// What can be told from size and first bytes.
fn kind(limits: &Limits, bytes: &[u8]) -> Result<(), Fault> {
    if bytes.len() > limits.component_bytes {
        let message = format!("the file has {} bytes; it may have {}", bytes.len(), limits.component_bytes);
        return Err(fault(FaultCode::TooLarge, message));
    }
    if Engine::detect_precompiled(bytes).is_some() || bytes.starts_with(b"\x7fELF") {
        let message = "the file is native code, which is never accepted; upload the component that it was made from";
        return Err(fault(FaultCode::PrecompiledRefused, message));
    }
    if !bytes.starts_with(b"\0asm") {
        let message = "the file does not begin as WebAssembly does (expected the bytes 00 61 73 6d)";
        return Err(fault(FaultCode::NotWasm, message));
    }
    if wasmparser::Parser::is_core_wasm(bytes) {
        let message = "the file is a core module, not a component: make one of it with \
                       `wasm-tools component new MODULE.wasm -o COMPONENT.wasm`, or build for the target wasm32-wasip2";
        return Err(fault(FaultCode::CoreModuleNotComponent, message));
    }
    Ok(())
}

fn memory(limits: &Limits, bytes_min: u64) -> Result<(), Fault> {
    if usize::try_from(bytes_min).is_ok_and(|bytes| bytes <= limits.memory_bytes) {
        return Ok(());
    }
    let message = format!(
        "the component starts with {} of memory and may have {}; build it with a smaller initial memory",
        mebibytes(usize::try_from(bytes_min).unwrap_or(usize::MAX)),
        mebibytes(limits.memory_bytes),
    );
    Err(fault(FaultCode::MemoryMinExceedsLimit, message))
}

/// The validator has passed it, so what the compiler still refuses is something that it cannot do.
fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, Fault> {
    Component::from_binary(engine, bytes).map_err(|error| fault(FaultCode::UnsupportedFeature, format!("{error:#}")))
}
