//! Documents: what they tell an agent to run, what they show, and what they hide.

use model::skill::{Severity, SkillCheck};

use crate::commands::{self, Command};
use crate::finding::Findings;
use crate::instructed;
use crate::kind::{FileKind, named};
use crate::markdown::{PartKind, parts};
use crate::programs::{self, Piece};
use crate::stance::Stance;
use crate::tree::Tree;
use crate::verify::{Budget, block};

/// Lines that a command in prose may go on over.
const CONTINUED_MAX: usize = 8;
/// The longest line of prose that is tried as a command, in bytes.
const LINE_BYTES_MAX: usize = 4 << 10;

/// Is a file with this end a text to its readers?
pub(crate) fn is_text_name(end: &str) -> bool {
    matches!(
        end,
        "md" | "markdown"
            | "mdx"
            | "txt"
            | "rst"
            | "html"
            | "sh"
            | "bash"
            | "py"
            | "js"
            | "mjs"
            | "ts"
            | "ps1"
            | "json"
            | "yaml"
            | "yml"
            | "toml"
    )
}

/// Reads a document.
pub(crate) fn check(text: &str, tree: &Tree, budget: &mut Budget, found: &mut Findings<'_>) {
    let has_file = |path: &str| tree.file(path).is_some();
    let (all, whole) = parts(text);
    if !whole {
        found.add(
            SkillCheck::Unread,
            Severity::Medium,
            (0, 0),
            "it has too many parts to be read to its end",
        );
    }
    let stance = Stance::Document;
    for part in &all {
        let (inner, start) = (part.text, part.start);
        match part.kind {
            PartKind::Fence(word) => match named(word) {
                FileKind::Shell => commands_of(inner, start, &has_file, budget, found),
                FileKind::Code(language) => {
                    let piece = Piece { language, text: inner, start, stance, has_file: &has_file };
                    programs::check(&piece, budget, found);
                }
                FileKind::Text | FileKind::OtherScript | FileKind::Json => {
                    as_a_whole(inner, start, &has_file, budget, found);
                    by_lines(inner, start, stance, &has_file, budget, found);
                }
                FileKind::Document
                | FileKind::Machine(_)
                | FileKind::Packed(_)
                | FileKind::Data => {}
            },
            PartKind::Inline if inner.contains(' ') => {
                block(inner, start, stance, &has_file, budget, found);
            }
            PartKind::Comment => by_lines(inner, start, Stance::Hidden, &has_file, budget, found),
            PartKind::Inline | PartKind::Line => {}
        }
    }
    instructed::check(text, &all, found);
    by_lines(text, 0, stance, &has_file, budget, found);
    for part in all.iter().filter(|it| it.kind == PartKind::Line) {
        locked_archive(part.text, part.start, found);
        missing_files(part.text, part.start, tree, found);
    }
}

/// A block that does not say what it is, read as commands: only what cannot be meant otherwise counts.
fn as_a_whole(
    text: &str,
    start: usize,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    if !text.contains(['|', '>', '$', '/']) || !budget.command() {
        return;
    }
    let command = Command { text, stance: Stance::Document, is_sure: false, has_file };
    for fact in commands::facts(&command) {
        found.add(fact.check, fact.severity, (start, start + text.trim_end().len()), fact.why);
    }
}

/// A block of commands; of a session at a terminal only what is typed.
fn commands_of(
    text: &str,
    start: usize,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    let is_session = text.lines().any(|it| it.trim_start().starts_with("$ "));
    if !is_session {
        return block(text, start, Stance::Document, has_file, budget, found);
    }
    let mut at = start;
    for line in text.split_inclusive('\n') {
        if let Some(command) = line.trim_start().strip_prefix("$ ") {
            let from = at + line.len() - command.len();
            block(command.trim_end(), from, Stance::Document, has_file, budget, found);
        }
        at += line.len();
    }
}

/// Lines of prose, of which only what cannot be meant otherwise counts.
pub(crate) fn by_lines(
    text: &str,
    start: usize,
    stance: Stance,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    let mut at = 0;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (number, line) in lines.iter().enumerate() {
        let from = at;
        at += line.len();
        if line.len() > LINE_BYTES_MAX {
            continue;
        }
        let mut whole = line.trim_end().to_owned();
        let mut next = lines.iter().skip(number + 1).take(CONTINUED_MAX);
        while let Some(short) = whole.strip_suffix('\\') {
            let Some(more) = next.next().filter(|it| it.len() <= LINE_BYTES_MAX) else { break };
            whole = format!("{short} {}", more.trim());
        }
        if !has_signs(&whole) {
            continue;
        }
        let span = (start + from, start + from + line.trim_end().len());
        for candidate in candidates(&whole) {
            if !budget.command() {
                return;
            }
            let command = Command { text: candidate, stance, is_sure: false, has_file };
            let facts = commands::facts(&command);
            let is_found = !facts.is_empty();
            for fact in facts {
                found.add(fact.check, fact.severity, span, fact.why);
            }
            if is_found {
                break;
            }
        }
    }
}

/// What a command has that gives a shell, or what is fetched, or what is sent, and prose seldom has.
fn has_signs(line: &str) -> bool {
    let fetches =
        ["curl", "wget", "iwr", "irm", "invoke-webrequest", "base64", "npx ", "bunx ", "fetch "];
    let lower = line.to_ascii_lowercase();
    lower.contains("/dev/tcp/")
        || lower.contains("/dev/udp/")
        || lower.contains("socket")
        || lower.contains("nc -")
        || lower.contains("ncat ")
        || fetches.iter().any(|it| lower.contains(it))
}

/// The line without what makes it an item or a quote, and what stands behind a colon or in front of a full stop.
fn candidates(line: &str) -> Vec<&str> {
    let is_mark = |it: char| it.is_whitespace() || matches!(it, '>' | '*' | '-' | '#' | '$' | '+');
    let plain = line.trim_start_matches(is_mark).trim();
    let plain = plain.trim_matches('`');
    let behind = plain.match_indices(": ").filter_map(|(at, it)| plain.get(at + it.len()..));
    let mut all: Vec<&str> = vec![plain];
    all.extend(behind.take(2).map(|it| it.trim().trim_matches('`')));
    all.dedup();
    all
}

/// `download this.zip, extract with pass …`: a password keeps scanners out, and no honest download needs one.
fn locked_archive(line: &str, start: usize, found: &mut Findings<'_>) {
    const ARCHIVES: &[&str] = &[".zip", ".rar", ".7z", ".exe", ".dmg", ".msi", ".pkg"];
    let lower = line.to_ascii_lowercase();
    let is_link = lower.contains("http://") || lower.contains("https://");
    let names_archive = ARCHIVES.iter().any(|it| {
        lower.match_indices(it).any(|(at, it)| {
            lower
                .get(at + it.len()..)
                .is_some_and(|it| !it.starts_with(|it: char| it.is_alphanumeric()))
        })
    });
    let mut words = lower.split(|it: char| !it.is_alphanumeric());
    let has_password = words.any(|it| matches!(it, "pass" | "password" | "passwd" | "pwd"));
    if !is_link || !names_archive {
        return;
    }
    let span = (start, start + line.len());
    if has_password {
        let why = "it has an archive with a password downloaded: the password keeps scanners out";
        found.add(SkillCheck::ShellExecution, Severity::High, span, why);
    } else {
        let why = "it links to an archive or a program to be downloaded";
        found.add(SkillCheck::ShellExecution, Severity::Low, span, why);
    }
}

/// Links to files that do not come along: whoever fills them in later decides what they say.
fn missing_files(line: &str, start: usize, tree: &Tree, found: &mut Findings<'_>) {
    for (at, mark) in line.match_indices("](") {
        let rest = line.get(at + mark.len()..).unwrap_or_default();
        let Some(target) = rest.split([')', ' ', '#', '?']).next() else { continue };
        let is_inner = !target.is_empty()
            && !target.contains(':')
            && !target.starts_with(['/', '.', '$', '<', '{']);
        let is_file = target.rsplit('/').next().is_some_and(|it| it.contains('.'));
        if is_inner && is_file && tree.file(target).is_none() {
            let span = (start + at + mark.len(), start + at + mark.len() + target.len());
            found.add(
                SkillCheck::Form,
                Severity::Info,
                span,
                "it refers to a file that is not there",
            );
        }
    }
}
