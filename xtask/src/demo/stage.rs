//! What a demo has on stage: a temporary folder, the sites, the server, the agent; and the two ways to speak to the
//! server, the command line (shown to whoever watches) and the API (to check that what is shown is so).

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{
    demo::{Execution, Options, Summary, server::Server},
    http,
    process::{Running, Watchdog, until},
    site::Site,
};

/// Where agents' commands write down what they carry out.
const EXECUTIONS: &str = "executions";

/// Everything that runs, and where. Fields are dropped in this order: who asks goes before who answers.
pub struct Stage<'a> {
    pub agents: Vec<Running>,
    pub server: Server,
    pub sites: Vec<(String, Site)>,
    pub options: &'a Options,
    pub folder: PathBuf,
    key: String,
    watchdog: Arc<Watchdog>,
    out: &'a mut dyn Write,
}

impl<'a> Stage<'a> {
    /// Starts the server in `folder`, which is empty.
    pub fn set(options: &'a Options, folder: &Path, out: &'a mut dyn Write) -> Result<Self> {
        let watchdog = Arc::new(Watchdog::start()?);
        let data = folder.join("data");
        let server = Server::start(&options.binary, &data, &folder.join("server.log"), &options.faults, &watchdog)?;
        let key_file = data.join("admin-key");
        let key = fs::read_to_string(&key_file)
            .with_context(|| format!("the server listens, but its first key is not in `{}`", key_file.display()))?;
        Ok(Self {
            agents: Vec::new(),
            server,
            sites: Vec::new(),
            options,
            folder: folder.to_owned(),
            key: key.trim().to_owned(),
            watchdog,
            out,
        })
    }

    /// A line for whoever watches.
    pub fn tell(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.out, "{line}")?)
    }

    /// Runs `tidegate` and gives its standard output. In a demo with faults the server may just be away: what is run
    /// here may be run twice.
    pub fn tidegate(&self, arguments: &[&str]) -> Result<String> {
        if matches!(self.options.faults, super::Faults::None) {
            return self.tidegate_once(arguments);
        }
        self.wait(&format!("`tidegate {}`", arguments.join(" ")), |stage| stage.tidegate_once(arguments))
    }

    /// The same, shown: the command, and what it printed.
    pub fn show(&mut self, arguments: &[&str]) -> Result<String> {
        let root = format!("{}/", self.options.root.display());
        let shown: Vec<String> = arguments
            .iter()
            .map(|argument| argument.trim_start_matches(&root))
            .map(|argument| if argument.contains(' ') { format!("'{argument}'") } else { argument.to_owned() })
            .collect();
        self.tell(&format!("\n$ tidegate {}", shown.join(" ")))?;
        let printed = self.tidegate(arguments)?;
        self.tell(printed.trim_end())?;
        Ok(printed)
    }

    /// Starts an agent whose node is called `node`. What it runs writes down for which job, under which token, and then
    /// runs the quickstart's own script.
    pub fn start_agent(&mut self, node: &str) -> Result<()> {
        let script = self.options.root.join("examples/quickstart/deploy.sh");
        let script = script.to_str().context("the repository's path is not text")?;
        self.tell(
            "\n$ tidegate agent --agent sites -- examples/quickstart/deploy.sh '{{resource.config.path}}' '{{version.tag}}'",
        )?;
        let noted = format!("echo $TIDEGATE_JOB_ID $TIDEGATE_LEASE_TOKEN >>{EXECUTIONS}; exec \"$0\" \"$@\"");
        let arguments = ["agent", "--agent", "sites", "--node", node, "--"];
        let mut command = self.command(&arguments);
        command.args(["sh", "-c", &noted, script, "{{resource.config.path}}", "{{version.tag}}"]);
        let log = self.folder.join("agent.log");
        let agent = Running::start("the agent", &mut command, &log, &self.watchdog)?;
        self.agents.push(agent);
        Ok(())
    }

    /// What agents carried out, in the order in which it began.
    pub fn executions(&self) -> Result<Vec<Execution>> {
        let text = fs::read_to_string(self.folder.join(EXECUTIONS))?;
        let execution = |line: &str| {
            let (job, token) = line.split_once(' ').unwrap_or((line, ""));
            ensure!(!job.is_empty() && !token.is_empty(), "the agent told its command no job or no token: `{line}`");
            Ok(Execution { job: job.to_owned(), token: token.to_owned() })
        };
        text.lines().map(execution).collect()
    }

    /// What it came to.
    pub fn summary(&self, took: Duration) -> Result<Summary> {
        let (jobs, events) = (self.list("/jobs?limit=1000")?, self.events()?);
        Ok(Summary { took, deaths: self.server.deaths(), events: events.len(), jobs: jobs.len() })
    }

    /// A GET of the API, below the workspace.
    pub fn get(&self, path: &str) -> Result<Value> {
        let path = format!("/api/v1/workspaces/default{path}");
        let answer = self.send("GET", &path, "")?;
        ensure!(answer.status == 200, "GET {path}: {}: {}", answer.status, answer.text());
        answer.json()
    }

    /// Any request, whole path; what came back, whatever its status. In a demo with faults the server may just be away:
    /// what is sent here may be sent twice.
    pub fn send(&self, method: &str, path: &str, body: &str) -> Result<http::Response> {
        let bearer = format!("Bearer {}", self.key);
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let once = || http::request(self.server.address(), method, path, &headers, body.as_bytes());
        if matches!(self.options.faults, super::Faults::None) {
            return once();
        }
        self.wait(&format!("an answer to {method} {path}"), |_| once())
    }

    /// All items of a list that fits one page.
    pub fn list(&self, path: &str) -> Result<Vec<Value>> {
        let answer = self.get(path)?;
        let items = answer["items"].as_array().with_context(|| format!("{path} gives no items: {answer}"))?;
        if let Some(total) = answer["total"].as_u64() {
            ensure!(total == items.len() as u64, "{path}: {} of {total} items", items.len());
        }
        Ok(items.clone())
    }

    /// The whole trail, page by page.
    pub fn events(&self) -> Result<Vec<Value>> {
        let mut events: Vec<Value> = Vec::new();
        loop {
            let after = events.last().and_then(|event| event["position"].as_i64()).unwrap_or(0);
            let page = self.get(&format!("/events?after={after}&limit=500"))?;
            let items = page["items"].as_array().with_context(|| format!("events without items: {page}"))?;
            if items.is_empty() {
                return Ok(events);
            }
            events.extend(items.iter().cloned());
        }
    }

    /// What the site of a resource serves at its root.
    pub fn fetch(&self, resource: &str) -> Result<String> {
        let site = self.sites.iter().find(|(name, _)| name == resource);
        let (_, site) = site.with_context(|| format!("`{resource}` has no site"))?;
        let answer = http::request(site.address(), "GET", "/", &[], b"")?;
        ensure!(answer.status == 200, "http://{}/ ({resource}) answers {}", site.address(), answer.status);
        Ok(answer.text())
    }

    /// Waits until `look` finds what it looks for. Ends at once when the server or an agent is not there any more.
    pub fn wait<T>(&self, what: &str, mut look: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        // With faults, an offer whose answer was lost takes half a minute to come back, perhaps more than once.
        let faultless = matches!(self.options.faults, super::Faults::None);
        let limit = Duration::from_secs(if faultless { 30 } else { 150 });
        until(what, limit, || self.server.must_run(), || look(self))
    }

    fn tidegate_once(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).stdin(Stdio::null()).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("`tidegate {}` failed ({}): {}", arguments.join(" "), output.status, said.trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.options.binary);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("TIDEGATE_URL", format!("http://{}", self.server.address()))
            .env("TIDEGATE_API_KEY", &self.key)
            .env_remove("TIDEGATE_WORKSPACE")
            .env_remove("TIDEGATE_CRASH_AT");
        command
    }
}
