//! From wasmtime's errors to the product's faults: which limit, what was seen, by which policy.

use std::time::Duration;

use model::plugin::{Fault, FaultCode};
use wasmtime::{PoolConcurrencyLimitError, Trap};
use wasmtime_wasi::I32Exit;

use crate::{Limits, instance::Phase};

/// A fault in words.
pub(crate) fn fault(code: FaultCode, message: impl Into<String>) -> Fault {
    Fault { code, message: message.into() }
}

/// What is known of a call that failed.
pub(crate) struct Failure<'a> {
    /// Which policy, as people call it.
    pub(crate) policy: &'a str,
    /// In which phase.
    pub(crate) phase: Phase,
    /// Bytes it asked for when it was refused memory, if it was.
    pub(crate) refused_bytes: Option<usize>,
    /// How long it ran.
    pub(crate) elapsed: Duration,
    /// The limits it had.
    pub(crate) limits: &'a Limits,
}

impl Failure<'_> {
    /// What the error means. A refused allocation explains whatever trap came of it.
    pub(crate) fn explain(&self, error: &wasmtime::Error) -> Fault {
        if let Some(bytes) = self.refused_bytes {
            let message =
                format!("needed {} of memory and may have {}", mebibytes(bytes), mebibytes(self.limits.memory_bytes));
            return self.at(FaultCode::EvalMemory, FaultCode::InitTrap, &message);
        }
        if let Some(limit) = error.downcast_ref::<PoolConcurrencyLimitError>() {
            return self.say(FaultCode::Overloaded, &format!("too many instances at once: {limit}"));
        }
        if let Some(exit) = error.downcast_ref::<I32Exit>() {
            return self.at(FaultCode::EvalTrap, FaultCode::InitTrap, &format!("called exit({})", exit.0));
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => self.at(
                FaultCode::EvalFuel,
                FaultCode::InitTimeout,
                &format!("used up its {} units of fuel", self.phase.fuel(self.limits)),
            ),
            Some(Trap::Interrupt) => self.at(
                FaultCode::EvalTimeout,
                FaultCode::InitTimeout,
                &format!(
                    "ran for {} ms and may take {} ms",
                    self.elapsed.as_millis(),
                    self.phase.time(self.limits).as_millis()
                ),
            ),
            Some(Trap::StackOverflow) => {
                self.at(FaultCode::EvalStack, FaultCode::InitTrap, "overflowed its stack (512 KiB)")
            }
            Some(trap) => self.at(FaultCode::EvalTrap, FaultCode::InitTrap, &trap_text(*trap)),
            None => self.other(error),
        }
    }

    /// Not a trap of the guest's code: the boundary refused what it passed, or a host call failed.
    fn other(&self, error: &wasmtime::Error) -> Fault {
        let text = format!("{:#}", error.root_cause());
        // wasmtime keeps the error's type to itself.
        if text.contains("fuel allocated for hostcalls") {
            let message = format!("passed the host more than {} bytes at once", self.limits.host_call_bytes);
            return self.at(FaultCode::OutputTooLarge, FaultCode::InitTrap, &message);
        }
        self.at(FaultCode::EvalTrap, FaultCode::InitTrap, &format!("was stopped: {text}"))
    }

    fn at(&self, evaluating: FaultCode, starting: FaultCode, message: &str) -> Fault {
        match self.phase {
            Phase::Evaluate => self.say(evaluating, message),
            Phase::Start | Phase::Describe | Phase::Validate | Phase::Probes => self.say(starting, message),
        }
    }

    fn say(&self, code: FaultCode, message: &str) -> Fault {
        fault(code, format!("policy `{}` {message} while {}", self.policy, self.phase.doing()))
    }
}

/// Traps as wasmtime names them, without its prefix.
fn trap_text(trap: Trap) -> String {
    let text = trap.to_string();
    format!("trapped: {}", text.strip_prefix("wasm trap: ").unwrap_or(&text))
}

/// `64 MiB`, rounded up.
pub(crate) fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes.div_ceil(1024 * 1024))
}
