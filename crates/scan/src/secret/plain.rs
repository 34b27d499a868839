//! Secrets of no provider: private keys, passwords in URLs and headers, values that are called secret, beginnings.

use super::assigned::assigned;
use super::check::{Confidence, entropy, is_placeholder};
use super::{Secret, secret};

/// What is looked for.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    /// The first line of a private key.
    Pem,
    /// The scheme of a URL with a password in it.
    Scheme,
    /// The name of a header, or of the scheme in it.
    Header,
    /// An option of a program that takes name and password.
    User,
    /// A name of something secret.
    Name,
    /// A name of a password.
    Password,
    /// What known tokens begin with.
    Beginning,
    /// A secret of Kubernetes.
    Kubernetes,
}

/// What is looked for, in small letters.
pub(super) const SIGNS: &[(&str, Sign)] = &[
    ("-----begin", Sign::Pem),
    ("---- begin", Sign::Pem),
    ("://", Sign::Scheme),
    ("bearer ", Sign::Header),
    ("basic ", Sign::Header),
    ("token ", Sign::Header),
    ("--user", Sign::User),
    ("-u ", Sign::User),
    ("-u\"", Sign::User),
    ("-u'", Sign::User),
    ("api_key", Sign::Name),
    ("apikey", Sign::Name),
    ("api-key", Sign::Name),
    ("api_token", Sign::Name),
    ("access_key", Sign::Name),
    ("accesskey", Sign::Name),
    ("secret", Sign::Name),
    ("token", Sign::Name),
    ("credential", Sign::Name),
    ("auth", Sign::Name),
    ("private_key", Sign::Name),
    ("signing_key", Sign::Name),
    ("encryption_key", Sign::Name),
    ("password", Sign::Password),
    ("passwd", Sign::Password),
    ("passphrase", Sign::Password),
    ("kind: secret", Sign::Kubernetes),
    ("kind: \"secret\"", Sign::Kubernetes),
    ("kind: 'secret'", Sign::Kubernetes),
    ("\"kind\": \"secret\"", Sign::Kubernetes),
    ("sk-", Sign::Beginning),
    ("sk_test_", Sign::Beginning),
    ("sk_live_", Sign::Beginning),
    ("rk_live_", Sign::Beginning),
    ("akia", Sign::Beginning),
    ("ghp_", Sign::Beginning),
    ("gho_", Sign::Beginning),
    ("ghs_", Sign::Beginning),
    ("github_pat_", Sign::Beginning),
    ("xoxb-", Sign::Beginning),
    ("xoxp-", Sign::Beginning),
    ("xapp-", Sign::Beginning),
    ("ya29.", Sign::Beginning),
    ("hf_", Sign::Beginning),
    ("glpat-", Sign::Beginning),
    ("pypi-", Sign::Beginning),
];

/// The longest private key, in bytes.
const PEM_BYTES_MAX: usize = 16 * 1024;
/// The longest value, in bytes.
const VALUE_BYTES_MAX: usize = 400;
/// As much more is looked at as shows that a value is longer, in bytes.
const VALUE_END_BYTES: usize = 8;
/// How far behind the name of a program its option may stand, in bytes.
const COMMAND_BYTES_MAX: usize = 300;

/// Returns the secret to which a sign belongs that stands in `text` from `start` to `end`.
pub(super) fn at(text: &str, sign: Sign, start: usize, end: usize) -> Option<Secret> {
    match sign {
        Sign::Pem => pem(text, start),
        Sign::Scheme => in_url(text, end),
        Sign::Header => in_header(text, start, end),
        Sign::User => after_option(text, end),
        Sign::Name => named(text, end),
        Sign::Password => password(text, end),
        Sign::Beginning => beginning(text, start, end),
        Sign::Kubernetes => kubernetes(text, start),
    }
}

/// A private key, also one that does not end.
fn pem(text: &str, start: usize) -> Option<Secret> {
    let limit = text.floor_char_boundary(text.len().min(start + PEM_BYTES_MAX));
    let rest = text.get(start..limit)?;
    let first = rest.split("-----\\n").next()?.lines().next()?;
    let line = first.get(..first.floor_char_boundary(80)).unwrap_or(first).to_ascii_uppercase();
    if !line.contains("PRIVATE KEY") {
        return Some(secret(
            "pem-beginning",
            "PEM",
            Confidence::Weak,
            start,
            start + line.len().min(rest.len()),
        ));
    }
    let close = rest.find("---END").or_else(|| rest.find("-- END")).or_else(|| rest.find("---end"));
    let end = match close {
        Some(at) => {
            let last = rest.get(at..)?;
            let until =
                last.get(8..).and_then(|it| it.find("----")).map_or(last.len(), |it| it + 8 + 5);
            at + until.min(last.len())
        }
        None => rest.len(),
    };
    let end = text.floor_char_boundary((start + end).min(text.len()));
    Some(secret("private-key", "PEM", Confidence::Certain, start, end))
}

/// `scheme://name:password@host`.
fn in_url(text: &str, end: usize) -> Option<Secret> {
    let rest = text.get(end..)?;
    let stop = rest.find(|it: char| {
        it.is_whitespace() || matches!(it, '/' | '"' | '\'' | '<' | '>' | '`' | '?' | '#')
    });
    let authority =
        rest.get(..stop.unwrap_or(rest.len()).min(rest.floor_char_boundary(VALUE_BYTES_MAX)))?;
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let known =
        ["password", "pass", "secret", "pwd", "user", "pw", "x", "postgres", "root", "guest"];
    if password.is_empty()
        || is_placeholder(password)
        || password.starts_with('$')
        || known.contains(&password)
        || password.contains('{')
    {
        return None;
    }
    let start = end + name.len() + 1;
    Some(secret("url-password", "URL", Confidence::Likely, start, start + password.len()))
}

/// The value of a header of authorization.
fn in_header(text: &str, start: usize, end: usize) -> Option<Secret> {
    let before =
        text.get(text.floor_char_boundary(start.saturating_sub(24))..start)?.to_ascii_lowercase();
    if !before.trim_end_matches([' ', '"', '\'', ':', '\\']).ends_with("authorization") {
        return None;
    }
    let (value, at) = value_at(text, end)?;
    if value.len() < 10
        || is_placeholder(value)
        || !value.bytes().all(|it| it.is_ascii_graphic())
        || entropy(value) < 2.7
    {
        return None;
    }
    // Ordinary words are no token.
    let has_digit = value.bytes().any(|it| it.is_ascii_digit());
    (has_digit || value.contains('=')).then_some(secret(
        "authorization-header",
        "HTTP",
        Confidence::Likely,
        at,
        at + value.len(),
    ))
}

/// `--user name:password`.
fn after_option(text: &str, end: usize) -> Option<Secret> {
    let near = text.ceil_char_boundary(end.saturating_sub(COMMAND_BYTES_MAX));
    text.get(near..end)?.rfind("curl")?;
    let rest = text.get(end..)?;
    let rest = rest.get(..rest.floor_char_boundary(VALUE_BYTES_MAX + VALUE_END_BYTES))?;
    let value_start = rest.find(|it: char| !matches!(it, ' ' | '"' | '\'' | '='))?;
    let quoted = rest.get(..value_start)?.contains(['"', '\'']);
    let stops = |it: char| {
        if quoted {
            matches!(it, '"' | '\'' | '\n')
        } else {
            it.is_whitespace() || matches!(it, '"' | '\'')
        }
    };
    let value = rest.get(value_start..)?.split(stops).next()?;
    let (name, password) = value.split_once(':')?;
    let odd = value.contains("$(")
        || value.contains("{{")
        || value.contains("${")
        || value.starts_with('$')
        || password.starts_with('$');
    if password.len() < 4
        || odd
        || is_placeholder(password)
        || password.contains(['[', '<', '%'])
        || entropy(password) < 2.0
    {
        return None;
    }
    let words = ["password", "pass", "passwd", "secret", "token", "yyy", "admin"];
    if words.contains(&password.to_ascii_lowercase().as_str()) {
        return None;
    }
    let at = end + value_start + name.len() + 1;
    Some(secret("curl-user", "curl", Confidence::Likely, at, at + password.len()))
}

/// A value that is called a key, a token or a secret and looks like one.
fn named(text: &str, end: usize) -> Option<Secret> {
    let (value, at) = value_at(text, assigned(text.as_bytes(), end)?)?;
    let long = value.len() >= 16;
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let plain = value.bytes().all(|it| {
        it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
    });
    let letters = value.bytes().any(|it| it.is_ascii_alphabetic());
    let dots = value.matches('.').count();
    // An id is no secret, whatever it is the id of.
    let name = text.get(text.floor_char_boundary(end)..at).unwrap_or_default().to_ascii_lowercase();
    let is_id = name.starts_with("id")
        || name.starts_with("sid")
        || name.contains("_id")
        || name.contains("izer");
    let odd = is_id
        || value.contains("://")
        || value.starts_with('/')
        || dots > 2
        || value.contains("Key")
        || value.contains("key")
        || value.contains("oken")
        || value.contains("ecret");
    let looks = long
        && plain
        && letters
        && digits >= 3
        && !odd
        && entropy(value) >= 3.3
        && !is_placeholder(value);
    looks.then_some(secret("generic-secret", "generic", Confidence::Likely, at, at + value.len()))
}

/// A value that is called a password.
fn password(text: &str, end: usize) -> Option<Secret> {
    let begin = assigned(text.as_bytes(), end)?;
    // Code asks for passwords all the time; one that is given stands in quotes, or alone at the end of a line.
    let quoted = begin
        .checked_sub(1)
        .and_then(|it| text.as_bytes().get(it))
        .is_some_and(|it| matches!(it, b'"' | b'\''));
    let (value, at) = value_at(text, begin)?;
    let digits = value.bytes().any(|it| it.is_ascii_digit());
    let marks = value.bytes().any(|it| {
        it.is_ascii_punctuation()
            && !matches!(
                it,
                b'_' | b'.' | b'(' | b')' | b'[' | b']' | b'-' | b'/' | b':' | b';' | b','
            )
    });
    let strong = value.len() >= 8
        && digits
        && (marks || entropy(value) >= 3.3)
        && !value.contains(['(', '{', '$', '<', '[']);
    let looks = strong && (quoted || marks) && !is_placeholder(value) && !value.contains("://");
    looks.then_some(secret("generic-password", "generic", Confidence::Likely, at, at + value.len()))
}

/// Data of a secret of Kubernetes: base64 behind a name.
fn kubernetes(text: &str, start: usize) -> Option<Secret> {
    let from = text.floor_char_boundary(start.saturating_sub(1000));
    let to = text.floor_char_boundary(text.len().min(start + 1500));
    let around = text.get(from..to)?;
    let data = around.find("data:").or_else(|| around.find("\"data\":"))?;
    let begin = data + 5;
    for line in around.get(begin..)?.split_inclusive('\n') {
        let word =
            line.trim().rsplit([' ', ':', '"']).find(|it| !it.is_empty()).unwrap_or_default();
        let encoded = word.len() >= 8
            && word.len() % 4 == 0
            && word
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'='));
        let mixed = word.bytes().any(|it| it.is_ascii_uppercase())
            && word.bytes().any(|it| it.is_ascii_lowercase());
        if encoded && mixed && entropy(word) > 2.5 {
            let at = from
                + begin
                + line.as_ptr().addr().saturating_sub(around.get(begin..)?.as_ptr().addr());
            let inner = line.find(word)?;
            return Some(secret(
                "kubernetes-secret",
                "Kubernetes",
                Confidence::Likely,
                at + inner,
                at + inner + word.len(),
            ));
        }
    }
    None
}

/// What known tokens begin with, and a few characters more.
fn beginning(text: &str, start: usize, end: usize) -> Option<Secret> {
    let before = start.checked_sub(1).and_then(|it| text.as_bytes().get(it));
    if before.is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let rest = text
        .get(end..)?
        .bytes()
        .take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-'));
    let more = rest.take(VALUE_BYTES_MAX).count();
    (more >= 1).then_some(secret("known-beginning", "generic", Confidence::Weak, start, end + more))
}

/// A text that is nothing but 32 hexadecimal digits or more.
pub(super) fn hexadecimal(text: &str) -> Option<Secret> {
    let word = text.trim();
    let all =
        word.len() >= 32 && word.len() <= 128 && word.bytes().all(|it| it.is_ascii_hexdigit());
    let at = text.len() - text.trim_start().len();
    all.then_some(secret("hexadecimal", "generic", Confidence::Weak, at, at + word.len()))
}

/// The value at `at`: until white space or a quote.
fn value_at(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = text.get(at..)?;
    let near = rest.get(..rest.floor_char_boundary(VALUE_BYTES_MAX + VALUE_END_BYTES))?;
    let stop = near.find(|it: char| {
        it.is_whitespace() || matches!(it, '"' | '\'' | '`' | ';' | ',' | ')' | '<' | '>' | '\\')
    });
    let value = near.get(..stop.unwrap_or(near.len()))?;
    (value.len() <= VALUE_BYTES_MAX && !value.is_empty()).then_some((value, at))
}
