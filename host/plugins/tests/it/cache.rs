//! Native code on disk is used when it is ours and whole, and never otherwise.

use std::{
    fs,
    path::{Path, PathBuf},
};

use plugins::{Host, HostConfig};

use crate::support::{ask, gate, load, patient, reason};

fn host(folder: &Path) -> Host {
    let config = HostConfig { cache_dir: Some(folder.to_owned()), workers: 1, queue: 8, limits: patient() };
    Host::new(config).expect("a host")
}

fn code_file(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut code: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "code")).collect();
    assert_eq!(code.len(), 1, "{code:?}");
    code.remove(0)
}

/// Loads and asks with a host of its own, as a start of the server would.
async fn start_and_ask(folder: &Path) {
    let host = host(folder);
    let digest = load(&host, "counts_calls").await;
    assert_eq!(reason(&ask(&mut host.session(), gate(digest, "")).await), "call 1");
}

#[tokio::test]
async fn the_second_start_takes_the_code_from_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    start_and_ask(folder.path()).await;
    let file = code_file(folder.path());
    let written = fs::metadata(&file).expect("a file").modified().expect("a time");
    start_and_ask(folder.path()).await;
    assert_eq!(fs::metadata(&file).expect("a file").modified().expect("a time"), written, "it was not compiled again");
}

#[tokio::test]
async fn tampered_code_is_discarded_and_compiled_again() {
    let folder = tempfile::tempdir().expect("a folder");
    start_and_ask(folder.path()).await;
    let file = code_file(folder.path());
    let good = fs::read(&file).expect("code");
    let change = |place: usize| {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        bytes
    };
    for (what, bytes) in [
        ("layout", change(0)),
        ("tag", change(8)),
        ("code", change(good.len() / 2)),
        ("end", change(good.len() - 1)),
        ("cut short", good[..good.len() - 1].to_vec()),
        ("empty", Vec::new()),
        ("grown", [good.as_slice(), b"x"].concat()),
    ] {
        fs::write(&file, bytes).expect("written");
        start_and_ask(folder.path()).await;
        assert!(fs::read(&file).expect("code").len() >= good.len(), "{what}: it was compiled again");
    }
}

#[tokio::test]
async fn code_of_another_component_or_another_key_is_not_ours() {
    let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    start_and_ask(folder.path()).await;
    let file = code_file(folder.path());

    // The same bytes under another digest's name.
    let host = host(other.path());
    load(&host, "traps").await;
    let foreign = fs::read(code_file(other.path())).expect("code");
    fs::write(&file, &foreign).expect("written");
    start_and_ask(folder.path()).await;
    assert_ne!(fs::read(&file).expect("code"), foreign, "it was compiled again");

    // The same component, written under a key that is not there any more.
    let before = fs::read(&file).expect("code");
    fs::write(folder.path().join("key"), b"short").expect("written");
    start_and_ask(folder.path()).await;
    assert_ne!(fs::read(&file).expect("code"), before, "another tag");
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_or_write_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("code");
    start_and_ask(&inside).await;
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&inside), mode(&inside.join("key")), mode(&code_file(&inside))), (0o700, 0o600, 0o600));
}
