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

/// Findings that are reported.
const SECRETS_MAX: usize = 1024;

static KNOWN: LazyLock<Option<Known>> = LazyLock::new(Known::new);

/// Finds the secrets of `text`, those of [`Confidence::Weak`] left out. Linear in the length of the text.
#[must_use]
pub fn find(text: &str) -> Vec<Secret> {
    find_from(text, Confidence::Likely, &Allowed::default())
}

/// Finds the secrets of `text` that are believed at least so much and are not allowed.
#[must_use]
pub fn find_from(text: &str, least: Confidence, allowed: &Allowed) -> Vec<Secret> {
    let shown = Shown::of(text);
    let bytes = shown.text.as_bytes();
    let mut all = Vec::new();
    match KNOWN.as_ref() {
        Some(known) => known.find(&shown.text, &mut all),
        // INVARIANT (FailClosed): without rules everything may be one.
        None => all.push(secret("rules-missing", "unknown", Confidence::Likely, 0, bytes.len())),
    }
    all.retain(|it| it.confidence >= least);
    all.retain(|it| !allowed.permits(it.rule, bytes.get(it.start..it.end).unwrap_or_default()));
    let mut all = merged(all);
    for it in &mut all {
        it.start = shown.original(it.start);
        it.end = shown.original(it.end);
    }
    all.truncate(SECRETS_MAX);
    all
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
