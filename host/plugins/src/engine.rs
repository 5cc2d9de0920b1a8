//! The one engine: which features are on, how memory is pooled, how code is interrupted.

use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Result, Strategy,
    WasmBacktraceDetails,
};

use crate::Limits;

/// Linear memory of an idle slot that stays mapped, so that a fresh instance does not fault every page in again.
const KEEP_RESIDENT_BYTES: usize = 256 * 1024;
/// Stack of a guest.
const STACK_BYTES: usize = 512 * 1024;

/// An engine for components with these limits. Fails, and does not fall back, when the pool cannot be had.
pub(crate) fn build(limits: &Limits) -> Result<Engine> {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        // The same floats on every machine: decisions replay byte for byte.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .wasm_component_model(true)
        // Without them a call that does nothing takes 0.3 µs in place of 0.8.
        .concurrency_support(false)
        .wasm_memory64(false)
        .wasm_stack_switching(false)
        // Fuel cuts exactly, and so replays; the epoch cuts by time, whatever the machine is busy with.
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES)
        .memory_init_cow(true)
        .debug_info(false)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
    Engine::new(&config)
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(limits.instances)
        .total_core_instances(limits.instances.saturating_mul(4))
        .total_memories(limits.instances)
        .total_tables(limits.instances.saturating_mul(4))
        .max_core_instances_per_component(limits.parts)
        .max_memories_per_component(limits.parts)
        .max_tables_per_component(limits.parts)
        .max_memory_size(limits.memory_bytes)
        .table_elements(limits.table_elements)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(KEEP_RESIDENT_BYTES);
    pool
}
