//! The demo that people see, as a test: everything in it is checked by itself.

use xtask::demo::{self, Faults};

use crate::world;

#[test]
fn a_version_goes_in_releases_come_out_jobs_are_done() {
    let mut shown = Vec::new();
    let result = demo::run(&world::options(Faults::None), &mut shown);
    let shown = String::from_utf8_lossy(&shown);
    let summary = result.unwrap_or_else(|error| panic!("{error:#}\n{shown}"));
    // Five for v1, five for v2, and one more for the copy that failed.
    assert_eq!(summary.jobs, 11, "{shown}");
}
