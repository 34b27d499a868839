//! What looks like a secret, whoever's it is: for lines that go to a log or a terminal.
//!
//! Values that are held are found by value, in `scrub`. This is for those that nobody gave us, in words of others
//! that end up in an error. It may take out too much, so it is not for what agents read.

use std::borrow::Cow;

/// How keys of well-known services begin.
const PREFIXES: &[&str] = &[
    "-----BEGIN",
    "AGE-SECRET-KEY-",
    "AIza",
    "AKIA",
    "ASIA",
    "ghp_",
    "gho_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "lzt_",
    "npm_",
    "pypi-",
    "rk_live_",
    "rk_test_",
    "sk-",
    "sk_live_",
    "sk_test_",
    "xapp-",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "ya29.",
];
/// How a private key begins, whichever dashes stand before it.
const PEM: &str = "- BEGIN ";
/// So many digits in hex, by themselves, are a key and not a digest.
const HEX_CHARS: usize = 32;

/// The text without what looks like a secret.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    if let Some(at) = private_key(text) {
        let (before, _) = text.split_at_checked(at).unwrap_or((text, ""));
        // How long it goes on is not believed: what follows is left out.
        return Cow::Owned(format!("{}[REDACTED_KEY]", redact(before)));
    }
    let mut clean = String::new();
    let mut changed = false;
    let mut after_bearer = false;
    for (word, gap) in words(text) {
        let shape = shape(word, after_bearer);
        changed |= shape.is_some();
        clean.push_str(shape.unwrap_or(word));
        clean.push_str(gap);
        if !word.is_empty() {
            after_bearer = word.eq_ignore_ascii_case("bearer");
        }
    }
    if changed { Cow::Owned(clean) } else { Cow::Borrowed(text) }
}

/// What a word is replaced with, if it looks like a secret.
fn shape(word: &str, after_bearer: bool) -> Option<&'static str> {
    if is_token_of_three(word) {
        return Some("[REDACTED_JWT]");
    }
    let begins = PREFIXES.iter().any(|it| word.len() > it.len() && word.starts_with(it));
    let hex = |it: &str| it.len() == HEX_CHARS && it.bytes().all(|it| it.is_ascii_hexdigit());
    let twilio = word.strip_prefix("SK").is_some_and(hex);
    let mixed = word.bytes().any(|it| it.is_ascii_digit()) && hex(word);
    let secret = begins || twilio || mixed || (after_bearer && word.len() >= 4);
    secret.then_some("[REDACTED]")
}

/// A JSON web token, also one without a signature.
fn is_token_of_three(word: &str) -> bool {
    let mut parts = word.split('.');
    let first = parts.next().is_some_and(|it| it.starts_with("eyJ") && it.len() > 8);
    first && parts.next().is_some_and(|it| it.starts_with("eyJ")) && parts.next().is_some()
}

/// Where a private key begins.
fn private_key(text: &str) -> Option<usize> {
    let spaced =
        text.find(PEM).map(|at| text.get(..at).map_or(at, |it| it.trim_end_matches('-').len()));
    let plain = text.find("-----BEGIN ");
    [spaced, plain].into_iter().flatten().min().filter(|at| {
        text.get(*at..)
            .is_some_and(|it| it.lines().next().is_some_and(|it| it.contains("PRIVATE KEY")))
    })
}

/// Words, each with what stands behind it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let part = |it: char| it.is_ascii_alphanumeric() || "-_./+".contains(it);
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (word, more) = rest.split_at(rest.find(|it| !part(it)).unwrap_or(rest.len()));
        let (gap, more) = more.split_at(more.find(part).unwrap_or(more.len()));
        rest = more;
        Some((word, gap))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{Name, Secret};

    #[test]
    fn the_vectors_hold() {
        let rows: Vec<Value> =
            serde_json::from_str(include_str!("../../../corpus/credentials/secrets.json")).unwrap();
        for row in &rows {
            let (input, expected) = (&row["input"], &row["expected"]);
            if let Some(name) = input["key_name"].as_str() {
                assert_eq!(Name::parse(name).unwrap().category().as_str(), expected, "{row}");
                continue;
            }
            if let Some(value) = input["register"].as_str() {
                let kept = Secret::new(zeroize::Zeroizing::new(value.to_owned())).is_ok();
                assert_eq!(kept, expected["registered"] == true, "{row}");
                continue;
            }
            let text = input.as_str().unwrap();
            let clean = redact(text);
            let listed = |field: &str| expected[field].as_array().cloned().unwrap_or_default();
            assert!(
                listed("contains").iter().all(|it| clean.contains(it.as_str().unwrap())),
                "{row}: {clean}"
            );
            assert!(
                !listed("not_contains").iter().any(|it| clean.contains(it.as_str().unwrap())),
                "{row}: {clean}"
            );
            let wants = expected == "should_redact" || expected["matches"].is_string();
            let keeps = expected == text || expected.get("matches") == Some(&Value::Null);
            assert!(!wants || clean != text, "{row}: {clean}");
            assert!(!keeps || clean == text, "{row}: {clean}");
        }
        assert_eq!(rows.len(), 39);
    }

    #[test]
    fn ordinary_lines_stay() {
        for line in [
            "",
            "`/home/me/.lazaret/vault.age`: it is damaged",
            "the task-list of the bearer",
            "record e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "a sk- and an AKIA by themselves",
            "-----BEGIN CERTIFICATE-----",
        ] {
            let clean = redact(line);
            assert!(clean == line || line.contains("BEGIN"), "{line}: {clean}");
        }
    }
}
