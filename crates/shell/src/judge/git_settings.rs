//! Settings of `git`: which of them are plainly data. Each of the others is a question.
//!
//! What a key does changes with versions, and many of them name a program, a folder of hooks or a file with more
//! settings. So the list is one of what is ordinary, and not of what is bad.

use crate::{Words, marks};

/// Sections whose keys are all data: who writes, how things look, how histories are joined.
static SECTIONS: Words = Words::named("judge.git_settings.SECTIONS");
/// Keys of other sections. What takes checks away (`http.sslverify`) is judged apart.
static KEYS: Words = Words::named("judge.git_settings.KEYS");
/// Last parts of keys of `merge` and of one remote or submodule.
static MERGE: Words = Words::named("judge.git_settings.MERGE");
static OF_REMOTE: Words = Words::named("judge.git_settings.OF_REMOTE");
const OF_SUBMODULE: [&str; 5] = ["active", "branch", "ignore", "shallow", "url"];
/// Keys that name a program: one that everybody knows is ordinary.
static PROGRAMS: Words = Words::named("judge.git_settings.PROGRAMS");
/// Helpers that come with `git` and its packages.
const HELPERS: [&str; 8] =
    ["", "cache", "libsecret", "manager", "manager-core", "osxkeychain", "store", "wincred"];
/// Programs that show a text, or let a person or nobody change it.
static KNOWN: Words = Words::named("judge.git_settings.KNOWN");

/// Is a setting plainly data, or one of the usual programs? `None` stands for a value that is not known.
pub(super) fn is_ordinary(key: &str, value: Option<&str>) -> bool {
    let key = key.to_lowercase();
    if marks::has_hole(&key) || value.is_some_and(|it| it.contains("ext::")) {
        return false;
    }
    let (section, rest) = key.split_once('.').unwrap_or((&key, ""));
    let last = rest.rsplit('.').next().unwrap_or(rest);
    let is_of_one = rest.contains('.');
    let by_value = |check: fn(&str) -> bool| value.is_some_and(check);
    match section {
        // Lines of a list of commands are made of it.
        "rebase" if rest == "instructionformat" => false,
        _ if SECTIONS.contains(&section) && !rest.is_empty() => true,
        _ if KEYS.contains(&key.as_str()) => true,
        _ if PROGRAMS.contains(&key.as_str()) || section == "pager" => by_value(is_known_or_flag),
        "diff" | "merge" if matches!(rest, "tool" | "guitool") => by_value(is_tool),
        "core" if last == "fsmonitor" => by_value(is_flag),
        "core" if last == "sshcommand" => by_value(is_ssh),
        // Followed as the command of `git` that it is.
        "alias" => by_value(|it| !it.trim_start().starts_with('!')),
        "merge" => !is_of_one && MERGE.contains(&last),
        "remote" => is_of_one && OF_REMOTE.contains(&last),
        "submodule" => is_of_one && OF_SUBMODULE.contains(&last),
        "credential" => last == "helper" && by_value(is_helper),
        "gpg" => key == "gpg.ssh.program" && by_value(|it| it == "ssh-keygen"),
        // Where it leads is judged apart.
        "url" => is_of_one && matches!(last, "insteadof" | "pushinsteadof"),
        "receive" => last.starts_with("deny"),
        // All folders are more than those that somebody thought of.
        "safe" => last == "directory" && by_value(|it| !it.contains('*')),
        _ => false,
    }
}

fn is_flag(value: &str) -> bool {
    matches!(
        value.to_lowercase().as_str(),
        "" | "true" | "false" | "yes" | "no" | "on" | "off" | "1" | "0"
    )
}

fn is_known_or_flag(value: &str) -> bool {
    is_flag(value) || is_known_program(value)
}

/// Options of `ssh` that say with which key, how long and how loud, and run nothing.
static SSH: Words = Words::named("judge.git_settings.SSH");

/// `ssh -i key -o BatchMode=yes`: `ssh` itself, as `git` runs it anyway.
pub(in super::super) fn is_ssh(value: &str) -> bool {
    let mut words = value.split_whitespace();
    if words.next() != Some("ssh") || value.contains(SIGNS) {
        return false;
    }
    while let Some(word) = words.next() {
        let told = match word {
            "-v" | "-q" | "-4" | "-6" | "-T" | "-C" => continue,
            "-i" | "-p" | "-l" if words.next().is_some_and(|it| !it.starts_with('-')) => continue,
            "-o" => words.next(),
            _ => word.strip_prefix("-o"),
        };
        let name = told.and_then(|it| it.split('=').next()).unwrap_or_default();
        if !SSH.contains(&name.to_lowercase().as_str()) {
            return false;
        }
    }
    true
}

fn is_helper(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let first = words.next().unwrap_or_default();
    HELPERS.contains(&first)
        && words.all(|it| it.starts_with("--timeout") || it.bytes().all(|it| it.is_ascii_digit()))
}

/// What a shell takes for more than letters.
const SIGNS: [char; 12] = [';', '&', '$', '`', '<', '>', '(', ')', '!', '\n', '\\', marks::HOLE];

/// With a slash in its name, a tool is a script that lies there.
pub(super) fn is_tool(name: &str) -> bool {
    !name.contains(['/', marks::HOLE])
}

/// Programs that only show a text: their options change how it looks, but for those that load something.
const SHOWING: [&str; 7] = ["bat", "cat", "delta", "less", "moar", "more", "most"];
const LOADING: [&str; 6] = ["--config", "--lesskey", "--pager", "-O", "-k", "-o"];
/// Options of all others that say how long to wait, and where: an editor can load and run what others name.
const WAITING: [&str; 11] = ["b", "block", "f", "n", "nofork", "nw", "r", "t", "tty", "w", "wait"];

/// `less -FRX`, `diff-so-fancy | less --tabs=4`, `code --wait`: programs by their names alone, with options alone.
pub(in super::super) fn is_known_program(value: &str) -> bool {
    let is_stage = |stage: &str| {
        let mut words = stage.split_whitespace();
        let name = words.next().unwrap_or_default();
        let is_look = |it: &str| {
            !it.contains(['/', '.']) && !LOADING.iter().any(|begin| it.starts_with(begin))
        };
        let shows = SHOWING.contains(&name) || name.starts_with("diff");
        let is_calm = |it: &str| {
            let waits = WAITING.contains(&it.trim_start_matches('-')) || it.ends_with("-window");
            it.starts_with('-') && if shows { is_look(it) } else { waits }
        };
        KNOWN.contains(&name) && words.all(is_calm)
    };
    !value.contains(SIGNS) && value.split('|').all(is_stage)
}
