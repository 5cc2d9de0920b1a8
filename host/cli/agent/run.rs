//! A command in a process group of its own: started, listened to, and ended as a whole when it must.

use std::{
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, Command},
    task::JoinHandle,
    time::timeout,
};

/// How long a command may take to end itself after SIGTERM.
const GRACE: Duration = Duration::from_secs(10);
/// How long output is waited for once the command has ended: something it left behind may hold it open for ever.
const OUTPUT_MAX: Duration = Duration::from_secs(1);
/// Longest line that is passed on, bytes; the rest of it is dropped.
const LINE_BYTES_MAX: usize = 8 * 1024;

/// A running command.
pub struct Running {
    child: Child,
    group: Option<Pid>,
    last_error_line: Arc<Mutex<String>>,
    readers: [Option<JoinHandle<()>>; 2],
}

impl Running {
    /// Starts it. Its output goes to our standard error, each line marked with the job.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(words: &[String], variables: Vec<(&'static str, String)>, job: &str) -> Result<Self> {
        let (program, arguments) = words.split_first().context("the command is empty")?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(variables)
            // The key is ours; what a command needs of the server it is told.
            .env_remove("TIDEGATE_API_KEY")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("`{program}` cannot be started"))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let last_error_line = Arc::new(Mutex::new(String::new()));
        let output = child.stdout.take().map(|output| pass_on(output, job.to_owned(), None));
        let errors =
            child.stderr.take().map(|errors| pass_on(errors, job.to_owned(), Some(Arc::clone(&last_error_line))));
        Ok(Self { child, group, last_error_line, readers: [output, errors] })
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub async fn ended(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait().await?)
    }

    /// The last line of its standard error, once it has ended.
    pub async fn last_error_line(&mut self) -> String {
        for reader in self.readers.iter_mut().filter_map(Option::take) {
            let _ = timeout(OUTPUT_MAX, reader).await;
        }
        self.last_error_line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the whole group: first politely.
    pub async fn end(&mut self) {
        self.signal(Signal::TERM);
        let _ = timeout(GRACE, self.child.wait()).await;
        // Also after a polite end of the leader: what it started may still be there.
        self.signal(Signal::KILL);
        let _ = self.child.wait().await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // An error means that nobody is left in the group.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Passes lines on to our standard error, and keeps the last one that says something.
fn pass_on(
    mut from: impl AsyncRead + Unpin + Send + 'static,
    job: String,
    last: Option<Arc<Mutex<String>>>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut lines = Lines::default();
        let mut part = vec![0; 4096];
        let keep = |line: String| {
            eprintln!("{job} | {line}");
            if let Some(last) = &last
                && !line.trim().is_empty()
            {
                *last.lock().unwrap_or_else(PoisonError::into_inner) = line.trim().to_owned();
            }
        };
        while let Ok(read @ 1..) = from.read(&mut part).await {
            lines.push(&part[..read]).into_iter().for_each(&keep);
        }
        lines.rest().into_iter().for_each(&keep);
    })
}

/// Puts lines together from bytes; long ones are cut.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
}

impl Lines {
    fn push(&mut self, part: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for piece in part.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                lines.push(self.take());
            }
        }
        lines
    }

    /// What came without an end.
    fn rest(&mut self) -> Option<String> {
        (!self.line.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.line)).trim_end_matches('\r').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn lines_are_put_together_and_long_ones_cut() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"a\nb"), ["a"]);
        assert_eq!(lines.push(b"c\r\n\n"), ["bc", ""]);
        assert_eq!(lines.rest(), None);
        assert!(lines.push(&vec![b'x'; 3 * LINE_BYTES_MAX]).is_empty());
        assert_eq!(lines.rest().map(|line| line.len()), Some(LINE_BYTES_MAX));
    }

    #[tokio::test]
    async fn a_command_ends_with_a_status_and_a_last_line() {
        let script = "echo out; echo first >&2; echo \"$TIDEGATE_VERSION\" >&2; echo >&2; exit 3";
        let mut running =
            Running::start(&words(script), vec![("TIDEGATE_VERSION", "v1".to_owned())], "job").expect("started");
        assert_eq!(running.ended().await.expect("told").code(), Some(3));
        assert_eq!(running.last_error_line().await, "v1");
        let missing = Running::start(&["/no/such/command".to_owned()], Vec::new(), "job").err().expect("not there");
        assert!(missing.to_string().contains("`/no/such/command` cannot be started"), "{missing}");
    }

    #[tokio::test]
    async fn what_a_command_started_ends_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let pid = folder.path().join("pid");
        // The child of the shell ignores SIGTERM, and outlives the shell unless the whole group is killed.
        let script = format!("(trap '' TERM; while :; do sleep 1; done) & echo $! > {}; wait", pid.display());
        let mut running = Running::start(&words(&script), Vec::new(), "job").expect("started");
        let child = loop {
            match std::fs::read_to_string(&pid).ok().and_then(|text| text.trim().parse::<i32>().ok()) {
                Some(child) => break Pid::from_raw(child).expect("a process"),
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        running.end().await;
        // It may still be there for an instant, as a zombie whose parent is gone.
        for _ in 0..500 {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero())).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the command's child still runs");
    }
}
