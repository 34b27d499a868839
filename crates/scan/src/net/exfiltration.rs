//! Signs that a URL carries data off. Each is worth a question, none is proof.

use psl::Psl as _;
use url::Url;

use super::encoded::{Data, LETTERS_MIN, data_in, decoded, is_random};
use super::lists::{Class, classes, is_hook};
use super::{Host, Target};

/// A sign that a URL carries data off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// `net-exfil-…`, one of [`super::RULES`].
    pub rule: &'static str,
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
/// Several labels that are each too short for [`LABEL_RANDOM_MIN`], together.
const PIECE_RANDOM_MIN: usize = 10;
const PIECES_RANDOM_MIN: usize = 32;

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
    found.extend(by_query(url));
    found.extend(by_length(url));
    found
}

fn suspicion(rule: &'static str, reason: impl Into<String>) -> Suspicion {
    Suspicion { rule, reason: reason.into() }
}

fn by_host(name: &str, path: &str) -> Option<Suspicion> {
    let class = classes(name).next().map(|it| it.0);
    if is_hook(name, path) || matches!(class, Some(Class::Carrier | Class::Drop)) {
        let reason = format!("`{name}` passes on to somebody what is sent to it");
        return Some(suspicion("net-exfil-host", reason));
    }
    let reason = || format!("`{name}` is a tunnel to somebody's own machine");
    (class == Some(Class::Tunnel)).then(|| suspicion("net-exfil-tunnel", reason()))
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
        return Some(suspicion("net-exfil-dns", reason));
    }
    let label = before.split('.').find_map(|it| data_in(it, LABEL_RANDOM_MIN));
    let pieces = before.split('.').filter(|it| it.len() >= PIECE_RANDOM_MIN && is_random(it));
    let found = label.is_some() || pieces.map(str::len).sum::<usize>() >= PIECES_RANDOM_MIN;
    found.then(|| suspicion("net-exfil-dns", "the name looks like encoded data before its domain"))
}

fn by_path(url: &Url) -> Option<Suspicion> {
    let segments = url.path().split('/').filter(|it| it.len() >= LETTERS_MIN);
    let found = segments.map(decoded).find_map(|it| data_in(&it, PATH_RANDOM_MIN))?;
    Some(suspicion("net-exfil-path", format!("a part of the path {}", said(found))))
}

fn by_query(url: &Url) -> Option<Suspicion> {
    // A name without a value may be the data itself.
    let words = url.query()?.split(['&', '=', ';']).filter(|it| it.len() >= LETTERS_MIN);
    let found = words.map(decoded).find_map(|it| data_in(&it, QUERY_RANDOM_MIN))?;
    Some(suspicion("net-exfil-query", format!("a value in the query {}", said(found))))
}

fn by_length(url: &Url) -> Option<Suspicion> {
    let query = url.query().unwrap_or_default();
    let value = query.split('&').map(str::len).max().unwrap_or_default();
    let (what, bytes) = if value > VALUE_BYTES_MAX {
        ("a value in the query", value)
    } else if query.len() > QUERY_BYTES_MAX {
        ("the query", query.len())
    } else if url.path().len() > PATH_BYTES_MAX {
        ("the path", url.path().len())
    } else {
        return None;
    };
    Some(suspicion("net-exfil-long", format!("{what} has {bytes} bytes")))
}

fn said(data: Data) -> &'static str {
    match data {
        Data::Text => "is text that was encoded",
        Data::Random => "looks like encoded or encrypted data",
    }
}
