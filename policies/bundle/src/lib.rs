//! The policies that ship, as components. They come through the same door as uploaded ones: nothing here knows how to
//! run them, and nothing that runs them knows that they are ours.

/// One component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundled {
    /// The plugin's name.
    pub name: &'static str,
    /// Its version (semver). The build metadata is of the bytes: another build is another version, never a conflict.
    pub version: &'static str,
    /// The component.
    pub bytes: &'static [u8],
}

/// Every policy that ships, by name.
pub const BUNDLE: &[Bundled] = include!(concat!(env!("OUT_DIR"), "/bundle.rs"));
