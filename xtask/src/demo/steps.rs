//! What happens on stage, one function a step. Each shows something with the command line, and then checks through the
//! API and over the sites' own HTTP that it is so; what is not so is told as expected and found.

use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{check, stage::Stage};
use crate::site::Site;

/// A step of the demo.
pub type Step = fn(&mut Stage<'_>) -> Result<()>;

/// All of them, in order. A step that a crash broke off may be done again: commands say what should be, not what to do.
pub const STEPS: &[(&str, Step)] = &[
    ("A server on an embedded database", serve),
    ("What there is, and what must be so", apply),
    ("Five folders, each with a web server", open_sites),
    ("Somebody who does the work", start_agent),
    ("CI reports v1: staging takes it", report_v1),
    ("Prod waits, and says for what", prod_waits),
    ("Somebody approves, and prod follows", approve_v1),
    ("All five sites serve v1", sites_serve_v1),
    ("CI reports v2: one copy fails, and is tried again", report_v2),
    ("The same approval again, for v2", approve_v2),
    ("All five sites serve v2", sites_serve_v2),
    ("What happened", timeline),
    ("What runs where", matrix),
];

const STAGING: [&str; 2] = ["staging-eu", "staging-us"];
const PROD: [&str; 3] = ["prod-ap", "prod-eu", "prod-us"];
/// Where v2's first copy fails.
const UNLUCKY: &str = "staging-us";

fn serve(stage: &mut Stage<'_>) -> Result<()> {
    let address = stage.server.address();
    stage.tell(&format!("\n$ tidegate serve --data-dir {}/data --listen 127.0.0.1:0", stage.folder.display()))?;
    stage.tell(&format!("listening on http://{address}"))
}

fn apply(stage: &mut Stage<'_>) -> Result<()> {
    let documents = stage.options.root.join("examples/quickstart");
    let documents = documents.to_str().context("the repository's path is not text")?.to_owned();
    stage.show(&["apply", "-f", &documents])?;
    let expected: BTreeSet<String> = STAGING.iter().chain(&PROD).map(|name| (*name).to_owned()).collect();
    let found: BTreeSet<String> =
        stage.list("/resources")?.iter().map(|resource| text(&resource["identifier"])).collect();
    ensure!(found == expected, "expected the resources {expected:?}; found {found:?}");
    let names: Vec<String> = stage.list("/policies")?.iter().map(|policy| text(&policy["name"])).collect();
    ensure!(names.len() == 2, "expected two policies; found {names:?}");
    Ok(())
}

fn open_sites(stage: &mut Stage<'_>) -> Result<()> {
    for resource in stage.list("/resources")? {
        let (identifier, path) = (text(&resource["identifier"]), text(&resource["config"]["path"]));
        ensure!(!path.is_empty(), "expected a path in the configuration of {identifier}; found {}", resource["config"]);
        let folder = stage.folder.join(path);
        fs::create_dir_all(&folder)?;
        let site = Site::serve(folder.join("current"))?;
        stage.tell(&format!("  {identifier:<12} http://{}/", site.address()))?;
        stage.sites.push((identifier, site));
    }
    let served = STAGING.iter().chain(&PROD).find(|name| stage.fetch(name).is_ok());
    ensure!(served.is_none(), "expected no site to serve anything yet; found that {served:?} does");
    Ok(())
}

fn start_agent(stage: &mut Stage<'_>) -> Result<()> {
    stage.start_agent("demo")
}

fn report_v1(stage: &mut Stage<'_>) -> Result<()> {
    stage.show(&["version", "create", "--deployment", "site", "--tag", "v1"])?;
    stage.wait("staging to run v1", |stage| all_run(stage, &STAGING, "v1"))?;
    stage.show(&["get", "targets"])?;
    for name in STAGING {
        serves(stage, name, "v1")?;
    }
    Ok(())
}

fn prod_waits(stage: &mut Stage<'_>) -> Result<()> {
    stage.wait("prod's targets to be planned", |stage| all_blocked(stage, "v1"))?;
    stage.show(&["explain", "site/prod/prod-eu"])?;
    for name in PROD {
        let answer = stage.fetch(name);
        ensure!(answer.is_err(), "expected {name} to serve nothing before the approval; found {answer:?}");
    }
    Ok(())
}

fn approve_v1(stage: &mut Stage<'_>) -> Result<()> {
    approve(stage, "v1")
}

fn approve(stage: &mut Stage<'_>, tag: &str) -> Result<()> {
    stage.show(&["approve", "--deployment", "site", "--version", tag, "--environment", "prod"])?;
    stage.wait(&format!("prod to run {tag}"), |stage| all_run(stage, &PROD, tag))?;
    stage.show(&["get", "targets", "--environment", "prod"])?;
    Ok(())
}

fn sites_serve_v1(stage: &mut Stage<'_>) -> Result<()> {
    sites_serve(stage, "v1")
}

fn sites_serve(stage: &mut Stage<'_>, tag: &str) -> Result<()> {
    for name in STAGING.iter().chain(&PROD) {
        let line = serves(stage, name, tag)?;
        stage.tell(&format!("  {name:<12} {line}"))?;
    }
    Ok(())
}

fn report_v2(stage: &mut Stage<'_>) -> Result<()> {
    // What a copy leaves behind that broke off: the lock of a process that is not there any more.
    let lock = stage.folder.join("sites").join(UNLUCKY).join(".deploying");
    fs::write(&lock, "0\n")?;
    stage.tell(&format!("  ({UNLUCKY} has the lock of a copy that broke off: the first attempt will fail there)"))?;
    stage.show(&["version", "create", "--deployment", "site", "--tag", "v2"])?;
    stage.wait(&format!("the first attempt on {UNLUCKY} to fail"), |stage| {
        let attempts = attempts(stage, UNLUCKY, "v2")?;
        ensure!(attempts.first().is_some_and(|(_, status)| status == "failed"), "attempts: {attempts:?}");
        Ok(())
    })?;
    stage.show(&["explain", "site/staging/staging-us", "--version", "v2"])?;
    stage.wait("staging to run v2", |stage| all_run(stage, &STAGING, "v2"))?;
    stage.show(&["get", "jobs", "--target", "site/staging/staging-us"])?;
    for name in STAGING {
        serves(stage, name, "v2")?;
    }
    stage.wait("prod to wait for an approval of v2", |stage| all_blocked(stage, "v2"))?;
    for name in PROD {
        serves(stage, name, "v1")?;
    }
    Ok(())
}

fn approve_v2(stage: &mut Stage<'_>) -> Result<()> {
    approve(stage, "v2")
}

fn sites_serve_v2(stage: &mut Stage<'_>) -> Result<()> {
    sites_serve(stage, "v2")
}

fn timeline(stage: &mut Stage<'_>) -> Result<()> {
    stage.show(&["events"])?;
    let broken = check::broken(&stage.events()?, &stage.list("/jobs?limit=1000")?, Some(&stage.executions()?));
    ensure!(broken.is_empty(), "expected a sound trail; found:\n  {}", broken.join("\n  "));
    let completed = |times: u32| (times, "completed".to_owned());
    for (tag, name) in ["v1", "v2"].iter().flat_map(|tag| STAGING.iter().chain(&PROD).map(move |name| (*tag, *name))) {
        let expected = match (tag, name) {
            ("v2", UNLUCKY) => vec![(1, "failed".to_owned()), completed(2)],
            _ => vec![completed(1)],
        };
        let found = attempts(stage, name, tag)?;
        ensure!(found == expected, "{tag} on {name}: expected the attempts {expected:?}; found {found:?}");
    }
    Ok(())
}

fn matrix(stage: &mut Stage<'_>) -> Result<()> {
    stage.show(&["get", "targets", "--why"])?;
    let everywhere = [&STAGING[..], &PROD[..]].concat();
    all_run(stage, &everywhere, "v2")
}

/// That the targets on these resources run that version, and want no other.
fn all_run(stage: &Stage<'_>, resources: &[&str], tag: &str) -> Result<()> {
    let targets = stage.list("/release-targets")?;
    for name in resources {
        let target = target_on(&targets, name)?;
        let (current, desired) = (&target["currentVersion"]["tag"], &target["desiredVersion"]["tag"]);
        ensure!(
            *current == tag && *desired == tag,
            "{name} runs {current} and should run {desired}; its latest job is {}",
            target["latestJob"]
        );
    }
    Ok(())
}

/// That every prod target is held by the approval rule, and says so of that version.
fn all_blocked(stage: &Stage<'_>, tag: &str) -> Result<()> {
    let targets = stage.list("/release-targets")?;
    for name in PROD {
        let key = text(&target_on(&targets, name)?["key"]);
        let report = stage.get(&format!("/release-targets/{key}/explain"))?;
        ensure!(report["standing"] == "blocked", "{name} is {}: {}", report["standing"], report["reason"]);
        let candidates = report["candidates"].as_array().context("a report without candidates")?;
        let candidate = candidates.iter().find(|candidate| candidate["version"]["tag"] == tag);
        let candidate = candidate.with_context(|| format!("{name} says nothing of {tag}: {candidates:?}"))?;
        let gates = candidate["gates"].as_array().context("a candidate without gates")?;
        let holds = |gate: &&Value| gate["policy"] == "prod-approval" && gate["verdict"] != "allow";
        let gate =
            gates.iter().find(holds).with_context(|| format!("{name}: prod-approval does not hold: {gates:?}"))?;
        ensure!(!text(&gate["reason"]).is_empty(), "{name}: prod-approval gives no reason: {gate}");
    }
    Ok(())
}

fn target_on<'targets>(targets: &'targets [Value], resource: &str) -> Result<&'targets Value> {
    let found = targets.iter().find(|target| target["resource"]["identifier"] == resource);
    found.with_context(|| format!("{resource} has no release target (there are {})", targets.len()))
}

/// Attempt and status of every job that was to bring that version there, in order.
fn attempts(stage: &Stage<'_>, resource: &str, tag: &str) -> Result<Vec<(u32, String)>> {
    let jobs = stage.list("/jobs?limit=1000")?;
    let ours = jobs.iter().filter(|job| job["resource"]["identifier"] == resource && job["version"]["tag"] == tag);
    let attempt = |job: &Value| job["attempt"].as_u64().and_then(|attempt| u32::try_from(attempt).ok()).unwrap_or(0);
    let mut attempts: Vec<(u32, String)> = ours.map(|job| (attempt(job), text(&job["status"]))).collect();
    attempts.sort();
    Ok(attempts)
}

/// That a site serves that version and no other; the line of the page that says so.
fn serves(stage: &Stage<'_>, resource: &str, tag: &str) -> Result<String> {
    let page = stage.fetch(resource)?;
    let wanted = format!("<strong>{tag}</strong>");
    let line = page.lines().find(|line| line.contains(&wanted));
    let line = line.with_context(|| format!("{resource}: expected a page with {wanted}; found:\n{page}"))?;
    Ok(line.trim().to_owned())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
