//! Secrets in text: keys, tokens and passwords, by the forms that providers give them.
//!
//! What a secret begins with, or the names that stand before one, are looked for in one pass; only there is the form compared,
//! and its checksum or entropy. Forms are data (`rules/secret`). A finding has no value in it: where it stands is enough to
//! take it out.

mod assigned;
mod check;
mod form;
mod known;
mod plain;

use std::borrow::Cow;
use std::sync::LazyLock;

pub use check::Confidence;
use known::Known;

use crate::allow::Allowed;
use crate::decode::{self, Decoded};
use crate::shown::Shown;

/// A secret and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The id of the rule that found it: stable, in records.
    pub rule: &'static str,
    /// Whose secrets look like this.
    pub provider: &'static str,
    /// How much it is to be believed.
    pub confidence: Confidence,
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Encodings within encodings that are followed.
const DEPTH_MAX: usize = 3;
/// The id of the rule for what is encoded deeper than that.
const UNREAD_RULE: &str = "encoded-unread";

/// How much around an escape is read without it, in bytes: most secrets are shorter.
const AROUND_BYTES: usize = 256;

static KNOWN: LazyLock<Option<Known>> = LazyLock::new(Known::new);

/// Finds the secrets of `text`, those of [`Confidence::Weak`] left out: all of them, or whoever takes them out would leave some there. Linear in
/// the length of the text.
#[must_use]
pub fn find(text: &str) -> Vec<Secret> {
    find_from(text, Confidence::Likely, &Allowed::default())
}

/// Finds the secrets of `text` that are believed at least so much and are not allowed.
#[must_use]
pub fn find_from(text: &str, least: Confidence, allowed: &Allowed) -> Vec<Secret> {
    find_at(text, least, allowed, DEPTH_MAX)
}

fn find_at(text: &str, least: Confidence, allowed: &Allowed, depth: usize) -> Vec<Secret> {
    let shown = Shown::of(text);
    let mut all = find_in(&shown, least, allowed, depth);
    // Where something stands between the letters of a value, both count: what is written, and what it comes to.
    for (from, value) in Shown::of_values(text, AROUND_BYTES) {
        let inner = find_in(&value, least, allowed, depth).into_iter();
        all.extend(inner.map(|it| Secret { start: it.start + from, end: it.end + from, ..it }));
    }
    if let Some(run) = decode::tags(text) {
        match depth.checked_sub(1) {
            Some(depth) => all.extend(inside(&run, least, allowed, depth)),
            None => all.push(unread(&run)),
        }
    }
    merged(all)
}

/// The secrets of a text as it is shown, and of what is told in it in another alphabet.
fn find_in(shown: &Shown<'_>, least: Confidence, allowed: &Allowed, depth: usize) -> Vec<Secret> {
    let bytes = shown.text.as_bytes();
    let mut all = Vec::new();
    match KNOWN.as_ref() {
        Some(known) => known.find(&shown.text, &mut all),
        // INVARIANT (FailClosed): without rules everything may be one.
        None => all.push(secret("rules-missing", "unknown", Confidence::Likely, 0, bytes.len())),
    }
    all.retain(|it| it.confidence >= least);
    all.retain(|it| !allowed.permits(it.rule, bytes.get(it.start..it.end).unwrap_or_default()));
    for run in decode::runs(&shown.text).into_iter().chain(decode::codes(&shown.text)) {
        match depth.checked_sub(1) {
            Some(depth) => all.extend(inside(&run, least, allowed, depth)),
            None => all.push(unread(&run)),
        }
    }
    for it in &mut all {
        it.start = shown.original(it.start);
        it.end = shown.original(it.end);
    }
    all
}

/// The secrets of what was decoded, at the place where it stands. Beginnings of secrets are none: anything may begin so.
fn inside(run: &Decoded, least: Confidence, allowed: &Allowed, depth: usize) -> Vec<Secret> {
    let mut all = find_at(&run.text, least.max(Confidence::Likely), allowed, depth);
    for it in &mut all {
        (it.start, it.end) = (run.start, run.end);
    }
    all
}

/// What is encoded so deep that it is not read.
const fn unread(run: &Decoded) -> Secret {
    // INVARIANT (FailClosed): what is not read may be one.
    secret(UNREAD_RULE, "unknown", Confidence::Likely, run.start, run.end)
}

/// Returns `text` with every secret replaced by the name of its rule.
#[must_use]
pub fn redacted<'a>(text: &'a str, secrets: &[Secret]) -> Cow<'a, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut all, mut at) = (String::with_capacity(text.len()), 0);
    for it in secrets {
        all.push_str(text.get(at..it.start.max(at)).unwrap_or_default());
        all.push_str("[REDACTED:");
        all.push_str(it.rule);
        all.push(']');
        at = it.end.max(at);
    }
    all.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(all)
}

const fn secret(
    rule: &'static str,
    provider: &'static str,
    confidence: Confidence,
    start: usize,
    end: usize,
) -> Secret {
    Secret { rule, provider, confidence, start, end }
}

/// Of findings that overlap, the most believed one, and of these the longest, speaks for all of the place.
fn merged(mut all: Vec<Secret>) -> Vec<Secret> {
    all.sort_by_key(|it| (it.start, usize::MAX - it.end));
    let mut kept: Vec<Secret> = Vec::new();
    for it in all {
        match kept.last_mut() {
            Some(last) if it.start < last.end => {
                let end = last.end.max(it.end);
                if it.confidence > last.confidence {
                    *last = Secret { start: last.start, ..it };
                }
                last.end = end;
            }
            Some(_) | None => kept.push(it),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_point_into_the_original() {
        let text =
            format!("é key: ghp_{}\u{200b}{} end", "a1B2c3D4e5F6g7H8i9", "J0k1L2m3N4o5P6q7R8");
        let found = find(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        let value = text.get(found[0].start..found[0].end).unwrap();
        assert!(value.starts_with("ghp_") && value.ends_with("R8"), "{value}");
        assert_eq!(redacted(&text, &found), "é key: [REDACTED:github-pat] end");
    }
}
