//! No guest forgotten: each is attacked with by some test.

use std::fs;

#[test]
fn every_guest_is_used_by_a_test() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let files = fs::read_dir(folder).expect("this folder").map(|entry| entry.expect("an entry").path());
    let tests: String = files.map(|path| fs::read_to_string(path).expect("a source file")).collect();
    let forgotten = |name: &str| !tests.contains(&format!("\"{name}\""));
    let names: Vec<&str> = guests::GUESTS.iter().map(|guest| guest.name).filter(|name| forgotten(name)).collect();
    assert!(names.is_empty(), "no test uses {names:?}");
    assert!(forgotten(&["some", "body"].concat()), "the check itself can fail");
    assert!(guests::GUESTS.len() >= 20);
}
