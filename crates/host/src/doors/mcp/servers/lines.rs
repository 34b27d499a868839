//! By which command or address a server is known: its name alone can be anybody's, as a project brings its own configuration.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ::mcp::trust::Trust;
use aegx::Digest;
use model::{Source, TaintTag};
use monitor::taint;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::trust::Trust as Folders;

use super::{Servers, ServersError};

/// What decides what runs as a server, where it is a program that is started.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The program and its arguments.
    pub words: &'a [OsString],
    /// Its whole environment.
    pub env: &'a [(String, OsString)],
    /// Hosts and places that its cage opens; nothing if it has none.
    pub cage: Option<(&'a [String], &'a [PathBuf])>,
    /// The folder that it starts in, where what runs may depend on that: [`folder_that_counts`].
    pub folder: Option<&'a Path>,
}

/// Returns the line of a server that is started like this: its words, the program that they find, the names of its variables, the values
/// of those that change what programs load or run, what its cage opens, and the folder that counts.
#[must_use]
pub fn line_of_command(command: &Command<'_>) -> String {
    let variables: BTreeMap<&str, Value> =
        command.env.iter().map(|(name, value)| (name.as_str(), counted(name, value))).collect();
    let search = command.env.iter().find(|it| it.0 == PATH).map(|it| it.1.as_os_str());
    let all = json!({
        "words": command.words.iter().map(|it| text(it)).collect::<Vec<_>>(),
        "program": command.words.first().and_then(|it| found(it, search)).map(|it| text(it.as_os_str())),
        "variables": variables,
        "search": command.folder.map(|it| within(search, it)),
        "cage": command.cage.map(|(network, read)| {
            json!([network, read.iter().map(|it| text(it.as_os_str())).collect::<Vec<_>>()])
        }),
        "folder": command.folder.map(|it| text(it.as_os_str())),
    });
    Digest::of(all.to_string().as_bytes()).to_string()
}

/// The folder that a server starts in, if what runs may depend on it: many programs look there for modules and settings first. In a
/// folder that the user has trusted that is their own, and in an empty one there is none.
#[must_use]
pub fn folder_that_counts(home: &Path, folder: &Path) -> Option<PathBuf> {
    let real = files::resolved(folder).unwrap_or_else(|_| folder.to_owned());
    let is_trusted = Folders::of(home).is_ok_and(|it| it.covers(&real));
    let is_empty = std::fs::read_dir(&real).is_ok_and(|mut it| it.next().is_none());
    (!is_trusted && !is_empty).then_some(real)
}

/// The variable that says where programs are.
const PATH: &str = "PATH";

/// What of a variable counts. Others may be secrets, and are new ones each time.
fn counted(name: &str, value: &OsStr) -> Value {
    let is_of_host = vault::environment::OF_HOST.contains(&name) && name != "HOME";
    if is_of_host || vault::environment::may_be_set(name) { Value::Null } else { text(value) }
}

/// Any text, each as another value.
fn text(text: &OsStr) -> Value {
    text.to_str().map_or_else(|| json!(text.as_encoded_bytes()), |it| json!(it))
}

/// The program that this word finds.
fn found(program: &OsStr, search: Option<&OsStr>) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return files::resolved(Path::new(program)).ok();
    }
    let places = std::env::split_paths(search?);
    let mut places = places.filter_map(|it| files::safe_path(&it, &[program.to_str()?]).ok());
    files::resolved(&places.find(|it| it.is_file())?).ok()
}

/// The folders of a search path that lie in this one: what stands there is found by every program that starts others.
fn within(search: Option<&OsStr>, folder: &Path) -> Vec<Value> {
    let places = search.into_iter().flat_map(std::env::split_paths);
    places
        .filter(|it| !it.is_absolute() || it.starts_with(folder))
        .map(|it| text(it.as_os_str()))
        .collect()
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

/// What the words of a server bring along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brings {
    /// That nobody vouches for them.
    pub tag: Option<TaintTag>,
    /// Is nothing let out after them that the user did not name?
    pub is_sandboxed: bool,
}

impl Brings {
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
        let (tag, is_sandboxed) = match self.trust_by(server, own) {
            Trust::Trusted => (None, false),
            Trust::Untrusted => (Some(taint::label(Source::Tool, server, now)), false),
            Trust::Sandboxed => (Some(taint::label(Source::Tool, server, now)), true),
        };
        Brings { tag, is_sandboxed }
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
        Self::note(home, |it| it.starts(server, line))
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
    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn whatever_decides_what_runs_makes_it_another_line() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["bin", "other", "project", "empty"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        for name in ["bin/srv", "other/srv", "project/srv"] {
            std::fs::write(at(name), "").unwrap();
        }
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let env = |pairs: &[(&str, &OsStr)]| {
            pairs.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect::<Vec<_>>()
        };
        let (bin, other) = (at("bin").into_os_string(), at("other").into_os_string());
        let (plain, with) = (env(&[("PATH", &bin)]), |name, value: &str| {
            env(&[("PATH", &bin), (name, OsStr::new(value))])
        });
        let line = |words: &[OsString], env: &[(String, OsString)], cage, folder| {
            line_of_command(&Command { words, env, cage, folder })
        };
        let (srv, hosts) = (words("srv --all"), ["a.example".to_owned()]);
        let one = line(&srv, &plain, None, None);
        assert_eq!(
            one,
            line(
                &srv,
                &env(&[("PATH", &std::env::join_paths([&bin, &other]).unwrap())]),
                None,
                None
            )
        );
        assert_eq!(
            line(&srv, &with("TOKEN", "1"), None, None),
            line(&srv, &with("TOKEN", "2"), None, None)
        );
        let (project, in_path) = (at("project"), [at("project"), at("bin")]);
        let in_path = std::env::join_paths(in_path).unwrap();
        let all = [
            one,
            line(&words("srv --al l"), &plain, None, None),
            line(&srv, &env(&[("PATH", &other)]), None, None),
            line(&srv, &with("TOKEN", "1"), None, None),
            line(&srv, &with("NODE_OPTIONS", "--require=a"), None, None),
            line(&srv, &with("NODE_OPTIONS", "--require=b"), None, None),
            line(&srv, &with("HOME", "/elsewhere"), None, None),
            line(&srv, &plain, Some((&[], &[])), None),
            line(&srv, &plain, Some((&hosts, &[])), None),
            line(&srv, &plain, None, Some(&project)),
            line(&srv, &env(&[("PATH", &in_path)]), None, Some(&project)),
        ];
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        let home = at("state");
        assert!(folder_that_counts(&home, &at("project")).is_some());
        assert_eq!(folder_that_counts(&home, &at("empty")), None);
        let real = files::resolved(&at("project")).unwrap();
        let mut folders = Folders::default();
        let trusted = crate::trust::Trusted { path: real, by: "me".to_owned(), since: 0 };
        folders.add(trusted, None).unwrap();
        std::fs::create_dir(&home).unwrap();
        folders.keep(&home).unwrap();
        assert_eq!(folder_that_counts(&home, &at("project")), None);
    }

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
        // It is itself again, and whoever had its name meanwhile is not.
        assert!(!known.starts("s", "two"));
        assert_eq!(known.trust("s"), Trust::Trusted);
        let by = |own| (known.trust_by("s", own), known.brings("s", own, 1).tag.is_some());
        assert_eq!(by(Some("two")), (Trust::Trusted, false));
        assert_eq!([by(Some("three")), by(None)], [(Trust::Untrusted, true); 2]);
        known.starts("s", "three");
        known.accept_line("s", "three");
        assert_eq!(known.trust("s"), Trust::Trusted);
        known.trust.insert("s".to_owned(), Trust::Sandboxed);
        known.lines.get_mut("s").unwrap().other = Some("five".to_owned());
        assert_eq!(known.trust("s"), Trust::Sandboxed, "another line raises nothing");
    }
}
