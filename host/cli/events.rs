//! `tidegate events`: the audit trail, up to now or as it grows.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use anyhow::Result;
use clap::Args;
use futures::StreamExt as _;
use serde_json::Value as Json;

use crate::{
    client::{Client, is_passing},
    get::target_path,
    output::{self, Format, instant, pairs, text},
};

/// Events asked for at a time.
const PAGE: usize = 500;
/// Waits between attempts to follow a server that is away; the last one repeats.
const RECONNECT: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(3)];
/// Longest event that is read, bytes; more without an end is not a stream of events.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Arguments of `tidegate events`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate events                       everything up to now
  tidegate events --follow              and then whatever comes, until you stop it
  tidegate events --after 120 -o json   one JSON object a line")]
pub struct Events {
    /// Go on as events come
    #[arg(long, short = 'F')]
    follow: bool,
    /// Only events behind this position
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    after: i64,
}

/// Prints the trail.
pub async fn run(client: &Client, format: Format, arguments: Events) -> Result<()> {
    let mut printer = Printer { client, format, names: Names::default() };
    let mut position = arguments.after;
    loop {
        let query = [("after", position.to_string()), ("limit", PAGE.to_string())];
        let page = client.get(client.in_workspace(&["events"]), &query).await?;
        let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        for event in items {
            printer.show(event).await?;
            position = event["position"].as_i64().unwrap_or(position).max(position);
        }
        if items.is_empty() {
            break;
        }
    }
    if arguments.follow { follow(printer, position).await } else { Ok(()) }
}

/// Follows the stream, and takes it up again where it broke off.
async fn follow(mut printer: Printer<'_>, mut position: i64) -> Result<()> {
    let client = printer.client;
    let mut failures = 0_usize;
    loop {
        let after = position.to_string();
        let url = client.in_workspace(&["events", "stream"]);
        match client.stream(url, &[("after", after.clone())], Some(&after)).await {
            Ok(answer) => {
                let mut bytes = answer.bytes_stream();
                let mut lines = Lines::default();
                // An error here is a connection that broke off: we go on where it did.
                while let Some(Ok(part)) = bytes.next().await {
                    for event in lines.push(&part)? {
                        failures = 0;
                        let next = event["position"].as_i64().unwrap_or(position);
                        if next > position {
                            printer.show(&event).await?;
                            position = next;
                        }
                    }
                }
            }
            Err(error) if is_passing(&error) => {
                if failures == 0 {
                    eprintln!("{error}; trying again");
                }
            }
            Err(error) => return Err(error),
        }
        tokio::time::sleep(RECONNECT[failures.min(RECONNECT.len() - 1)]).await;
        failures += 1;
    }
}

/// Prints events as they come.
struct Printer<'a> {
    client: &'a Client,
    format: Format,
    names: Names,
}

impl Printer<'_> {
    /// One event a line: a table whose end is not known can't be aligned as a whole.
    async fn show(&mut self, event: &Json) -> Result<()> {
        match self.format {
            Format::Table => {
                self.names.learn(event);
                if self.names.lacks_target(event) {
                    self.names.targets = targets(self.client).await?;
                }
                output::line(&render(event, &self.names))
            }
            Format::Json => output::line(&event.to_string()),
            Format::Yaml => output::line(&format!("---\n{}", serde_saphyr::to_string(event)?.trim_end())),
        }
    }
}

/// What people call the things that events name by id.
#[derive(Debug, Default)]
struct Names {
    /// By deployment, environment and resource.
    targets: HashMap<[String; 3], String>,
    /// Tags by version, as the trail tells them.
    versions: HashMap<String, String>,
    /// Targets that the server does not know either; asked for once.
    unknown: HashSet<[String; 3]>,
}

impl Names {
    fn learn(&mut self, event: &Json) {
        let told = ["tag", "version"].iter().find_map(|key| event["data"][key].as_str());
        if let (Some(version), Some(tag)) = (event["subject"]["versionId"].as_str(), told) {
            self.versions.insert(version.to_owned(), tag.to_owned());
        }
    }

    /// Whether a target is named whose name we do not know and have not asked for.
    fn lacks_target(&mut self, event: &Json) -> bool {
        match target_of(event) {
            Some(target) if !self.targets.contains_key(&target) => self.unknown.insert(target),
            Some(_) | None => false,
        }
    }
}

async fn targets(client: &Client) -> Result<HashMap<[String; 3], String>> {
    let targets = client.list(client.in_workspace(&["release-targets"]), &[]).await?;
    let key = |target: &Json| ["deployment.id", "environment.id", "resource.id"].map(|part| text(target, part));
    Ok(targets.iter().map(|target| (key(target), target_path(target))).collect())
}

fn target_of(event: &Json) -> Option<[String; 3]> {
    let id = |key: &str| event["subject"][key].as_str().map(str::to_owned);
    Some([id("deploymentId")?, id("environmentId")?, id("resourceId")?])
}

fn render(event: &Json, names: &Names) -> String {
    let (position, at, kind) = (text(event, "position"), instant(event, "at"), text(event, "kind"));
    let mut parts = Vec::new();
    if let Some(path) = target_of(event).and_then(|target| names.targets.get(&target)) {
        parts.push(path.clone());
    }
    if let Some(tag) = event["subject"]["versionId"].as_str().and_then(|version| names.versions.get(version)) {
        parts.push(tag.clone());
    }
    let mut data = event["data"].clone();
    if let Some(data) = data.as_object_mut() {
        // Told by the names before, or of use to programs only.
        let told = ["target", "version", "tag", "leaseToken", "node"];
        data.retain(|key, value| {
            *value != "" && !(told.contains(&key.as_str()) && (key == "leaseToken" || !parts.is_empty()))
        });
    }
    parts.push(pairs(&data));
    match text(event, "actor").as_str() {
        "-" | "system" => {}
        actor => parts.push(format!("(by {actor})")),
    }
    parts.retain(|part| !part.is_empty());
    format!("{position:>5}  {at}  {kind:<20}  {}", parts.join("  ")).trim_end().to_owned()
}

/// Puts the bytes of an event stream together again and gives the data of each event.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
    data: String,
}

impl Lines {
    fn push(&mut self, part: &[u8]) -> Result<Vec<Json>> {
        self.rest.extend_from_slice(part);
        anyhow::ensure!(
            self.rest.len() + self.data.len() <= EVENT_BYTES_MAX,
            "the stream holds an event of more than {EVENT_BYTES_MAX} bytes"
        );
        let mut events = Vec::new();
        let mut start = 0;
        while let Some(length) = self.rest[start..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.rest[start..start + length]).into_owned();
            start += length + 1;
            let line = line.trim_end_matches('\r');
            if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            } else if line.is_empty() && !self.data.is_empty() {
                events.push(serde_json::from_str(&std::mem::take(&mut self.data))?);
            }
        }
        self.rest.drain(..start);
        Ok(events)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stream_is_put_together_whatever_its_pieces() {
        let stream = b"id: 1\nevent: job_created\ndata: {\"position\":1}\n\n: keep-alive\n\nid: 2\r\ndata: {\"position\":\ndata: 2}\r\n\r\n";
        for size in [1, 2, 3, 7, stream.len()] {
            let mut lines = Lines::default();
            let mut events = Vec::new();
            for part in stream.chunks(size) {
                events.extend(lines.push(part).expect("a stream of events"));
            }
            assert_eq!(events, [json!({"position": 1}), json!({"position": 2})], "{size}");
        }
        assert!(Lines::default().push(b"data: nonsense\n\n").is_err());
        assert!(Lines::default().push(&vec![b'x'; EVENT_BYTES_MAX + 1]).is_err());
    }

    #[test]
    fn an_event_is_a_line_with_names_for_ids() {
        let mut names = Names::default();
        let created = json!({"position": 7, "at": "2026-03-02T08:00:00.000Z", "kind": "version_created",
            "actor": "user:ci", "subject": {"versionId": "v"}, "data": {"tag": "v1", "deployment": "site"}});
        names.learn(&created);
        assert_eq!(
            render(&created, &names),
            "    7  2026-03-02T08:00:00Z  version_created       v1  deployment=site  (by user:ci)"
        );

        let started = json!({"position": 8, "at": "2026-03-02T08:00:01.000Z", "kind": "job_started",
            "actor": "node:n1", "subject": {"deploymentId": "d", "environmentId": "e", "resourceId": "r",
            "versionId": "v"}, "data": {"attempt": 2, "node": "n1", "leaseToken": 3, "message": ""}});
        assert!(names.lacks_target(&started));
        // Asked for once, whatever came of it.
        assert!(!names.lacks_target(&started));
        names.targets.insert(["d", "e", "r"].map(str::to_owned), "site/prod/c1".to_owned());
        assert_eq!(
            render(&started, &names),
            "    8  2026-03-02T08:00:01Z  job_started           site/prod/c1  v1  attempt=2  (by node:n1)"
        );
    }
}
