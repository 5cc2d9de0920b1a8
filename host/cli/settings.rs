//! Where the server is and who we are: options, environment, and the key that the server's first start left behind.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Usage;

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub struct Settings {
    /// Where the server is
    #[arg(long, global = true, env = "TIDEGATE_URL", value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub url: String,
    /// Who we are; by default, on the server's own machine, the key that its first start made
    #[arg(long, global = true, env = "TIDEGATE_API_KEY", value_name = "KEY", hide_env_values = true)]
    pub api_key: Option<String>,
    /// Which workspace, by slug or id
    #[arg(long, global = true, env = "TIDEGATE_WORKSPACE", value_name = "WORKSPACE", default_value = "default")]
    pub workspace: String,
    /// Where the server of this machine keeps its data [default: $XDG_DATA_HOME/tidegate or ~/.local/share/tidegate]
    #[arg(long, global = true, env = "TIDEGATE_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

/// The name of the file with the first key, in the data folder.
pub const ADMIN_KEY_FILE: &str = "admin-key";

impl Settings {
    /// The data folder, as told or where such data belongs on this system.
    ///
    /// # Errors
    /// When nothing says where.
    pub fn data_dir(&self) -> Result<PathBuf, Usage> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        match &self.data_dir {
            Some(dir) => Ok(dir.clone()),
            None => default_data_dir(set("XDG_DATA_HOME"), set("HOME")).ok_or_else(|| {
                Usage("there is no home folder to keep data in; say where with --data-dir or TIDEGATE_DATA_DIR".into())
            }),
        }
    }

    /// The key to send: the one given, else the local server's own, which is only ever sent to this machine.
    pub fn key(&self) -> anyhow::Result<Option<String>> {
        if let Some(key) = self.api_key.as_ref().map(|key| key.trim()).filter(|key| !key.is_empty()) {
            return Ok(Some(key.to_owned()));
        }
        if !is_local(&self.url) {
            return Ok(None);
        }
        match self.data_dir() {
            Ok(dir) => read_key(&dir.join(ADMIN_KEY_FILE)),
            Err(_) => Ok(None),
        }
    }
}

fn default_data_dir(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    // A relative XDG_DATA_HOME is to be ignored, says its specification.
    let xdg = xdg.filter(|path| path.is_absolute());
    xdg.or_else(|| home.map(|home| home.join(".local/share"))).map(|base| base.join("tidegate"))
}

fn read_key(file: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(file) {
        Ok(key) => Ok(Some(key.trim().to_owned()).filter(|key| !key.is_empty())),
        // Not there, or not ours to read: then we have no key, and the server says so.
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied) => {
            Ok(None)
        }
        Err(error) => Err(anyhow::Error::new(error).context(format!("`{}` cannot be read", file.display()))),
    }
}

fn is_local(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    // An IPv6 host is in brackets here.
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_belongs_where_the_system_keeps_it() {
        let path = |text: &str| Some(PathBuf::from(text));
        for (xdg, home, expected) in [
            (path("/data"), path("/home/a"), path("/data/tidegate")),
            (None, path("/home/a"), path("/home/a/.local/share/tidegate")),
            (path("data"), path("/home/a"), path("/home/a/.local/share/tidegate")),
            (None, None, None),
        ] {
            assert_eq!(default_data_dir(xdg, home), expected);
        }
    }

    #[test]
    fn the_first_key_is_sent_to_this_machine_only() {
        for (url, local) in [
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("http://localhost", true),
            ("https://tidegate.example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("http://10.0.0.1", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_local(url), local, "{url}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(ADMIN_KEY_FILE), "secret\n").expect("written");
        let settings = |url: &str, key: Option<&str>| Settings {
            url: url.to_owned(),
            api_key: key.map(str::to_owned),
            workspace: "default".to_owned(),
            data_dir: Some(folder.path().to_owned()),
        };
        let key = |url: &str, key: Option<&str>| settings(url, key).key().expect("readable");
        assert_eq!(key("http://127.0.0.1:1", None).as_deref(), Some("secret"));
        assert_eq!(key("http://127.0.0.1:1", Some("mine")).as_deref(), Some("mine"));
        assert_eq!(key("https://elsewhere.example", None), None);
    }
}
