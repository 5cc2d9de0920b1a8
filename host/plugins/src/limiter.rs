//! How much an instance may grow, and what it asked for when it was refused.

use wasmtime::{ResourceLimiter, Result};

use crate::Limits;

/// Counts what an instance takes. A refusal is no trap: guests may cope; most abort, and then the refusal is the
/// reason to give.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory_bytes: usize,
    table_elements: usize,
    parts: usize,
    /// Bytes it asked for when it was last refused memory.
    pub(crate) refused_bytes: Option<usize>,
}

impl Limiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory_bytes: limits.memory_bytes,
            table_elements: limits.table_elements,
            parts: usize::try_from(limits.parts).unwrap_or(usize::MAX),
            refused_bytes: None,
        }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let granted = desired <= self.memory_bytes;
        if !granted {
            self.refused_bytes = Some(desired);
        }
        Ok(granted)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        Ok(desired <= self.table_elements)
    }

    fn instances(&self) -> usize {
        self.parts
    }

    fn tables(&self) -> usize {
        self.parts
    }

    fn memories(&self) -> usize {
        self.parts
    }
}
