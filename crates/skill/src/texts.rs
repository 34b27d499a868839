//! What any text of a skill may hold: orders, addresses, credentials, encodings.

use model::skill::{Severity, SkillCheck};
use scan::text::{Author, Verdict};

use crate::encoded;
use crate::finding::Findings;
use crate::hosts;
use crate::markdown::{PartKind, parts};
use crate::stance::Stance;
use crate::verify::Budget;

/// Addresses of one text that are judged.
const URLS_MAX: usize = 2_000;

/// Reads a text.
pub(crate) fn check(
    text: &str,
    stance: Stance,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    orders(text, stance, found);
    addresses(text, stance, found);
    for secret in &scan::secret::find(text) {
        let why = format!("it holds a credential of {}", secret.provider);
        found.add(
            SkillCheck::HardCodedSecret,
            stance.weigh(Severity::Medium),
            (secret.start, secret.end),
            why,
        );
    }
    encoded::check(text, has_file, budget, found);
}

/// Orders against the user or the operator. What stands as code or a quotation is shown and not said.
fn orders(text: &str, stance: Stance, found: &mut Findings<'_>) {
    let reading = scan::text::read(text, Author::Outsider);
    if reading.verdict() == Verdict::Clean {
        return;
    }
    let (all, _) = parts(text);
    let is_code = |it: &&crate::markdown::Part<'_>| match it.kind {
        PartKind::Fence(_) | PartKind::Inline => true,
        PartKind::Comment | PartKind::Line => false,
    };
    let mut code: Vec<(usize, usize)> =
        all.iter().filter(is_code).map(|it| (it.start, it.start + it.text.len())).collect();
    code.sort_unstable();
    let in_code = |at: usize| {
        let behind = code.partition_point(|it| it.0 <= at);
        behind.checked_sub(1).and_then(|it| code.get(it)).is_some_and(|it| at < it.1)
    };
    let open: Vec<_> = reading.findings.iter().filter(|it| !in_code(it.start)).cloned().collect();
    let is_open = scan::text::verdict(scan::text::score(&open)) == Verdict::Injection;
    let severity = match stance {
        Stance::Document | Stance::Hidden if is_open => Severity::High,
        Stance::Document | Stance::Hidden | Stance::Program => Severity::Medium,
    };
    let shown = if is_open { &open } else { &reading.findings };
    let mut worst: Vec<_> = shown.iter().collect();
    worst.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    for it in worst.iter().take(3) {
        let why =
            format!("it reads like an order to the model: {} ({})", it.rule, it.category.as_str());
        found.add(SkillCheck::Injection, severity, (it.start, it.end), why);
    }
    if reading.findings.is_empty() {
        // INVARIANT (FailClosed): a detector that does not work clears nothing.
        found.add(
            SkillCheck::Unread,
            Severity::Medium,
            (0, 0),
            "it could not be scanned for orders",
        );
    }
}

/// Addresses, and names of places where data is carried to, with or without a scheme.
fn addresses(text: &str, stance: Stance, found: &mut Findings<'_>) {
    let mut judged = 0;
    for (at, _) in text.match_indices("://") {
        if judged >= URLS_MAX {
            found.add(
                SkillCheck::Unread,
                Severity::Medium,
                (at, at),
                "it has too many addresses to be judged",
            );
            break;
        }
        let Some((start, end)) = url_at(text, at) else { continue };
        judged += 1;
        if let Some(sign) = text.get(start..end).and_then(hosts::judge_url) {
            found.add(SkillCheck::ExfiltrationUrl, sign.severity(stance), (start, end), sign.why);
        }
    }
    let mut at = 0;
    for word in text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '.' || it == '-')) {
        let plain = word.trim_matches(['.', '-']);
        if plain.len() <= 253
            && plain.contains('.')
            && plain.bytes().any(|it| it.is_ascii_alphabetic())
            && let Some(sign) = hosts::judge(plain)
        {
            found.add(
                SkillCheck::ExfiltrationUrl,
                sign.severity(stance),
                (at, at + word.len()),
                sign.why,
            );
        }
        // The letter behind a word is not always one byte long.
        at += word.len();
        at += text.get(at..).and_then(|it| it.chars().next()).map_or(0, char::len_utf8);
    }
}

/// The address around `://`, as far as it goes.
fn url_at(text: &str, at: usize) -> Option<(usize, usize)> {
    let before = text.get(..at)?;
    let scheme = before.bytes().rev().take(8).take_while(u8::is_ascii_alphabetic).count();
    let start = at - scheme;
    let is_end =
        |it: char| it.is_whitespace() || it.is_control() || "\"'`<>()[]{}|\\^*".contains(it);
    let rest = text.get(at..)?;
    let limit = rest.floor_char_boundary(rest.len().min(scan::net::URL_BYTES_MAX));
    let rest = rest.get(..limit)?;
    let length = rest.find(is_end).unwrap_or(rest.len());
    let url = rest.get(..length)?.trim_end_matches(['.', ',', ';', ':', '!']);
    matches!(
        text.get(start..at)?.to_ascii_lowercase().as_str(),
        "http" | "https" | "ws" | "wss" | "ftp"
    )
    .then_some((start, at + url.len()))
}
