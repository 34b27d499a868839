//! By which command or address a server is known: its name alone can be anybody's, as a project brings its own configuration.

use std::path::Path;

use ::mcp::trust::Trust;
use model::{Source, TaintTag};
use monitor::taint;
use serde::{Deserialize, Serialize};

use super::{Servers, ServersError, StartedBy};

/// By which command or address a server is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// SHA-256 of the one that counts.
    pub sha256: String,
    /// What people are shown of it; nothing if it was noted before that was kept.
    #[serde(default)]
    pub runs: String,
    /// SHA-256 of another one that came since, while the server was trusted, until a person accepts it.
    #[serde(default)]
    pub other: Option<String>,
    /// What people are shown of that.
    #[serde(default)]
    pub other_runs: String,
}

impl From<StartedBy> for Line {
    fn from(by: StartedBy) -> Self {
        Self { sha256: by.sha256, runs: by.runs, other: None, other_runs: String::new() }
    }
}

/// What the words of a server bring along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brings {
    /// That nobody vouches for them.
    pub tag: Option<TaintTag>,
    /// Is nothing let out after them that the user did not name?
    pub is_sandboxed: bool,
}

impl Brings {
    /// What those of a server bring along that is trusted so far: nobody vouches for one that is not trusted, whatever its tools
    /// are called.
    fn of(trust: Trust, server: &str, now: i64) -> Self {
        let outside = || Some(taint::label(Source::Tool, server, now));
        match trust {
            Trust::Trusted => Self { tag: None, is_sandboxed: false },
            Trust::Untrusted => Self { tag: outside(), is_sandboxed: false },
            Trust::Sandboxed => Self { tag: outside(), is_sandboxed: true },
        }
    }

    /// What those of a server bring along that cannot be looked up.
    #[must_use]
    pub fn of_unknown(server: &str, now: i64) -> Self {
        Self { tag: Some(taint::label(Source::Tool, server, now)), is_sandboxed: true }
    }
}

impl Servers {
    /// Whether a server that is started or reached by this line is the one that is known by its name; else what is kept is to be
    /// changed by [`Servers::starts`].
    #[must_use]
    pub fn is_known_by(&self, server: &str, line: &str) -> bool {
        self.lines.get(server).is_some_and(|it| it.sha256 == line && it.other.is_none())
    }

    /// How far a server is trusted that is started or reached by this line: `own` is that of the very connection or session that
    /// asks, because a name can be anybody's, and what has become of the name since says nothing of who is behind it here.
    #[must_use]
    pub fn trust_by(&self, server: &str, own: Option<&str>) -> Trust {
        self.level(server, own.is_some_and(|it| self.is_known_by(server, it)))
    }

    /// What the words of a server bring along that is started or reached by this line.
    #[must_use]
    pub fn brings(&self, server: &str, own: Option<&str>, now: i64) -> Brings {
        Brings::of(self.trust_by(server, own), server, now)
    }

    /// What the words of a server bring along that the gateway has not seen. Whose command or address is known is started behind the
    /// gateway; whoever comes past it under the same name is another.
    #[must_use]
    pub fn brings_past_gateway(&self, server: &str, now: i64) -> Brings {
        let level = self.level(server, !self.lines.contains_key(server));
        Brings::of(level, server, now)
    }

    /// The servers that nothing is let out after, by name.
    pub fn sandboxed(&self) -> impl Iterator<Item = &str> {
        let all = self.trust.iter().filter(|it| *it.1 == Trust::Sandboxed);
        all.map(|it| it.0.as_str())
    }

    /// Takes in by which line a server is started or reached; says whether it is another one than the one that is trusted. Nobody
    /// relies on the name of a server that is not.
    pub fn starts(&mut self, server: &str, by: StartedBy) -> bool {
        let is_trusted = self.trust.get(server) == Some(&Trust::Trusted);
        match self.lines.get_mut(server) {
            Some(own) if is_trusted && own.sha256 != by.sha256 => {
                (own.other, own.other_runs) = (Some(by.sha256), by.runs);
                true
            }
            Some(_) | None => {
                self.lines.insert(server.to_owned(), by.into());
                false
            }
        }
    }

    /// Keeps by which line a server is started, where it is not known; says whether it is another one than the one that is trusted.
    ///
    /// # Errors
    /// If what is kept cannot be read or written.
    pub fn note_line(
        &self,
        home: &Path,
        server: &str,
        by: StartedBy,
    ) -> Result<bool, ServersError> {
        let is_shown = self.lines.get(server).is_some_and(|it| it.runs == by.runs);
        if is_shown && self.is_known_by(server, &by.sha256) {
            return Ok(false);
        }
        Self::note(home, |it| it.starts(server, by))
    }

    /// Accepts that a server is started or reached by another line: exactly the one that was `shown`.
    pub fn accept_line(&mut self, server: &str, shown: &str) {
        if let Some(line) = self.lines.get_mut(server)
            && line.other.as_deref() == Some(shown)
        {
            let runs = std::mem::take(&mut line.other_runs);
            *line = StartedBy { sha256: shown.to_owned(), runs }.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(line: &str) -> StartedBy {
        StartedBy { sha256: line.to_owned(), runs: format!("run {line}") }
    }

    #[test]
    fn who_has_the_name_of_a_trusted_server_is_not_it() {
        let mut known = Servers::default();
        assert!(!known.starts("s", by("one")) && known.is_known_by("s", "one"));
        // Nobody relies on it yet.
        assert!(!known.starts("s", by("two")) && known.is_known_by("s", "two"));
        known.trust.insert("s".to_owned(), Trust::Trusted);
        assert_eq!(known.trust("s"), Trust::Trusted);
        assert!(known.starts("s", by("three")) && !known.is_known_by("s", "three"));
        assert_eq!(known.trust("s"), Trust::Untrusted);
        known.accept_line("s", "four");
        assert_eq!(known.trust("s"), Trust::Untrusted);
        // It is itself again, and whoever had its name meanwhile is not.
        assert!(!known.starts("s", by("two")));
        assert_eq!(known.trust("s"), Trust::Trusted);
        let as_own = |own| (known.trust_by("s", own), known.brings("s", own, 1).tag.is_some());
        assert_eq!(as_own(Some("two")), (Trust::Trusted, false));
        assert_eq!([as_own(Some("three")), as_own(None)], [(Trust::Untrusted, true); 2]);
        known.starts("s", by("three"));
        known.accept_line("s", "three");
        assert_eq!(known.trust("s"), Trust::Trusted);
        known.trust.insert("s".to_owned(), Trust::Sandboxed);
        known.lines.get_mut("s").unwrap().other = Some("five".to_owned());
        assert_eq!(known.trust("s"), Trust::Sandboxed, "another line raises nothing");
        assert!(known.brings_past_gateway("s", 1).is_sandboxed);
    }

    #[test]
    fn who_comes_past_the_gateway_under_a_known_name_is_another() {
        let mut known = Servers::default();
        let is_stranger = |known: &Servers| known.brings_past_gateway("s", 1).tag.is_some();
        assert!(is_stranger(&known));
        known.trust.insert("s".to_owned(), Trust::Trusted);
        assert!(!is_stranger(&known), "no gateway was ever before it");
        known.starts("s", by("one"));
        assert!(is_stranger(&known) && known.brings("s", Some("one"), 1).tag.is_none());
        assert!(known.forget("s") && !known.forget("s"));
        assert!(is_stranger(&known) && known.lines.is_empty());
    }
}
