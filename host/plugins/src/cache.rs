//! Native code on disk, so that a start does not compile what an earlier one did.
//!
//! Native code runs without any sandbox, so a file is used only if its HMAC over engine, digest and code is right; the
//! key lies beside it, in a folder and a file that only the server can read. Whatever is wrong with a file, it is
//! discarded and the component compiled again: a cache that was written by another build, cut short or tampered with
//! costs time and nothing else.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use hmac::{Hmac, KeyInit, Mac};
use model::plugin::Digest;
use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, component::Component};

/// Begins every file; another layout gets another one.
const MAGIC: &[u8; 8] = b"tgcode01";
const TAG_BYTES: usize = 32;

/// The folder of native code of one engine.
pub(crate) struct Cache {
    folder: PathBuf,
    key: [u8; 32],
    engine: [u8; 32],
}

impl Cache {
    /// Opens or makes the folder and its key.
    pub(crate) fn open(folder: &Path, engine: &Engine) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        restrict(folder, 0o700)?;
        Ok(Self { folder: folder.to_owned(), key: key(&folder.join("key"))?, engine: engine_hash(engine) })
    }

    /// The component of that digest, if its code is here and untouched.
    pub(crate) fn get(&self, engine: &Engine, digest: Digest) -> Option<Component> {
        let path = self.path(digest);
        let bytes = fs::read(&path).ok()?;
        let loaded = self.verified(digest, &bytes).and_then(|code| load(engine, code));
        if loaded.is_none() {
            tracing::warn!(%digest, path = %path.display(), "cached code is not ours or not whole; compiling again");
            drop(fs::remove_file(&path));
        }
        loaded
    }

    /// Keeps a component's code. A cache that cannot be written is no failure: the next start compiles again.
    pub(crate) fn put(&self, digest: Digest, component: &Component) {
        if let Err(error) = self.write(digest, component) {
            tracing::warn!(%digest, %error, "compiled code could not be cached");
        }
    }

    fn write(&self, digest: Digest, component: &Component) -> io::Result<()> {
        let code = component.serialize().map_err(io::Error::other)?;
        let path = self.path(digest);
        // Written aside and renamed, so that a reader sees all of it or nothing.
        let aside = path.with_extension(format!("{}.tmp", std::process::id()));
        let mut file = private_file(&aside)?;
        file.write_all(MAGIC)?;
        file.write_all(&self.tag(digest, &code).finalize().into_bytes())?;
        file.write_all(&code)?;
        file.sync_all()?;
        fs::rename(&aside, &path)
    }

    /// The code in `bytes`, if the tag is right. Compared in constant time.
    fn verified<'a>(&self, digest: Digest, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (tag, code) = rest.split_at_checked(TAG_BYTES)?;
        self.tag(digest, code).verify_slice(tag).ok().map(|()| code)
    }

    fn tag(&self, digest: Digest, code: &[u8]) -> Hmac<Sha256> {
        // Unwrap safety: HMAC takes keys of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes any key");
        mac.update(&self.engine);
        mac.update(&digest.0);
        mac.update(code);
        mac
    }

    /// One file per component and engine: servers of two versions may share a folder.
    fn path(&self, digest: Digest) -> PathBuf {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        self.folder.join(format!("{}-{}.code", hex(&digest.0), hex(&self.engine[..8])))
    }
}

#[expect(unsafe_code, reason = "loading native code is what a code cache is for")]
fn load(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: `code` was authenticated with a key that only this server has, and so was written by `put` from a
    // component that this engine (its hash is part of the tag) compiled.
    let loaded = unsafe { Component::deserialize(engine, code) };
    loaded.ok()
}

/// What the code depends on: wasmtime's version, the target and every setting that changes code.
fn engine_hash(engine: &Engine) -> [u8; 32] {
    struct Sha(Sha256);
    impl std::hash::Hasher for Sha {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
        fn finish(&self) -> u64 {
            0
        }
    }
    let mut hasher = Sha(Sha256::new());
    std::hash::Hash::hash(&engine.precompile_compatibility_hash(), &mut hasher);
    hasher.0.finalize().into()
}

/// The key in that file; a new one if there is none or it is not whole.
fn key(path: &Path) -> io::Result<[u8; 32]> {
    if let Ok(bytes) = fs::read(path)
        && let Ok(key) = <[u8; 32]>::try_from(bytes)
    {
        restrict(path, 0o600)?;
        return Ok(key);
    }
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
    let aside = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = private_file(&aside)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&aside, path)?;
    Ok(key)
}

#[cfg(unix)]
fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn restrict(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// A new file that only the server can read; one left behind by a process that died is replaced.
fn private_file(path: &Path) -> io::Result<fs::File> {
    drop(fs::remove_file(path));
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
