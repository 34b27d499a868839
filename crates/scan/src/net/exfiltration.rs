//! Signs that a URL carries data off. Each is worth a question, none is proof.

use std::borrow::Cow;

use psl::Psl as _;
use url::Url;

use super::encoded::{
    Data, LETTERS_MIN, data_in, decoded, digests_and_random, is_random, text_in_pieces,
};
use super::lists::{Class, classes, is_hook};
use super::signed::{name_of, unsigned};
use super::{Host, Target};
use crate::net::Rule;

/// A sign that a URL carries data off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// `net-exfil-…`, one of [`super::RULES`].
    pub rule: Rule,
    /// In one sentence, without what is carried.
    pub reason: String,
}

/// What nobody needs to find a page, in bytes.
const VALUE_BYTES_MAX: usize = 256;
const QUERY_BYTES_MAX: usize = 1024;
const PATH_BYTES_MAX: usize = 1024;
const SUB_DOMAIN_BYTES_MAX: usize = 100;
/// Random letters and digits in a row that are no id or digest any more. Paths have longer ids than
/// queries have.
const QUERY_RANDOM_MIN: usize = 40;
const PATH_RANDOM_MIN: usize = 64;
const LABEL_RANDOM_MIN: usize = 24;
/// The shortest piece of random letters that are spread over several values or parts; and how many such letters are
/// no ids any more, together.
const QUERY_PIECE_RANDOM_MIN: usize = 16;
const PATH_PIECE_RANDOM_MIN: usize = 24;
const RANDOM_MIN: usize = 160;
/// Digests, together, in letters: nobody needs four of SHA-256 to find a page.
const DIGESTS_MIN: usize = 256;
/// Several labels that are each too short for [`LABEL_RANDOM_MIN`], together.
const PIECE_RANDOM_MIN: usize = 10;
const PIECES_RANDOM_MIN: usize = 32;
/// So many labels are judged as one, however short they are.
const LABELS_MIN: usize = 4;
/// So many labels with letters, and so long together, are a sentence and no place.
const WORDS_MIN: usize = 6;
const SENTENCE_BYTES_MIN: usize = 20;

/// Every sign that the URL carries data off, by rule: at most one for each.
#[must_use]
pub fn exfiltration(target: &Target) -> Vec<Suspicion> {
    let url = target.url();
    let mut found = Vec::new();
    if let Host::Name(name) = target.host() {
        found.extend(by_host(name, url.path()));
        found.extend(by_name(name));
    }
    found.extend(by_path(url));
    let parts = url.query().map(|it| unsigned(url.host_str().unwrap_or_default(), it));
    let parts = parts.unwrap_or_default();
    found.extend(by_query(&parts));
    found.extend(by_length(url, &parts));
    found
}

fn suspicion(rule: Rule, reason: impl Into<String>) -> Suspicion {
    Suspicion { rule, reason: reason.into() }
}

fn by_host(name: &str, path: &str) -> Option<Suspicion> {
    let class = classes(name).next().map(|it| it.0);
    if is_hook(name, path) || matches!(class, Some(Class::Carrier | Class::Drop)) {
        let reason = format!("`{name}` passes on to somebody what is sent to it");
        return Some(suspicion(Rule::ExfilHost, reason));
    }
    let reason = || format!("`{name}` is a tunnel to somebody's own machine");
    (class == Some(Class::Tunnel)).then(|| suspicion(Rule::ExfilTunnel, reason()))
}

/// Whoever owns a domain reads every name under it that is looked up.
fn by_name(name: &str) -> Option<Suspicion> {
    // Nothing fits into a short one.
    if name.len() < LABEL_RANDOM_MIN {
        return None;
    }
    let domain = psl::List.domain(name.as_bytes())?.as_bytes().len();
    let before = name.get(..name.len().checked_sub(domain)?)?.trim_end_matches('.');
    if before.len() > SUB_DOMAIN_BYTES_MAX {
        let reason = format!("the name has {} bytes before its domain", before.len());
        return Some(suspicion(Rule::ExfilDns, reason));
    }
    let named = |it: &&str| !is_account(it, name);
    let labels: Vec<&str> = before.split('.').filter(named).collect();
    let label = labels.iter().find_map(|it| data_in(it, LABEL_RANDOM_MIN));
    let pieces = labels.iter().filter(|it| it.len() >= PIECE_RANDOM_MIN && is_random(it));
    let many = labels.len() >= LABELS_MIN && {
        let joined = labels.concat();
        joined.len() >= PIECES_RANDOM_MIN && is_random(&joined)
    };
    // A sentence, a word to a label.
    let worded = labels.iter().filter(|it| it.bytes().any(|it| it.is_ascii_alphabetic())).count();
    let sentence = worded >= WORDS_MIN && before.len() >= SENTENCE_BYTES_MIN;
    let found = label.is_some()
        || sentence
        || pieces.map(|it| it.len()).sum::<usize>() >= PIECES_RANDOM_MIN
        || many
        || text_in_pieces(&labels);
    found.then(|| suspicion(Rule::ExfilDns, "the name looks like encoded data before its domain"))
}

/// Clouds that name a customer by a number in the host. Their own servers answer for all such names, so whoever looks one
/// up tells nobody else of it.
const CLOUDS: &[&str] = &[".r2.cloudflarestorage.com", ".eks.amazonaws.com"];
/// Such a number, in hexadecimal digits.
const ACCOUNT_DIGITS: usize = 32;

fn is_account(label: &str, name: &str) -> bool {
    let is_number = label.len() == ACCOUNT_DIGITS && label.bytes().all(|it| it.is_ascii_hexdigit());
    is_number && CLOUDS.iter().any(|it| name.ends_with(it))
}

fn by_path(url: &Url) -> Option<Suspicion> {
    if url.path().len() < LETTERS_MIN {
        return None;
    }
    let segments: Vec<_> = url.path().split('/').filter(|it| !it.is_empty()).map(plain).collect();
    let found = in_whole(&segments, PATH_RANDOM_MIN)
        .or_else(|| in_pieces(&segments, PATH_PIECE_RANDOM_MIN))?;
    Some(suspicion(Rule::ExfilPath, format!("a part of the path {}", said(found))))
}

fn by_query(parts: &[&str]) -> Option<Suspicion> {
    // A name without a value may be the data itself.
    let words = parts.iter().flat_map(|it| it.split('=')).filter(|it| it.len() >= LETTERS_MIN);
    let words: Vec<_> = words.map(plain).collect();
    let pieces = |cut: fn(&str) -> &str| -> Vec<Cow<'_, str>> {
        parts.iter().map(|it| cut(it)).filter(|it| !it.is_empty()).map(plain).collect()
    };
    let found = in_whole(&words, QUERY_RANDOM_MIN)
        .or_else(|| in_pieces(&pieces(value_of), QUERY_PIECE_RANDOM_MIN))
        .or_else(|| in_pieces(&pieces(name_of), QUERY_PIECE_RANDOM_MIN))?;
    Some(suspicion(Rule::ExfilQuery, format!("a value in the query {}", said(found))))
}

/// `value` of `name=value`, or all of it.
fn value_of(part: &str) -> &str {
    part.split_once('=').map_or(part, |(_, value)| value)
}

/// One of them is data.
fn in_whole(texts: &[Cow<'_, str>], random_min: usize) -> Option<Data> {
    let is_address = |it: &str| it.starts_with("http://") || it.starts_with("https://");
    texts.iter().filter(|it| it.len() >= LETTERS_MIN).find_map(|it| match &**it {
        // An address in an address has parts of its own.
        address if is_address(address) => {
            address.split(['/', '?', '&', '=']).find_map(|it| data_in(it, random_min))
        }
        text => data_in(text, random_min),
    })
}

/// All of them together are.
fn in_pieces(texts: &[Cow<'_, str>], random_min: usize) -> Option<Data> {
    let pieces: Vec<&str> = texts.iter().map(|it| &**it).collect();
    if text_in_pieces(&pieces) {
        return Some(Data::Text);
    }
    let (digests, random) = digests_and_random(pieces.into_iter(), random_min);
    (digests >= DIGESTS_MIN || random >= RANDOM_MIN).then_some(Data::Random)
}

/// Without percent signs, also without those that stand for percent signs.
fn plain(text: &str) -> Cow<'_, str> {
    match decoded(text) {
        Cow::Borrowed(text) => text.into(),
        Cow::Owned(text) => decoded(&text).into_owned().into(),
    }
}

fn by_length(url: &Url, parts: &[&str]) -> Option<Suspicion> {
    let value = parts.iter().map(|it| long(it)).max().unwrap_or_default();
    let query = parts.iter().map(|it| long(it).saturating_add(1)).sum::<usize>().saturating_sub(1);
    let path = long(url.path());
    let (what, bytes) = if value > VALUE_BYTES_MAX {
        ("a value in the query", value)
    } else if query > QUERY_BYTES_MAX {
        ("the query", query)
    } else if path > PATH_BYTES_MAX {
        ("the path", path)
    } else {
        return None;
    };
    Some(suspicion(Rule::ExfilLong, format!("{what} has {bytes} bytes")))
}

/// How much it says, in bytes: a letter that is none of ASCII takes six or nine to write.
fn long(text: &str) -> usize {
    match decoded(text) {
        Cow::Owned(said) if !said.contains(char::REPLACEMENT_CHARACTER) => said.len(),
        Cow::Owned(_) | Cow::Borrowed(_) => text.len(),
    }
}

fn said(data: Data) -> &'static str {
    match data {
        Data::Text => "is text that was encoded",
        Data::Random => "looks like encoded or encrypted data",
    }
}
