//! Secrets in text.

use scan::Allowed;
use scan::secret::{Confidence, find, find_from, redacted};

use crate::text::rows;
use crate::timed::grows_linearly;

#[test]
fn vectors_are_read_as_they_should_be() {
    let mut wrong = Vec::new();
    for row in rows(include_str!("../../../corpus/scan/secret/vectors.jsonl")) {
        let text = row["text"].as_str().unwrap_or_default();
        let found = find_from(text, Confidence::Weak, &Allowed::default());
        if found.is_empty() == (row["expect"] == "secret") {
            wrong.push(format!("{}: {found:?} {text}", row["id"]));
        }
        if row["expect"] == "secret" && !found.is_empty() {
            assert!(redacted(text, &found).contains("[REDACTED:"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where a disguised secret stands is known, too: it can be taken out, and nothing of it is left.
#[test]
fn disguises_hide_nothing() {
    let mut wrong = Vec::new();
    for row in rows(include_str!("../../../corpus/scan/secret/disguised.jsonl")) {
        let text = row["text"].as_str().unwrap_or_default();
        let found = find(text);
        let left = redacted(text, &found);
        let is_right = match row["expect"].as_str() {
            Some("secret") => !found.is_empty() && find(&left).is_empty(),
            _ => found.is_empty(),
        };
        if !is_right {
            wrong.push(format!("{}: {found:?} {left}", row["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let encoded = "QUtJQUlPU0ZPRE5ON0VYQU1QTEU=";
    let allowed = Allowed::line("aws-access-key", b"AKIAIOSFODNN7EXAMPLE");
    assert_eq!(find(encoded).len(), 1);
    let allowed = Allowed::parse(&allowed).unwrap_or_default();
    assert!(find_from(encoded, Confidence::Likely, &allowed).is_empty());
}

#[test]
fn a_value_that_is_allowed_is_not_reported() {
    let text = "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE";
    assert_eq!(find(text).iter().map(|it| it.rule).collect::<Vec<_>>(), ["aws-access-key"]);
    let line = Allowed::line("aws-access-key", b"AKIAIOSFODNN7EXAMPLE");
    let allowed = Allowed::parse(&line).unwrap_or_default();
    assert!(find_from(text, Confidence::Likely, &allowed).is_empty());
}

#[test]
fn ordinary_code_has_no_secrets() {
    for text in [
        "let token = tokens.next().unwrap();",
        "password: Optional[str] = None",
        "sha256 = 46178c9b88ef1498c72e22ff6405c773925b12da08890e00d921bc90cf0f2d44",
        "See https://example.com/a?token=abc for more",
        "API_KEY=${API_KEY}",
        "Authorization: Bearer <token>",
        "commit 2d05d13cadeedc3bbabcd679ac2c09482e7fe0e9",
    ] {
        assert!(find(text).is_empty(), "{text}: {:?}", find(text));
    }
}

#[test]
fn hostile_repetition_takes_linear_time() {
    for piece in [
        "ghp_",
        "sk-",
        "token = ",
        "token=",
        "-u ",
        "curl--user=a:b",
        "://a:b@",
        "-----BEGIN PRIVATE KEY",
        "curl -u a:b ",
        "kind: secret\ndata:\n",
        "eyJ.",
        "password=\"a1",
        "AZDO",
        "1/",
        "\"+\"",
        "%41",
        "\\\n",
        "Z2hwX2ExYjJj",
        "&",
    ] {
        grows_linearly(piece, 150_000, find);
    }
}
