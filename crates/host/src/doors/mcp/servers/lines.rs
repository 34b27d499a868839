//! By which command or address a server is known: its name alone can be anybody's, as a project brings its own configuration.

use std::ffi::OsString;
use std::path::Path;

use ::mcp::trust::Trust;
use aegx::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Servers, ServersError};

/// Returns the line of a server that is started by these words.
#[must_use]
pub fn line_of_command(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|it| it.to_string_lossy()).collect();
    Digest::of(json!(words).to_string().as_bytes()).to_string()
}

/// Returns the line of a server that is reached at this address.
#[must_use]
pub fn line_of_address(url: &str) -> String {
    Digest::of(url.as_bytes()).to_string()
}

/// What starts or reaches a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// SHA-256 of the one that counts.
    pub sha256: String,
    /// That of another one that came since, while the server was trusted, until a person accepts it.
    #[serde(default)]
    pub other: Option<String>,
}

impl Servers {
    /// Whether a server that is started or reached by this line is the one that is known by its name; else what is kept is to be
    /// changed by [`Servers::starts`].
    #[must_use]
    pub fn is_known_by(&self, server: &str, line: &str) -> bool {
        self.lines.get(server).is_some_and(|it| it.sha256 == line && it.other.is_none())
    }

    /// Takes in by which line a server is started or reached; says whether it is another one than the one that is trusted. Nobody
    /// relies on the name of a server that is not.
    pub fn starts(&mut self, server: &str, line: &str) -> bool {
        let is_trusted = self.trust.get(server) == Some(&Trust::Trusted);
        let known = Line { sha256: line.to_owned(), other: None };
        match self.lines.get_mut(server) {
            Some(own) if is_trusted && own.sha256 != line => {
                own.other = Some(line.to_owned());
                true
            }
            Some(_) | None => {
                self.lines.insert(server.to_owned(), known);
                false
            }
        }
    }

    /// Keeps by which line a server is started, where it is not known; says whether it is another one than the one that is trusted.
    ///
    /// # Errors
    /// If what is kept cannot be read or written.
    pub fn note_line(&self, home: &Path, server: &str, line: &str) -> Result<bool, ServersError> {
        if self.is_known_by(server, line) {
            return Ok(false);
        }
        Self::change(home, |it| it.starts(server, line))
    }

    /// Accepts that a server is started or reached by another line: exactly the one that was `shown`.
    pub fn accept_line(&mut self, server: &str, shown: &str) {
        if let Some(line) = self.lines.get_mut(server)
            && line.other.as_deref() == Some(shown)
        {
            *line = Line { sha256: shown.to_owned(), other: None };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_the_name_of_a_trusted_server_is_not_it() {
        let mut known = Servers::default();
        assert!(!known.starts("s", "one") && known.is_known_by("s", "one"));
        // Nobody relies on it yet.
        assert!(!known.starts("s", "two") && known.is_known_by("s", "two"));
        known.trust.insert("s".to_owned(), Trust::Trusted);
        assert_eq!(known.trust("s"), Trust::Trusted);
        assert!(known.starts("s", "three") && !known.is_known_by("s", "three"));
        assert_eq!(known.trust("s"), Trust::Untrusted);
        known.accept_line("s", "four");
        assert_eq!(known.trust("s"), Trust::Untrusted);
        // It is itself again.
        assert!(!known.starts("s", "two"));
        assert_eq!(known.trust("s"), Trust::Trusted);
        known.starts("s", "three");
        known.accept_line("s", "three");
        assert_eq!(known.trust("s"), Trust::Trusted);
        known.trust.insert("s".to_owned(), Trust::Sandboxed);
        known.lines.get_mut("s").unwrap().other = Some("five".to_owned());
        assert_eq!(known.trust("s"), Trust::Sandboxed, "another line raises nothing");
    }
}
