//! The server of a demo, and what is done to it: nothing, a crash at a named point, or kill -9 again and again. When
//! it dies of what we did, it is started again on the same data and the same address, as a service manager would.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::process::{LOOK_EVERY, Running, Watchdog};

/// A server that is not ready by then hangs.
const READY_MAX: Duration = Duration::from_secs(30);

/// What is done to the server while it works.
#[derive(Debug, Clone)]
pub enum Faults {
    /// Nothing; that it ends is an error.
    None,
    /// It aborts at this crash point (`NAME`, or `NAME:N` for the Nth hit), once.
    CrashAt(String),
    /// It is killed this many times, after waits that follow from the seed, each within the bounds.
    Kill {
        /// The same seed gives the same waits.
        seed: u64,
        /// How often.
        times: u32,
        /// Shortest wait between a start and a kill.
        from: Duration,
        /// Longest.
        to: Duration,
    },
}

/// A server and whoever starts it again.
pub struct Server {
    address: SocketAddr,
    process: Arc<Mutex<Running>>,
    ended: Arc<AtomicU32>,
    /// Set when something went wrong that nobody did on purpose.
    trouble: Arc<Mutex<Option<String>>>,
    stop: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
}

/// How to start it.
#[derive(Clone)]
struct Recipe {
    binary: PathBuf,
    data: PathBuf,
    log: PathBuf,
    watchdog: Arc<Watchdog>,
}

impl Recipe {
    fn start(&self, listen: &str, crash_at: Option<&str>) -> Result<(Running, SocketAddr)> {
        let mut command = Command::new(&self.binary);
        command.args(["serve", "--listen", listen, "--data-dir"]).arg(&self.data).env_remove("TIDEGATE_CRASH_AT");
        if let Some(point) = crash_at {
            command.env("TIDEGATE_CRASH_AT", point);
        }
        let (running, address) = Running::start_ready(
            "the server",
            &mut command,
            &self.log,
            &self.watchdog,
            "listening on http://",
            READY_MAX,
        )?;
        let address = address.parse().with_context(|| format!("`{address}` is no address"))?;
        Ok((running, address))
    }
}

impl Server {
    /// Starts it on a free port and waits until it listens.
    pub fn start(binary: &Path, data: &Path, log: &Path, faults: &Faults, watchdog: &Arc<Watchdog>) -> Result<Self> {
        let recipe = Recipe {
            binary: binary.to_owned(),
            data: data.to_owned(),
            log: log.to_owned(),
            watchdog: Arc::clone(watchdog),
        };
        let crash_at = match faults {
            Faults::CrashAt(point) => Some(point.as_str()),
            Faults::None | Faults::Kill { .. } => None,
        };
        let (running, address) = recipe.start("127.0.0.1:0", crash_at)?;
        let mut server = Self {
            address,
            process: Arc::new(Mutex::new(running)),
            ended: Arc::default(),
            trouble: Arc::default(),
            stop: Arc::default(),
            keeper: None,
        };
        if !matches!(faults, Faults::None) {
            server.keeper = Some(server.keep_alive(recipe, faults.clone()));
        }
        Ok(server)
    }

    /// Where it listens; the same after every start.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How often it died of what was done to it.
    #[must_use]
    pub fn deaths(&self) -> u32 {
        self.ended.load(Ordering::SeqCst)
    }

    /// An error when it can't be expected to answer any more.
    pub fn must_run(&self) -> Result<()> {
        if let Some(trouble) = lock(&self.trouble).as_ref() {
            bail!("{trouble}");
        }
        if self.keeper.is_some() { Ok(()) } else { lock(&self.process).must_run() }
    }

    fn keep_alive(&self, recipe: Recipe, faults: Faults) -> JoinHandle<()> {
        let (process, ended, trouble) = (Arc::clone(&self.process), Arc::clone(&self.ended), Arc::clone(&self.trouble));
        let (stop, listen) = (Arc::clone(&self.stop), self.address.to_string());
        thread::spawn(move || {
            let mut deaths = Deaths::new(faults);
            while !stop.load(Ordering::SeqCst) {
                thread::sleep(LOOK_EVERY);
                let mut running = lock(&process);
                if deaths.is_due() {
                    running.kill();
                }
                let next = match running.must_run() {
                    Ok(()) => continue,
                    Err(_) if deaths.count() => recipe.start(&listen, None),
                    // Nobody did this: say so rather than hide it by another start.
                    Err(error) => Err(error),
                };
                ended.fetch_add(1, Ordering::SeqCst);
                match next {
                    Ok((next, _)) => *running = next,
                    Err(error) => {
                        *lock(&trouble) = Some(format!("{error:#}"));
                        return;
                    }
                }
                deaths.started();
            }
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// When the server is to die, and whether a death was ours.
struct Deaths {
    faults: Faults,
    done: u32,
    random: u64,
    next: Option<Instant>,
}

impl Deaths {
    fn new(faults: Faults) -> Self {
        let random = if let Faults::Kill { seed, .. } = faults { seed } else { 0 };
        let mut deaths = Self { faults, done: 0, random, next: None };
        deaths.started();
        deaths
    }

    fn is_due(&self) -> bool {
        self.next.is_some_and(|next| Instant::now() >= next)
    }

    /// Counts a death; false when it is not one of those that were to be.
    fn count(&mut self) -> bool {
        self.done += 1;
        match self.faults {
            Faults::None => false,
            Faults::CrashAt(_) => self.done <= 1,
            Faults::Kill { times, .. } => self.is_due() && self.done <= times,
        }
    }

    /// After a start: when next?
    fn started(&mut self) {
        self.next = match self.faults {
            Faults::Kill { times, from, to, .. } if self.done < times => {
                // A step of a linear congruential generator (Knuth's MMIX); its high bits are good enough for waits.
                self.random =
                    self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let span = to.saturating_sub(from).as_millis().max(1);
                let wait = u64::try_from(u128::from(self.random >> 33) % span).unwrap_or(0);
                Some(Instant::now() + from + Duration::from_millis(wait))
            }
            Faults::None | Faults::CrashAt(_) | Faults::Kill { .. } => None,
        };
    }
}

/// What is in these locks is whole at any instant; a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
