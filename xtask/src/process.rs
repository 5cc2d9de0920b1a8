//! Child processes that never outlive us: each is killed when its guard is dropped, and a watchdog kills what is left
//! when this process ends in any other way (a signal, kill -9, a panic that aborts).

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// How often a condition is looked at while waiting for it.
pub const LOOK_EVERY: Duration = Duration::from_millis(40);

/// Waits until `look` gives something. An error of `look` means not yet; when `limit` is over, the last one tells what
/// was found instead of `what`. An error of `alive` ends the wait at once: what was waited for can't come any more.
pub fn until<T>(
    what: &str,
    limit: Duration,
    mut alive: impl FnMut() -> Result<()>,
    mut look: impl FnMut() -> Result<T>,
) -> Result<T> {
    let deadline = Instant::now() + limit;
    loop {
        alive().with_context(|| format!("while waiting for {what}"))?;
        match look() {
            Ok(found) => return Ok(found),
            Err(error) if Instant::now() >= deadline => {
                return Err(error.context(format!("waited {} s for {what}; found", limit.as_secs())));
            }
            Err(_) => thread::sleep(LOOK_EVERY),
        }
    }
}

/// A shell that holds the numbers of our children. When its input ends, which happens however this process ends, it
/// kills those that are left. It sits out the signals that a terminal sends to all of us.
pub struct Watchdog {
    shell: Mutex<Child>,
}

impl Watchdog {
    /// Starts the shell.
    pub fn start() -> Result<Self> {
        let script = "trap '' INT TERM HUP; left=' '
            while read -r sign number; do
                case $sign in
                +) left=\"$left$number \" ;;
                -) left=\"${left%% $number *} ${left#* $number }\" ;;
                esac
            done
            for number in $left; do kill -9 $number 2>/dev/null; done";
        let shell = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        Ok(Self { shell: Mutex::new(shell.context("`sh` could not be started")?) })
    }

    fn tell(&self, sign: char, number: u32) {
        // INVARIANT: the lock is held for one short write, which does not panic.
        if let Ok(mut shell) = self.shell.lock()
            && let Some(input) = shell.stdin.as_mut()
        {
            let _ = writeln!(input, "{sign} {number}");
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Ok(mut shell) = self.shell.lock() {
            drop(shell.stdin.take());
            let _ = shell.wait();
        }
    }
}

/// A running child. Its output goes to a file. Dropped, it is killed and waited for.
pub struct Running {
    name: &'static str,
    child: Child,
    log: PathBuf,
    watchdog: Arc<Watchdog>,
}

impl Running {
    /// Starts a command whose output, both streams, is appended to `log`.
    pub fn start(name: &'static str, command: &mut Command, log: &Path, watchdog: &Arc<Watchdog>) -> Result<Self> {
        let file = append(log)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        Self::spawn(name, command, log, watchdog)
    }

    /// Starts a command and waits for the line of its standard output that says it is ready: what follows `prefix`.
    pub fn start_ready(
        name: &'static str,
        command: &mut Command,
        log: &Path,
        watchdog: &Arc<Watchdog>,
        prefix: &'static str,
        limit: Duration,
    ) -> Result<(Self, String)> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(append(log)?);
        let mut running = Self::spawn(name, command, log, watchdog)?;
        let output = running.child.stdout.take().context("the output was piped above")?;
        let (ready, line) = mpsc::channel();
        let mut rest = append(log)?;
        // Reads to the end, so that the child never blocks on a full pipe.
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
                if let Some(found) = line.strip_prefix(prefix) {
                    let _ = ready.send(found.trim().to_owned());
                }
                let _ = writeln!(rest, "{line}");
            }
        });
        match line.recv_timeout(limit) {
            Ok(found) => Ok((running, found)),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                bail!(
                    "{name} did not say `{prefix}...` within {} s; its log ends:\n{}",
                    limit.as_secs(),
                    running.tail()
                )
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let status = running.child.wait()?;
                bail!("{name} ended ({status}) before it was ready; its log ends:\n{}", running.tail())
            }
        }
    }

    fn spawn(name: &'static str, command: &mut Command, log: &Path, watchdog: &Arc<Watchdog>) -> Result<Self> {
        let child = command.spawn().with_context(|| format!("{name} could not be started"))?;
        watchdog.tell('+', child.id());
        Ok(Self { name, child, log: log.to_owned(), watchdog: Arc::clone(watchdog) })
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// An error, with the end of its log, unless it runs.
    pub fn must_run(&mut self) -> Result<()> {
        match self.ended()? {
            None => Ok(()),
            Some(status) => bail!("{} ended ({status}); its log ends:\n{}", self.name, self.tail()),
        }
    }

    /// Its process number.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The last lines of its log.
    #[must_use]
    pub fn tail(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(15)..].join("\n")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        self.watchdog.tell('-', self.child.id());
    }
}

fn append(log: &Path) -> Result<File> {
    File::options().create(true).append(true).open(log).with_context(|| format!("`{}` can't be written", log.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alive(number: u32) -> bool {
        Command::new("kill").args(["-0", &number.to_string()]).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    }

    #[test]
    fn a_child_dies_with_its_guard_and_with_the_watchdog_s_input() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let log = place.path().join("log");
        let watchdog = Arc::new(Watchdog::start().expect("sh is there"));
        let running = Running::start("a sleeper", Command::new("sleep").arg("600"), &log, &watchdog).expect("started");
        let number = running.number();
        assert!(alive(number));
        drop(running);
        assert!(!alive(number));

        // Two that are left when this process goes away without dropping anything.
        let mut left: Vec<Child> = (0..3).map(|_| Command::new("sleep").arg("600").spawn().expect("started")).collect();
        for child in &left {
            watchdog.tell('+', child.id());
        }
        let spared = left[1].id();
        watchdog.tell('-', spared);
        drop(watchdog);
        let ended: Vec<bool> = left
            .iter_mut()
            .map(|child| {
                let ended = || child.try_wait()?.context("it runs");
                until("its end", Duration::from_secs(2), || Ok(()), ended).is_ok()
            })
            .collect();
        assert_eq!(ended, [true, false, true]);
        left[1].kill().expect("killed");
        left[1].wait().expect("waited");
    }

    #[test]
    fn readiness_is_a_line_and_an_early_end_is_told_with_the_log() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let log = place.path().join("log");
        let watchdog = Arc::new(Watchdog::start().expect("sh is there"));
        let start = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Running::start_ready("it", &mut command, &log, &watchdog, "listening on ", Duration::from_secs(10))
        };
        let (_running, found) = start("echo hello; echo listening on there; exec sleep 600").expect("ready");
        assert_eq!(found, "there");
        let error = start("echo no database >&2; exit 3").err().expect("it ended").to_string();
        assert!(error.contains("exit status: 3") && error.contains("no database"), "{error}");
    }
}
