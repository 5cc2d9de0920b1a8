//! Policies that misbehave, as components: what the tests attack the host with. The programs are in `programs/`, one
//! file each; whatever lies there is built and listed here.

/// One hostile policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundled {
    /// Its file's name.
    pub name: &'static str,
    /// Its version (semver).
    pub version: &'static str,
    /// The component.
    pub bytes: &'static [u8],
}

/// All of them, by name.
pub const GUESTS: &[Bundled] = include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// The guest of that name.
///
/// # Panics
/// There is none.
#[must_use]
pub fn guest(name: &str) -> &'static [u8] {
    GUESTS.iter().find(|guest| guest.name == name).unwrap_or_else(|| panic!("no guest `{name}`")).bytes
}
