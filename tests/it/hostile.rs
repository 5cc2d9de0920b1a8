//! Policies that trap, loop for ever, take a GiB, answer nonsense: uploaded and used like any other. Each blocks what
//! it governs, with the reason, and everything else goes on.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::demo::{Faults, Stage};

use crate::world;

/// A guest, what it is told, and the codes that its failure may have. What takes a while may run out of time first:
/// the machine may be busy, and the limit is on the wall's clock.
const HOSTILE: &[(&str, &str, &[&str])] = &[
    ("traps", "", &["eval_trap"]),
    ("loops", "", &["eval_timeout", "eval_fuel"]),
    ("takes_memory", "1024", &["eval_memory", "eval_timeout"]),
    ("nonsense", "past_wait", &["invalid_output"]),
    ("nonsense", "no_reason", &["invalid_output"]),
    ("nonsense", "huge_answer", &["output_too_large", "eval_memory", "eval_timeout"]),
    ("overflows_stack", "", &["eval_stack", "eval_timeout"]),
    ("returns_error", "", &["policy_error"]),
];

#[test]
fn a_hostile_policy_blocks_with_the_reason_and_everything_else_goes_on() {
    world::play(Faults::None, |stage| {
        world::apply_quickstart(stage)?;
        let mut guests: Vec<&str> = HOSTILE.iter().map(|(guest, ..)| *guest).collect();
        guests.dedup();
        for guest in guests {
            push(stage, guest)?;
        }
        world::apply(stage, "hostile.yaml", &documents())?;
        stage.start_agent("one")?;
        stage.show(&["version", "create", "--deployment", "site", "--tag", "v1"])?;

        // What no hostile rule governs, and what one governs that was forgiven.
        for name in ["staging-eu", "staging-us", "forgiven"] {
            stage.wait(&format!("{name} to run v1"), |stage| runs(stage, name, "v1"))?;
        }
        for (index, (guest, what, codes)) in HOSTILE.iter().enumerate() {
            let name = place(index);
            let reason = stage.wait(&format!("{name} to be blocked"), |stage| blocked(stage, &name, codes))?;
            ensure!(!reason.is_empty(), "{guest} {what}: expected a reason; found none");
            let shown = stage.show(&["explain", &format!("site/staging/{name}")])?;
            ensure!(
                codes.iter().any(|code| shown.contains(code)),
                "{guest} {what}: expected `tidegate explain` to show one of {codes:?}; found:\n{shown}"
            );
        }

        // It still goes on: another version comes through where it may, and the server is well.
        stage.show(&["version", "create", "--deployment", "site", "--tag", "v2"])?;
        stage.wait("staging-eu to run v2", |stage| runs(stage, "staging-eu", "v2"))?;
        let ready = stage.send("GET", "/readyz", "")?;
        ensure!(ready.status == 200, "expected a server that is ready; found {}: {}", ready.status, ready.text());
        let jobs = stage.list("/jobs?limit=1000")?;
        let escaped =
            jobs.iter().find(|job| job["resource"]["identifier"].as_str().is_some_and(|n| n.starts_with("bad-")));
        ensure!(escaped.is_none(), "expected no job where a policy could not answer; found {escaped:?}");
        Ok(())
    });
}

#[test]
fn what_can_be_seen_at_upload_is_refused_there() {
    world::play(Faults::None, |stage| {
        for (guest, code) in [
            ("imports_sockets", "unknown_import"),
            ("loops_in_describe", "init_timeout"),
            ("traps_in_start", "init_trap"),
            ("schema_is_none", "settings_schema"),
        ] {
            let error = push(stage, guest).err().with_context(|| format!("expected {guest} to be refused"))?;
            let told = format!("{error:#}");
            ensure!(told.contains(code), "{guest}: expected the code {code}; found: {told}");
        }
        let there = stage.list("/plugins?limit=1000")?;
        let kept = there.iter().find(|plugin| {
            plugin["name"].as_str().is_some_and(|name| guests::GUESTS.iter().any(|guest| guest.name == name))
        });
        ensure!(kept.is_none(), "expected nothing to be kept of what was refused; found {kept:?}");
        Ok(())
    });
}

fn push(stage: &mut Stage<'_>, guest: &str) -> Result<()> {
    let file = stage.folder.join(format!("{guest}.wasm"));
    std::fs::write(&file, guests::guest(guest))?;
    stage.show(&["plugin", "push", world::text(&file), "--name", guest, "--version", "1.0.0"])?;
    Ok(())
}

fn place(index: usize) -> String {
    format!("bad-{index}")
}

/// A place for each hostile policy, and one where a hostile policy was forgiven.
fn documents() -> String {
    let mut documents = String::new();
    let mut add = |place: &str, guest: &str, what: &str, more: &str| {
        let _ = write!(
            documents,
            "---\ntype: Resource\nidentifier: {place}\nkind: Folder\nmetadata: {{env: staging}}\n\
             config: {{path: sites/{place}}}\n\
             ---\ntype: Policy\nname: {place}\nselector: resource.identifier == '{place}'\n\
             rules:\n  - plugin: {{name: {guest}, config: {{what: '{what}'}}}}\n{more}"
        );
    };
    for (index, (guest, what, _)) in HOSTILE.iter().enumerate() {
        add(&place(index), guest, what, "");
    }
    add("forgiven", "loops", "", "    onError: allow\n");
    documents
}

fn runs(stage: &Stage<'_>, resource: &str, tag: &str) -> Result<()> {
    let target = target(stage, resource)?;
    ensure!(target["currentVersion"]["tag"] == tag, "it is so: {target}");
    Ok(())
}

/// That a target is blocked by a rule that could not answer, and why.
fn blocked(stage: &Stage<'_>, resource: &str, codes: &[&str]) -> Result<String> {
    let key = target(stage, resource)?["key"].as_str().unwrap_or_default().to_owned();
    let report = stage.get(&format!("/release-targets/{key}/explain"))?;
    ensure!(report["standing"] == "blocked", "it is {}: {}", report["standing"], report["reason"]);
    let gates = report["candidates"][0]["gates"].as_array().context("no gates")?;
    let gate = gates.iter().find(|gate| gate["policy"] == resource).context("its own policy says nothing")?;
    let fault = gate["fault"].as_str().unwrap_or_default();
    ensure!(codes.contains(&fault), "expected a fault of {codes:?}; found {gate}");
    Ok(gate["reason"].as_str().unwrap_or_default().to_owned())
}

fn target(stage: &Stage<'_>, resource: &str) -> Result<Value> {
    let targets = stage.list("/release-targets?limit=1000")?;
    let found = targets.into_iter().find(|target| target["resource"]["identifier"] == resource);
    found.with_context(|| format!("{resource} has no release target"))
}
