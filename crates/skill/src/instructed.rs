//! What a document has an agent do in plain words: put settings into what agents obey, gather credentials and send them.
//!
//! Each is two things that stand together and that no honest document needs together. One of them alone is in many.

use model::skill::{Severity, SkillCheck};

use crate::finding::Findings;
use crate::hosts;
use crate::manifests::permission;
use crate::markdown::{Part, PartKind};
use crate::places::{Written, written};

/// How far two things may stand from each other, in lines.
const LINES_APART_MAX: usize = 12;
/// How far before a credential the word may stand that means more than one's own, in words.
const WORDS_APART_MAX: usize = 4;
/// The longest line that is looked at, in bytes.
const LINE_BYTES_MAX: usize = 4 << 10;

/// Reads the parts of a document.
pub(crate) fn check(text: &str, parts: &[Part<'_>], found: &mut Findings<'_>) {
    loosened(parts, found);
    gathered(text, found);
}

/// Settings that switch questions off, in what is to be written where agents obey.
fn loosened(parts: &[Part<'_>], found: &mut Findings<'_>) {
    let mut named_before: Option<usize> = None;
    for (at, part) in parts.iter().enumerate() {
        match part.kind {
            PartKind::Line if names_obeyed(part.text) => named_before = Some(at),
            PartKind::Fence(_) => {
                let near = named_before.is_some_and(|it| at - it <= LINES_APART_MAX);
                if near || part.text.lines().any(names_obeyed) {
                    loosened_by(part, found);
                }
            }
            PartKind::Line | PartKind::Inline | PartKind::Comment => {}
        }
    }
}

/// Does a line name a file that agents obey, and say that it is written?
fn names_obeyed(line: &str) -> bool {
    if line.len() > LINE_BYTES_MAX || !line.contains(['.', '/']) {
        return false;
    }
    let is_edge = |it: char| !(it.is_alphanumeric() || matches!(it, '.' | '/' | '~' | '_' | '-'));
    let is_obeyed = |word: &str| match written(word) {
        Written::Memory | Written::Instructions | Written::Settings => true,
        Written::Startup | Written::Plain => false,
    };
    let mut words = line.split(is_edge).map(|it| it.trim_end_matches('.'));
    let writes = words.clone().any(|it| WRITING.iter().any(|verb| verb.eq_ignore_ascii_case(it)));
    writes && words.any(is_obeyed)
}

const WRITING: &[&str] = &[
    "write",
    "add",
    "append",
    "insert",
    "put",
    "update",
    "create",
    "modify",
    "edit",
    "save",
    "overwrite",
    "paste",
    "set",
];

/// Lines of the form `key: value` that ask for permissions.
fn loosened_by(part: &Part<'_>, found: &mut Findings<'_>) {
    let mut at = part.start;
    for line in part.text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let plain = line.trim().trim_start_matches(['-', '*', ' ']).trim_end_matches(',');
        let Some((key, value)) = plain.split_once([':', '=']) else { continue };
        let bare = |it: &str| it.trim().trim_matches(['"', '\'', '`']).to_owned();
        let (key, value) = (bare(key), bare(value));
        if key.is_empty() || key.contains(' ') {
            continue;
        }
        if let Some((Severity::Medium | Severity::High | Severity::Critical, why)) =
            permission(&[key], &value)
        {
            let why = format!("in what agents are to obey, {why}");
            let span = (start, start + line.trim_end().len());
            found.add(SkillCheck::Permissions, Severity::Medium, span, why);
        }
    }
}

/// All credentials that there are, and an address to which something is sent.
fn gathered(text: &str, found: &mut Findings<'_>) {
    let mut at = 0;
    // The line that looks for credentials, and the one that sends, with where it stands.
    let (mut wanted, mut sent) = (None::<usize>, None::<(usize, (usize, usize))>);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let span = (at, at + line.trim_end().len());
        at += line.len();
        if line.starts_with('#') {
            (wanted, sent) = (None, None);
        }
        if line.len() > LINE_BYTES_MAX || !line.contains(' ') {
            continue;
        }
        let words: Vec<String> = line
            .split(|it: char| !(it.is_alphanumeric() || it == '\''))
            .filter(|it| !it.is_empty())
            .map(str::to_lowercase)
            .collect();
        if words.iter().any(|it| FORBIDDING.contains(&it.as_str())) {
            continue;
        }
        if wants_credentials(&words) {
            wanted = Some(number);
        }
        if sends(line, &words) {
            sent = Some((number, span));
        }
        if let (Some(wanted), Some((sends, span))) = (wanted, sent)
            && wanted.abs_diff(sends) <= LINES_APART_MAX
        {
            let why = "it has all credentials looked for that there are, and something sent to an address";
            found.add(SkillCheck::CredentialExfiltration, Severity::Medium, span, why);
            sent = None;
        }
    }
}

/// `any API keys`, `all available credentials`: more than the one that a service asks for.
fn wants_credentials(words: &[String]) -> bool {
    let is_credential = |at: usize| {
        let word = |it: usize| words.get(it).map_or("", String::as_str);
        matches!(word(at), "credentials" | "passwords" | "secrets" | "tokens")
            || (matches!(word(at), "keys")
                && matches!(
                    at.checked_sub(1).map(word),
                    Some("api" | "private" | "ssh" | "access" | "secret")
                ))
            || (word(at) == "variables" && at.checked_sub(1).map(word) == Some("environment"))
    };
    (0..words.len()).filter(|it| is_credential(*it)).any(|at| {
        let before = words.get(at.saturating_sub(WORDS_APART_MAX)..at).unwrap_or_default();
        before.iter().any(|it| matches!(it.as_str(), "any" | "all" | "every" | "available"))
    })
}

/// A line that has something sent to a machine that somebody has.
fn sends(line: &str, words: &[String]) -> bool {
    let is_verb = |it: &String| SENDING.contains(&it.as_str());
    let Some((_, rest)) = line.split_once("://") else { return false };
    let host = hosts::of_url(&format!("://{rest}")).unwrap_or_default();
    words.iter().any(is_verb)
        && hosts::is_somebodys(host.trim_end_matches(['.', ',', ')', '`', '*']))
}

const SENDING: &[&str] = &[
    "send",
    "sent",
    "post",
    "upload",
    "submit",
    "transmit",
    "forward",
    "report",
    "exfiltrate",
    "deliver",
];
/// What is not to be done, or is looked for in order to be found.
const FORBIDDING: &[&str] = &[
    "never",
    "not",
    "don't",
    "avoid",
    "without",
    "no",
    "cannot",
    "mustn't",
    "leaked",
    "exposed",
    "hardcoded",
];
