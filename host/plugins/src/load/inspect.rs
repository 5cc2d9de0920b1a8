//! Reads a component without compiling it: is it well-formed, what does it import and export, how much memory does it
//! start with?

use model::plugin::{Fault, FaultCode};
use wasmparser::{Parser, Payload, Validator, WasmFeatures};

use crate::fault::fault;

/// What the checks look at.
pub(crate) struct Inspected {
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
    /// The largest memory that any of its modules starts with.
    pub(crate) memory_bytes_min: u64,
}

/// Reads the whole component once.
pub(crate) fn inspect(bytes: &[u8]) -> Result<Inspected, Fault> {
    let mut inspected = Inspected { imports: Vec::new(), exports: Vec::new(), memory_bytes_min: 0 };
    let mut validator = Validator::new_with_features(features());
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| wrong(&error))?;
        match &payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section.clone() {
                    inspected.imports.push(import.map_err(|error| wrong(&error))?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section.clone() {
                    inspected.exports.push(export.map_err(|error| wrong(&error))?.name.name.to_owned());
                }
            }
            Payload::MemorySection(section) => {
                for memory in section.clone() {
                    let memory = memory.map_err(|error| wrong(&error))?;
                    let page = 1_u64 << memory.page_size_log2.unwrap_or(16).min(16);
                    let bytes = memory.initial.saturating_mul(page);
                    inspected.memory_bytes_min = inspected.memory_bytes_min.max(bytes);
                }
            }
            _ => {}
        }
        if let wasmparser::ValidPayload::Func(function, body) =
            validator.payload(&payload).map_err(|error| wrong(&error))?
        {
            let mut function = function.into_validator(Default::default());
            function.validate(&body).map_err(|error| wrong(&error))?;
        }
    }
    Ok(inspected)
}

/// What the engine has switched on; the two must agree, or the compiler refuses what passed here.
fn features() -> WasmFeatures {
    let mut features = WasmFeatures::WASM2 | WasmFeatures::COMPONENT_MODEL;
    features |= WasmFeatures::TAIL_CALL | WasmFeatures::EXTENDED_CONST | WasmFeatures::MULTI_MEMORY;
    features |= WasmFeatures::RELAXED_SIMD;
    features
}

fn wrong(error: &wasmparser::BinaryReaderError) -> Fault {
    let (message, offset) = (error.message(), error.offset());
    // The validator has one error type for both; it names the proposal and that it is not enabled.
    let unsupported =
        ["not enabled", "must be enabled", "support is not", "proposal"].iter().any(|phrase| message.contains(phrase));
    if unsupported {
        return fault(FaultCode::UnsupportedFeature, format!("{message} (at offset {offset:#x})"));
    }
    fault(FaultCode::InvalidWasm, format!("the component is malformed at offset {offset:#x}: {message}"))
}
