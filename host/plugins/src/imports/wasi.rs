//! WASI 0.2 so that components from any toolchain load; it grants nothing. No environment, arguments, files or
//! sockets; clocks stand at the request's now; random comes from the request's hash; output goes to the capped log.
//!
//! INVARIANT: nothing here waits. Every pollable that a guest can get is ready at once, since a host call that sleeps
//! is beyond the reach of fuel and epochs.

use model::time::Timestamp;
use wasmtime::{
    Result,
    component::{HasData, HasSelf, Linker, Resource, ResourceTable},
};
use wasmtime_wasi::{
    cli::{WasiCli, WasiCliView as _},
    filesystem::{WasiFilesystem, WasiFilesystemView as _},
    p2::{
        DynInputStream, DynOutputStream, DynPollable, OutputStream, Pollable, StreamResult,
        bindings::{
            cli::{
                environment, exit, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr,
                terminal_stdin, terminal_stdout,
            },
            clocks::{monotonic_clock, wall_clock},
            filesystem::preopens,
            random::{insecure, insecure_seed, random},
            sync,
        },
        pipe::ClosedInputStream,
        subscribe,
    },
};
use wasmtime_wasi_io::{async_trait, bytes::Bytes};

use super::{GuestState, Log};
use crate::v1::bindings::tidegate::policy::log::Level;

/// Most random bytes at once; more is a trap.
const RANDOM_BYTES_MAX: u64 = 64 * 1024;

/// What is linked. `wasi:sockets` and `wasi:http` are not, on purpose.
pub(crate) const INTERFACES: [&str; 20] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
];

struct Table;

impl HasData for Table {
    type Data<'a> = &'a mut ResourceTable;
}

pub(crate) fn add_to_linker(linker: &mut Linker<GuestState>) -> Result<()> {
    let l = linker;
    wasmtime_wasi_io::bindings::wasi::io::error::add_to_linker::<_, Table>(l, |state| &mut state.table)?;
    sync::io::poll::add_to_linker::<_, Table>(l, |state| &mut state.table)?;
    sync::io::streams::add_to_linker::<_, Table>(l, |state| &mut state.table)?;

    environment::add_to_linker::<_, WasiCli>(l, GuestState::cli)?;
    exit::add_to_linker::<_, WasiCli>(l, GuestState::cli)?;
    terminal_input::add_to_linker::<_, WasiCli>(l, GuestState::cli)?;
    terminal_output::add_to_linker::<_, WasiCli>(l, GuestState::cli)?;
    terminal_stdin::add_to_linker::<_, WasiCli>(l, GuestState::cli)?;
    terminal_stdout::add_to_linker::<_, WasiCli>(l, GuestState::cli)?;
    terminal_stderr::add_to_linker::<_, WasiCli>(l, GuestState::cli)?;
    preopens::add_to_linker::<_, WasiFilesystem>(l, GuestState::filesystem)?;
    sync::filesystem::types::add_to_linker::<_, WasiFilesystem>(l, GuestState::filesystem)?;

    stdin::add_to_linker::<_, HasSelf<GuestState>>(l, |state| state)?;
    stdout::add_to_linker::<_, HasSelf<GuestState>>(l, |state| state)?;
    stderr::add_to_linker::<_, HasSelf<GuestState>>(l, |state| state)?;
    wall_clock::add_to_linker::<_, HasSelf<GuestState>>(l, |state| state)?;
    monotonic_clock::add_to_linker::<_, HasSelf<GuestState>>(l, |state| state)?;
    random::add_to_linker::<_, HasSelf<GuestState>>(l, |state| state)?;
    insecure::add_to_linker::<_, HasSelf<GuestState>>(l, |state| state)?;
    insecure_seed::add_to_linker::<_, HasSelf<GuestState>>(l, |state| state)?;
    Ok(())
}

impl stdin::Host for GuestState {
    fn get_stdin(&mut self) -> Result<Resource<DynInputStream>> {
        let stream: DynInputStream = Box::new(ClosedInputStream);
        Ok(self.table.push(stream)?)
    }
}

impl stdout::Host for GuestState {
    fn get_stdout(&mut self) -> Result<Resource<DynOutputStream>> {
        let stream: DynOutputStream = Box::new(LogStream { log: self.log.clone(), level: Level::Info });
        Ok(self.table.push(stream)?)
    }
}

impl stderr::Host for GuestState {
    fn get_stderr(&mut self) -> Result<Resource<DynOutputStream>> {
        let stream: DynOutputStream = Box::new(LogStream { log: self.log.clone(), level: Level::Warn });
        Ok(self.table.push(stream)?)
    }
}

/// Standard output as lines of the log. Never full, so that a guest that prints too much loses text, not its answer.
struct LogStream {
    log: Log,
    level: Level,
}

#[async_trait]
impl Pollable for LogStream {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for LogStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        for line in String::from_utf8_lossy(&bytes).lines() {
            self.log.write(self.level, line);
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 * 1024)
    }
}

impl wall_clock::Host for GuestState {
    fn now(&mut self) -> Result<wall_clock::Datetime> {
        let millis = u64::try_from(self.now.as_millis()).unwrap_or(0);
        let nanoseconds = u32::try_from(millis % 1000).unwrap_or(0) * 1_000_000;
        Ok(wall_clock::Datetime { seconds: millis / 1000, nanoseconds })
    }

    fn resolution(&mut self) -> Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime { seconds: 0, nanoseconds: 1_000_000 })
    }
}

impl monotonic_clock::Host for GuestState {
    fn now(&mut self) -> Result<u64> {
        Ok(nanos(self.now))
    }

    fn resolution(&mut self) -> Result<u64> {
        Ok(1_000_000)
    }

    fn subscribe_instant(&mut self, _when: u64) -> Result<Resource<DynPollable>> {
        ready(&mut self.table)
    }

    fn subscribe_duration(&mut self, _duration: u64) -> Result<Resource<DynPollable>> {
        ready(&mut self.table)
    }
}

fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(0).saturating_mul(1_000_000)
}

/// A timer that is over: time does not pass for a policy, so there is nothing to wait for.
struct Over;

#[async_trait]
impl Pollable for Over {
    async fn ready(&mut self) {}
}

fn ready(table: &mut ResourceTable) -> Result<Resource<DynPollable>> {
    let timer = table.push(Over)?;
    subscribe(table, timer)
}

impl random::Host for GuestState {
    fn get_random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.random.bytes(len)
    }

    fn get_random_u64(&mut self) -> Result<u64> {
        Ok(self.random.next())
    }
}

impl insecure::Host for GuestState {
    fn get_insecure_random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.random.bytes(len)
    }

    fn get_insecure_random_u64(&mut self) -> Result<u64> {
        Ok(self.random.next())
    }
}

impl insecure_seed::Host for GuestState {
    fn insecure_seed(&mut self) -> Result<(u64, u64)> {
        let mut seed = Random::new(self.component_seed);
        Ok((seed.next(), seed.next()))
    }
}

/// A stream of numbers from a seed (SplitMix64). Nobody's secret: it exists so that programs that ask get an answer,
/// and the same one for the same request.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        if len > RANDOM_BYTES_MAX {
            wasmtime::bail!("asked for {len} random bytes at once and may have {RANDOM_BYTES_MAX}");
        }
        let mut bytes = Vec::new();
        for _ in 0..len.div_ceil(8) {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(usize::try_from(len)?);
        Ok(bytes)
    }
}
