//! The policies that ship, as both a server and a simulation install them.

use anyhow::{Context, Result};
use simulate::Shipped;

/// Every policy of the bundle, by name.
pub fn shipped() -> Result<Vec<Shipped>> {
    let read = |plugin: &bundle::Bundled| {
        let version = plugin.version.parse().with_context(|| format!("the version of `{}`", plugin.name))?;
        Ok(Shipped { name: plugin.name, version, bytes: plugin.bytes })
    };
    bundle::BUNDLE.iter().map(read).collect()
}
