//! What is known of MCP servers by name: how far each is trusted, and which definitions of its tools a person has
//! accepted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use ::mcp::Pins;
use ::mcp::trust::Trust;
use model::{Source, TaintTag};
use monitor::taint;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file of the state directory.
const FILE: &str = "mcp.json";
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The servers that are known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Servers {
    /// How far each is trusted; who is not here is `untrusted`.
    #[serde(default)]
    pub trust: BTreeMap<String, Trust>,
    /// Definitions that were accepted.
    #[serde(default)]
    pub pins: Pins,
    /// Definitions that changed since, by server and tool, until a person accepts them.
    #[serde(default)]
    pub held: BTreeMap<String, BTreeMap<String, Value>>,
}

/// Why the file is not read or kept.
#[derive(Debug, thiserror::Error)]
pub enum ServersError {
    /// The system.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: String,
        /// What it says.
        error: io::Error,
    },
    /// Its content.
    #[error("`{path}` is not understood ({error}); mend it or remove it")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        error: String,
    },
}

impl Servers {
    /// Reads what is kept in the state directory `home`.
    ///
    /// # Errors
    /// If it cannot be read or understood.
    pub fn of(home: &Path) -> Result<Self, ServersError> {
        let path = file(home);
        let shown = || path.display().to_string();
        let bytes = files::private::read_if_there(&path, FILE_BYTES_MAX)
            .map_err(|error| ServersError::Io { path: shown(), error })?;
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        serde_json::from_slice(&bytes)
            .map_err(|error| ServersError::Unreadable { path: shown(), error: error.to_string() })
    }

    /// Keeps it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, home: &Path) -> Result<(), ServersError> {
        let path = file(home);
        let io = |error| ServersError::Io { path: path.display().to_string(), error };
        let bytes = serde_json::to_vec(self).map_err(|error| io(error.into()))?;
        files::private::replace(&path, &bytes).map_err(io)
    }

    /// How far a server is trusted.
    #[must_use]
    pub fn trust(&self, server: &str) -> Trust {
        self.trust.get(server).copied().unwrap_or_default()
    }

    /// What the words of a server bring along: nobody vouches for one that is not trusted, whatever its tools are called.
    #[must_use]
    pub fn tag(&self, server: &str, now: i64) -> Option<TaintTag> {
        match self.trust(server) {
            Trust::Trusted => None,
            Trust::Untrusted | Trust::Sandboxed => Some(taint::label(Source::Tool, server, now)),
        }
    }

    /// Accepts what is held of a server, one tool or all of them; gives the names.
    pub fn accept(&mut self, server: &str, tool: Option<&str>) -> Vec<String> {
        let Some(held) = self.held.get_mut(server) else { return Vec::new() };
        let is_meant = |name: &str| tool.is_none_or(|it| it == name);
        let names: Vec<String> = held.keys().filter(|it| is_meant(it)).cloned().collect();
        for name in &names {
            if let Some(definition) = held.remove(name) {
                self.pins.accept(server, name, &definition);
            }
        }
        if held.is_empty() {
            self.held.remove(server);
        }
        names
    }
}

fn file(home: &Path) -> PathBuf {
    home.join(FILE)
}
