//! Places: where they really are, and which of them matter.

use std::collections::HashSet;
use std::sync::LazyLock;

use model::places::{SECRET_DIRS, SECRET_FILES, SHELL_FILES};

use crate::places::{
    DISKS, LOGS, OWNING, PUBLIC, READ_DAILY, SECRET_NAMES, SECRET_PATHS, SERVED, SERVED_KINDS,
    SHARED, STARTING, STARTING_NAMES, SYSTEM,
};
use crate::state::HERE;
use crate::{Access, Engine, HOLE, HOME, Rule, State, UNSET, marks};

/// The path in one spelling: from where `cd` went, without dots.
pub(super) fn resolved(path: &str, state: &State) -> String {
    let path = path.replace(UNSET, "");
    let path = path.as_str();
    let path = match path.strip_prefix(HERE) {
        Some(rest) => rest.trim_start_matches('/'),
        None => path,
    };
    let from =
        state.cwd.as_deref().or(Some(&state.start).filter(|it| !it.is_empty()).map(String::as_str));
    let from = from.filter(|_| !path.starts_with(['/', HOLE]));
    let joined = from.map_or_else(|| path.to_owned(), |it| format!("{it}/{path}"));
    let absolute = joined.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if absolute || parts.last().is_some_and(|it| *it != "..") => drop(parts.pop()),
            other => parts.push(other),
        }
        // The files as another process sees them.
        if absolute && matches!(*parts.as_slice(), ["proc", _, "root"]) {
            parts.clear();
        }
    }
    if absolute && let ["proc", "self" | "thread-self", "fd", number] = *parts.as_slice() {
        parts = vec!["dev", "fd", number];
    }
    let path = parts.join("/");
    match (absolute, path.is_empty()) {
        (true, _) => format!("/{path}"),
        (false, true) => ".".to_owned(),
        (false, false) => path,
    }
}

/// Directories of the system that a way up from a work leads to, and hardly another one.
const ABOVE: [&str; 7] = ["etc", "usr", "boot", "sys", "proc", "root", "dev"];

/// Where a way up leads if it leads all the way up, to something that matters: `../../../etc/shadow`.
pub(super) fn from_root(path: &str) -> Option<String> {
    let rest = path.trim_start_matches("../");
    let climbs = (path.len() - rest.len()) / "../".len();
    let place = format!("/{rest}");
    let named = SECRET_PATHS.iter().chain(OWNING.iter()).any(|it| within(&place, it))
        || STARTING.iter().any(|it| place.starts_with(it));
    let first = rest.split('/').next().unwrap_or_default();
    ((climbs > 0 && named) || (climbs > 1 && ABOVE.contains(&first))).then_some(place)
}

/// A name for what a command reads on stdin.
pub(super) fn is_stdin(path: &str) -> bool {
    let in_proc = path.strip_prefix("/proc/").is_some_and(|it| it.ends_with("/fd/0"));
    matches!(path, "/dev/stdin" | "/dev/fd/0") || in_proc
}

/// As a person would write it.
pub(super) fn homely(path: &str) -> String {
    for (from, to) in [(HOME, "~"), (HERE, ".")] {
        if let Some(rest) = path.strip_prefix(from)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return format!("{to}{rest}");
        }
    }
    path.to_owned()
}

/// Is the path this place or below it? Patterns in the path are tried.
fn within(path: &str, place: &str) -> bool {
    if !marks::has_pattern(path) {
        return path.strip_prefix(place).is_some_and(|it| it.is_empty() || it.starts_with('/'));
    }
    let mut parts = path.split('/');
    place.split('/').all(|wanted| parts.next().is_some_and(|it| marks::matches(it, wanted)))
}

/// Parts of paths with which places begin that are looked for anywhere in a path.
static BEGINNINGS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lists =
        [&SECRET_NAMES[..], SECRET_DIRS, SECRET_FILES, &STARTING_NAMES, SHELL_FILES, &ANYWHERE];
    lists.into_iter().flatten().filter_map(|it| it.split('/').next()).collect()
});
/// More of them.
const ANYWHERE: [&str; 3] = [AGE_KEYS, GIT_HOOKS, USER_UNITS];
const AGE_KEYS: &str = "sops/age";
const GIT_HOOKS: &str = ".git/hooks";
const USER_UNITS: &str = "systemd/user";

/// Does a part of the path match one of the names, or do parts side by side match a place?
fn has_place(path: &str, places: &[&str]) -> bool {
    // Nearly every path is none.
    if !path.split('/').any(|it| BEGINNINGS.contains(it) || is_pattern(it)) {
        return false;
    }
    let parts: Vec<(&str, bool)> = path.split('/').map(|it| (it, is_pattern(it))).collect();
    let same = |(part, pattern): &(&str, bool), name: &str| {
        *part == name || (*pattern && marks::matches(part, name))
    };
    places.iter().any(|place| {
        let count = place.split('/').count();
        let here =
            |seen: &[(&str, bool)]| seen.iter().zip(place.split('/')).all(|(a, b)| same(a, b));
        parts.windows(count).any(here)
    })
}

/// Endings of files of any content.
const PLAIN_KINDS: [&str; 8] = ["json", "yml", "yaml", "toml", "xml", "ini", "conf", "txt"];

/// A pattern that says more than `*` does.
fn is_pattern(part: &str) -> bool {
    if !marks::has_pattern(part) {
        return false;
    }
    // `*.json` says what is in it, not what it is.
    let (name, kind) = part.rsplit_once('.').unwrap_or((part, ""));
    let name = if PLAIN_KINDS.contains(&kind) { name } else { part };
    name.chars().filter(char::is_ascii_alphanumeric).count() > 1
}

/// `/`, a home, the working directory, or a directory that the system stands on.
pub(super) fn is_root(path: &str) -> bool {
    let bare = marks::plain(path);
    let bare = bare.trim_end_matches('*').trim_end_matches('/');
    if (bare.is_empty() && path.starts_with('/')) || bare == HOME {
        return true;
    }
    let depth = bare.split('/').filter(|it| !it.is_empty()).count();
    bare.starts_with('/') && depth == 1 && !SHARED.contains(&bare)
}

/// Below a place where anybody can put something.
pub(super) fn is_shared(path: &str) -> bool {
    SHARED.iter().any(|it| path.strip_prefix(it).is_some_and(|rest| rest.starts_with('/')))
}

pub(super) fn is_secret(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    if path.ends_with(".pub") || (PUBLIC.contains(&last) && path.contains(".ssh/")) {
        return false;
    }
    SECRET_PATHS.iter().any(|it| within(path, it))
        || has_place(path, &SECRET_NAMES)
        || (has_place(path, SECRET_DIRS) && !is_note_of_agent(path))
        || (has_place(path, SECRET_FILES) && !READ_DAILY.contains(&last))
        || has_place(path, &[AGE_KEYS])
        || (path.starts_with("/proc/")
            && ["/environ", "/mem", "/maps"].iter().any(|it| path.ends_with(it)))
        || (path.starts_with("/etc/ssh/") && path.contains("_key"))
        // What a person types and sees, and what a camera sees.
        || ["/dev/input/", "/dev/video", "/dev/vcs", "/dev/fb", "/dev/snd/"]
            .iter()
            .any(|it| path.starts_with(it))
        // Wherever that is: nothing else has such a name.
        || (path.starts_with(HOLE) && ["shadow", "gshadow", "master.passwd"].contains(&last))
        // Tickets: whoever has them is their owner to every service.
        || last.starts_with("krb5cc")
        || [".keytab", ".ccache"].iter().any(|it| last.ends_with(it))
        || last.strip_prefix(".env.").is_some_and(|it| {
            !matches!(it, "example" | "sample" | "template" | "dist")
        })
        || (last == "wp-config.php" && path.starts_with('/'))
}

/// Folders of agents, and the files there that they log in with.
const OF_AGENTS: [&str; 4] = [".config/claude", ".config/codex", ".claude", ".codex"];
const LOGINS: [&str; 4] = [".credentials.json", "auth.json", "credentials.json", "config.json"];

/// Settings, commands and notes of agents. What they log in with is none, nor is all of a home's folder at once.
fn is_note_of_agent(path: &str) -> bool {
    let Some((before, rest)) = OF_AGENTS.iter().find_map(|it| path.split_once(it)) else {
        return false;
    };
    let is_one = rest.len() > 1 && !marks::has_pattern(rest) && !marks::has_hole(rest);
    let is_login = rest.rsplit('/').next().is_some_and(|it| LOGINS.contains(&it));
    (is_one || !before.starts_with('/')) && !is_login && !has_place(rest, SECRET_DIRS)
}

/// A whole disk or a part of one.
pub(super) fn is_disk(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    let name = name.strip_prefix("mapper/").map_or(name, |_| "disk");
    DISKS.iter().any(|it| name.starts_with(it))
}

fn is_starting(path: &str) -> bool {
    if path.ends_with("known_hosts") {
        return false;
    }
    STARTING.iter().any(|it| path.starts_with(it))
        || has_place(path, &STARTING_NAMES)
        || has_place(path, SHELL_FILES)
        || path.contains(GIT_HOOKS)
        || path.ends_with(".pth")
        || has_place(path, &[USER_UNITS])
}

/// What only `git` writes: where its settings are, what it runs, which folder is one of its own.
fn is_of_git(path: &str) -> bool {
    const PLAIN: [&str; 3] = ["info/exclude", "info/sparse-checkout", "description"];
    let (_, inside) = match path.rsplit_once("/.git/") {
        Some(found) => found,
        None => match path.strip_prefix(".git/") {
            Some(inside) => ("", inside),
            None => return path == ".git" || path.ends_with("/.git"),
        },
    };
    !PLAIN.contains(&inside) && !inside.ends_with("_EDITMSG") && !inside.ends_with("_MSG")
}

/// Below a folder of a web server.
fn is_shown(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with(HOME)
        && !is_shared(path)
        && SERVED.iter().any(|it| path.contains(it))
}

/// A script of a web server.
fn is_served(path: &str) -> bool {
    let (_, kind) = path.rsplit_once('.').unwrap_or_default();
    is_shown(path) && (SERVED_KINDS.contains(&kind) || path.contains("/cgi-bin/"))
}

pub(super) fn is_log(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    LOGS.iter().any(|it| path.starts_with(it)) || last.ends_with("_history")
}

pub(super) fn is_system(path: &str) -> bool {
    SYSTEM.iter().any(|it| within(path, it)) && !is_shared(path)
}

impl Engine {
    /// What it means that this place is read, written, deleted or run.
    pub(super) fn judge_place(&mut self, access: Access, path: &str) {
        let shown = marks::shown(&homely(path));
        match access {
            Access::Read => {
                if is_secret(path) {
                    self.ask(Rule::Credentials, format!("`{shown}` holds secrets"));
                }
            }
            Access::Write => self.judge_write(path, &shown),
            Access::Delete => {
                if OWNING.iter().any(|it| within(path, it)) {
                    self.deny(Rule::SystemFile, format!("without `{shown}` nobody can log in"));
                } else if is_log(path) {
                    self.ask(Rule::LogTampering, format!("`{shown}` is a record of what happened"));
                } else if is_system(path) || is_secret(path) {
                    self.ask(Rule::Erase, format!("it deletes `{shown}`"));
                }
            }
            Access::Execute => {
                if is_shared(path) {
                    let reason = format!("`{shown}` lies where anybody can put something");
                    self.ask(Rule::TempRun, reason);
                }
            }
        }
    }

    fn judge_write(&mut self, path: &str, shown: &str) {
        // What a group of processes runs when it ends runs outside of its container.
        let is_agent = path.ends_with("/release_agent");
        if is_agent || OWNING.iter().any(|it| within(path, it)) {
            self.deny(Rule::SystemFile, format!("whoever writes `{shown}` owns the machine"));
        } else if is_disk(path) {
            self.deny(Rule::RawDevice, format!("it writes to the disk `{shown}` itself"));
        } else {
            let hides = |it: &str| it.starts_with('.') && it.len() > 1;
            let is_hidden = is_shared(path) && path.split('/').any(hides);
            let meanings = [
                (is_served(path), Rule::Persistence, "a server runs `{}` for whoever asks"),
                (is_starting(path), Rule::Persistence, "`{}` is run later, without being asked"),
                (is_of_git(path), Rule::Persistence, "`{}` tells `git` what to run or read"),
                (is_log(path), Rule::LogTampering, "`{}` is a record of what happened"),
                (is_secret(path), Rule::Credentials, "`{}` holds secrets"),
                (is_system(path), Rule::SystemWrite, "`{}` belongs to the system"),
                (is_shown(path), Rule::SystemWrite, "a server shows `{}` to whoever asks"),
                (is_hidden, Rule::HiddenFile, "`{}` is hidden where anybody can write"),
            ];
            if let Some((_, rule, reason)) = meanings.into_iter().find(|it| it.0) {
                self.ask(rule, reason.replace("{}", shown));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_known_by_whole_names() {
        for path in [
            "/home/u/.config/gh/hosts.yml",
            "/h/.config/BraveSoftware",
            "/h/.cargo/credentials.toml",
            "/home/~/.claude/.credentials.json",
            "/home/~/.codex/auth.json",
            "/home/~/.claude",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            "/home/u/.config/ghostty/config",
            "/h/.config/labwc/rc.xml",
            "/h/.gitconfig",
            ".claude/commands/fix.md",
            "/home/~/.claude/CLAUDE.md",
            ".codex/AGENTS.md",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
