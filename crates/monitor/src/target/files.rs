//! Classes of files, by name. Case, trailing dots and blanks, streams and backslashes do not matter:
//! some disks do not see them either. A copy, a backup and a file in an archive are what they are of.

use model::places::names::{self as secret_names, Holds, is_example, is_prose};
use model::places::{
    INSTRUCTING, KEPT_ENDS, SECRET_FILES, SHELL_FILES, begins, behind_agent_data, secret_dirs,
    stands_in,
};
use policy::{Target, Targets};
use scan::is_invisible;
use unicode_normalization::UnicodeNormalization as _;

use super::names::{
    ACCOUNT_LISTS, ARCHIVE_ENDS, CONTROL_DIRECTORIES, CONTROL_NAMES, CONTROL_PATHS, MEMORY_NAMES,
    SECRET_PATHS, SENSITIVE_NAMES, SENSITIVE_PARTS,
};

/// The classes of a path, as it is written and with its `..` followed: who asks for `.ssh/../a` has a
/// reason to name `.ssh`.
#[must_use]
pub fn class_of_path(text: &str) -> Targets {
    classes(text, Said::Somewhere)
}

/// The same of a text that can only be the name of a file: there a plain word is one, too, such as `kubeconfig`.
#[must_use]
pub fn class_of_file(text: &str) -> Targets {
    classes(text, Said::AsFile)
}

/// Does a file hold secrets, by its name?
#[must_use]
pub fn is_secret_file(text: &str) -> bool {
    class_of_file(text).contains(Target::SecretFile)
}

/// Does a file only show how one with secrets is made, by its name: `.env.example`?
#[must_use]
pub fn shows_how(text: &str) -> bool {
    let path = normal(text);
    path.rsplit('/').next().is_some_and(is_example)
}

/// How a name came up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// In some text, which may be about anything.
    Somewhere,
    /// Where only a file can be meant.
    AsFile,
}

fn classes(text: &str, said: Said) -> Targets {
    // To some systems a name ends with the null byte in it, and to others not.
    let path = normal(text);
    path.split('\0').fold(Targets::NONE, |sum, it| sum.union(class_of_normal(it, said)))
}

fn class_of_normal(path: &str, said: Said) -> Targets {
    let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    let written = class_of_parts(&parts, said);
    if !parts.contains(&"..") {
        return written;
    }
    written.union(class_of_parts(&followed(&parts), said))
}

/// The ways to write a path, for patterns: from `/` or from `~/`, in small letters, as it stands and with its `..` followed.
pub(crate) fn spellings(text: &str) -> Vec<String> {
    let text = text.trim();
    let path = normal(text.strip_prefix("file://").unwrap_or(text));
    let mut found = Vec::new();
    for path in path.split('\0') {
        let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
        for parts in [&followed(&parts), &parts] {
            let at_home = at_home(parts).filter(|_| path.starts_with(['/', '~', '$', '%']));
            found.extend(at_home.map(|rest| format!("~/{}", rest.join("/"))));
            found.push(format!("/{}", parts.join("/")));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The parts of a path with its `..` followed.
pub(super) fn followed<'a>(parts: &[&'a str]) -> Vec<&'a str> {
    let mut followed = Vec::with_capacity(parts.len());
    for part in parts {
        if *part == ".." {
            followed.pop();
        } else {
            followed.push(*part);
        }
    }
    followed
}

fn class_of_parts(parts: &[&str], said: Said) -> Targets {
    let Some(name) = parts.last().copied() else { return Targets::NONE };
    // A word is no file: `secret` in a sentence, `token` as a parameter.
    let looks_like_file = parts.len() > 1 || name.contains('.') || name.starts_with("id_");
    let obeyed = behind_agent_data(parts);
    let is_in = |directories: &[&str]| obeyed.iter().any(|it| directories.contains(it));
    let has = |paths: &[&str]| paths.iter().any(|it| has_parts(parts, it));

    let mut found = Targets::NONE;
    let home = at_home(parts).unwrap_or_default();
    let in_home = home.first().copied();
    let secret = (looks_like_file || said == Said::AsFile) && is_secret_name(name)
        || parts.iter().any(|it| secret_names::is_secret_directory(it))
        || has(SECRET_PATHS)
        || has(secret_names::PLACES)
        || secret_dirs(parts)
            .chain(SECRET_FILES.iter().copied())
            .any(|it| begins(it, home) || is_told(it, parts));
    let beside = SENSITIVE_NAMES.contains(&name) || name.ends_with(".pub");
    if beside && (secret || SENSITIVE_NAMES.contains(&name)) && in_home != Some(name) {
        found = found.with(Target::SensitiveFile);
    } else if secret {
        found = found.with(Target::SecretFile);
    } else if looks_like_file && is_telling(name) {
        found = found.with(Target::SensitiveFile);
    }
    if MEMORY_NAMES.contains(&name) || INSTRUCTING.iter().any(|it| it.eq_ignore_ascii_case(name)) {
        found = found.with(Target::DurableMemory);
    }
    let names = CONTROL_NAMES.contains(&name)
        || SHELL_FILES.contains(&name)
        || KEPT_ENDS.iter().any(|it| name.ends_with(it));
    if names || is_in(CONTROL_DIRECTORIES) || has(CONTROL_PATHS) {
        found = found.with(Target::ControlPlane);
    }
    found
}

/// Does a place that has more than one part, and so is no other place elsewhere, stand in the path?
fn is_told(place: &str, parts: &[&str]) -> bool {
    stands_in(place, parts) && place.contains('/')
}

/// Is it the name of a file with secrets, or of a copy of one? Nobody looks into it here, so that a key is one.
fn is_secret_name(name: &str) -> bool {
    secret_names::holds(name) != Holds::Nothing
        || ACCOUNT_LISTS.iter().any(|it| name.trim_end_matches('-') == *it)
}

/// Says its name that it may hold something?
fn is_telling(name: &str) -> bool {
    SENSITIVE_PARTS.iter().any(|it| name.contains(it)) && !is_prose(name) && !is_example(name)
}

/// What follows a home directory, if the path begins with one.
fn at_home<'a>(parts: &'a [&'a str]) -> Option<&'a [&'a str]> {
    match parts {
        ["~" | "$home" | "${home}" | "%userprofile%" | "root", rest @ ..] => Some(rest),
        ["home" | "users", _, rest @ ..] => Some(rest),
        [drive, "users", _, rest @ ..] if drive.ends_with(':') => Some(rest),
        [first, rest @ ..] if first.starts_with('~') && !rest.is_empty() => Some(rest),
        _ => None,
    }
}

/// So often an address may be encoded over and over.
const ENCODINGS_MAX: usize = 3;

/// The form in which names are compared.
pub(super) fn normal(text: &str) -> String {
    let mut decoded = text.trim().to_owned();
    for _ in 0..ENCODINGS_MAX {
        if decoded.contains('%') {
            decoded = percent_decoded(&decoded);
        }
    }
    if decoded.is_ascii() {
        return joined(&decoded.replace('\\', "/").to_ascii_lowercase());
    }
    // Some disks hold `ｓoul.md` and `ſoul.md` for `soul.md`; no honest name has either.
    let plain: String = decoded.nfkc().filter(|it| !is_invisible(*it)).collect();
    joined(&plain.replace('\\', "/").to_lowercase())
}

fn joined(path: &str) -> String {
    let path = opened(path);
    let parts = path.split('/').map(|part| {
        // `name::$DATA` and `name.` are `name` to some systems.
        let stream = part.split_once("::").or_else(|| part.split_once(":$"));
        let part = stream.map_or(part, |(name, _)| name);
        if part.chars().all(|it| it == '.') { part } else { part.trim_end_matches(['.', ' ']) }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A name in an archive is a name behind it: `backup.zip!/.env`, `backup.tar.gz#.env`.
fn opened(path: &str) -> String {
    let mut opened = String::with_capacity(path.len());
    for character in path.chars() {
        let behind = matches!(character, '!' | '#' | ':' | '|')
            && ARCHIVE_ENDS.iter().any(|it| opened.ends_with(it));
        opened.push(if behind { '/' } else { character });
    }
    opened
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.first_chunk::<2>().and_then(|it| std::str::from_utf8(it).ok());
        match code.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Do the parts of `path` stand somewhere in `parts`, side by side?
fn has_parts(parts: &[&str], path: &str) -> bool {
    // Most paths are somewhere else.
    let begins = |it: &&str| {
        path.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if !path.starts_with('*') && !parts.iter().any(begins) {
        return false;
    }
    let wanted: Vec<&str> = path.split('/').collect();
    let same = |(part, wanted): (&&str, &&str)| *wanted == "*" || part == wanted;
    parts.windows(wanted.len()).any(|it| it.iter().zip(&wanted).all(same))
}

#[cfg(test)]
mod tests;
