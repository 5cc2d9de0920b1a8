//! The server dies, at every named place and at random moments of the demo, and is started again on the same data. The
//! demo must finish as if nothing had happened: its own checks are strict about jobs, attempts and the trail.
//!
//! What is not tested here: an agent that dies (its lease does the rest; see the tests of dispatch), and a disk that
//! loses what was synced.

use std::time::Duration;

use xtask::demo::{self, Faults, Summary};

use crate::world;

fn survive(faults: Faults) -> Summary {
    let mut shown = Vec::new();
    let result = demo::run(&world::options(faults.clone()), &mut shown);
    let shown = String::from_utf8_lossy(&shown);
    let summary = result.unwrap_or_else(|error| panic!("{faults:?}: {error:#}\n{shown}"));
    assert_eq!(summary.jobs, 11, "{faults:?}\n{shown}");
    summary
}

/// A demo with a crash at the nth hit of a point, for each n.
fn crash_at(point: &str, hits: &[u32]) {
    for hit in hits {
        let summary = survive(Faults::CrashAt(format!("{point}:{hit}")));
        assert_eq!(summary.deaths, 1, "{point} was not reached {hit} times: the demo does not pass it that often");
    }
}

#[test]
fn when_the_snapshot_is_read() {
    crash_at("engine.snapshot_read", &[1, 5]);
}

#[test]
fn before_a_plan_is_committed() {
    crash_at("engine.before_commit", &[1, 4]);
}

#[test]
fn when_a_plan_is_committed_and_nobody_knows() {
    crash_at("engine.committed", &[1, 3]);
}

#[test]
fn when_a_job_is_claimed_and_the_agent_does_not_know() {
    crash_at("dispatch.claimed", &[1]);
}

#[test]
fn when_an_acknowledgement_is_kept_and_the_agent_does_not_know() {
    crash_at("dispatch.acknowledged", &[2]);
}

#[test]
fn when_a_result_is_kept_and_the_agent_does_not_know() {
    crash_at("dispatch.result_committed", &[1, 6]);
}

#[test]
fn when_a_command_is_done_and_the_person_does_not_know() {
    // The documents, a version, an approval.
    crash_at("command.committed", &[1, 2, 3]);
}

#[test]
fn at_any_moment_again_and_again() {
    for seed in [1, 2] {
        let kill = Faults::Kill { seed, times: 6, from: Duration::from_millis(20), to: Duration::from_millis(1200) };
        let summary = survive(kill);
        assert!(summary.deaths > 0, "seed {seed}: the demo was over before the first kill");
    }
}
