//! What starts or reaches a server: a digest of all that decides who that is, and what people are shown of it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use aegx::Digest;
use serde_json::{Value, json};

use crate::trust::Trust as Folders;

/// How much of a command or an address is kept for people to see, in bytes.
const WORDS_BYTES_MAX: usize = 700;
/// How much of what else decides what runs, in bytes: what stands before it cannot push it out.
const BESIDES_BYTES_MAX: usize = 300;
/// What stands for the rest of what is too long to be shown.
const CUT: &str = "…";

/// What starts or reaches a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedBy {
    /// SHA-256 of all that decides who that is.
    pub sha256: String,
    /// Its command or address as people are shown it.
    pub runs: String,
}

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
pub fn line_of_command(command: &Command<'_>) -> StartedBy {
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
    StartedBy {
        sha256: Digest::of(all.to_string().as_bytes()).to_string(),
        runs: shown(command, search),
    }
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
pub fn line_of_address(url: &str) -> StartedBy {
    let without_secrets = url::Url::parse(url).map(|mut it| {
        let _ = it.set_username("");
        let _ = it.set_password(None);
        it.set_query(it.query().map(|_| "…"));
        it.to_string()
    });
    StartedBy {
        sha256: Digest::of(url.as_bytes()).to_string(),
        runs: bounded(&without_secrets.unwrap_or_default(), WORDS_BYTES_MAX),
    }
}

/// The same as [`line_of_command`], for people: two that differ should look different.
fn shown(command: &Command<'_>, search: Option<&OsStr>) -> String {
    let (mut counts, mut given) = (Vec::new(), Vec::new());
    for (name, value) in command.env {
        let is_of_host = vault::environment::OF_HOST.contains(&name.as_str());
        if !counted(name, value).is_null() && name != "HOME" {
            counts.push(format!("{name}={}", word(value)));
        } else if !is_of_host {
            given.push(name.as_str());
        }
    }
    given.sort_unstable();
    counts.sort_unstable();
    let words = counts.into_iter().chain(command.words.iter().map(|it| word(it)));
    let line = words.collect::<Vec<_>>().join(" ");

    let path = |it: &Path| word(it.as_os_str());
    let program = command.words.first().and_then(|it| found(it, search));
    let program = program.filter(|it| command.words.first().is_none_or(|word| word != it));
    // First what the server may reach: names of variables cannot push it out.
    let mut besides = match command.cage {
        None => vec!["no cage".to_owned()],
        Some((network, read)) => {
            let opened = network.iter().cloned().chain(read.iter().map(|it| path(it)));
            let opened = opened.collect::<Vec<_>>().join(" ");
            if opened.is_empty() { Vec::new() } else { vec![format!("cage open for {opened}")] }
        }
    };
    besides.extend(program.iter().map(|it| path(it)));
    besides.extend(command.folder.map(|it| format!("in {}", path(it))));
    if !given.is_empty() {
        besides.push(format!("with {}", given.join(" ")));
    }
    let line = bounded(&line, WORDS_BYTES_MAX);
    let besides = bounded(&besides.join("; "), BESIDES_BYTES_MAX);
    if besides.is_empty() { line } else { format!("{line} ({besides})") }
}

/// A word as a shell would read it.
fn word(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |it: char| it.is_alphanumeric() || "-_./:=@,+%".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn bounded(text: &str, bytes_max: usize) -> String {
    // Before it is cut: half of a secret looks like none.
    let mut clean = vault::shape::redact(text).into_owned();
    if clean.len() > bytes_max {
        clean.truncate(clean.floor_char_boundary(bytes_max.saturating_sub(CUT.len())));
        clean.push_str(CUT);
    }
    clean
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn people_are_shown_no_secret_and_what_is_one_word() {
        let words = ["srv", "a b", "it's", "", "--key=sk-ant-REDACTED"];
        let words = words.map(OsString::from);
        let env = [("NODE_OPTIONS".to_owned(), "--require=./a.js".into())];
        let command = Command { words: &words, env: &env, cage: Some((&[], &[])), folder: None };
        let runs = line_of_command(&command).runs;
        assert!(
            runs.starts_with(r"NODE_OPTIONS=--require=./a.js srv 'a b' 'it'\''s' '' "),
            "{runs}"
        );
        assert!(!runs.contains("sk-ant"), "{runs}");
        let address = line_of_address("https://me:pass@mcp.example.com/x?token=1").runs;
        assert!(address.starts_with("https://mcp.example.com/x?") && !address.contains("token"));
        let long = line_of_address(&format!("https://a.example/{}", "é".repeat(4000))).runs;
        assert!(long.len() <= WORDS_BYTES_MAX && long.starts_with("https://a.example/"));
        assert!(long.ends_with(CUT), "{long}");
        let words = ["srv".to_owned(), "x".repeat(4000)].map(OsString::from);
        let folder = Some(Path::new("/project"));
        let shown = line_of_command(&Command { words: &words, env: &[], cage: None, folder }).runs;
        assert!(shown.ends_with("… (no cage; in /project)"), "{shown}");
    }

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
        let different: BTreeSet<&String> = all.iter().map(|it| &it.sha256).collect();
        assert_eq!(different.len(), all.len());
        let shown: BTreeSet<&String> = all.iter().map(|it| &it.runs).collect();
        assert_eq!(shown.len(), all.len() - 1, "HOME is not shown");
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
}
