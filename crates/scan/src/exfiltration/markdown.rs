//! Addresses in Markdown: images, links, and addresses that stand for themselves.

use std::collections::HashMap;

use memchr::memmem;

use super::address;
use super::{Carries, Finding, Kind};

/// How long a label is that can be defined, and how far a title reaches, in bytes. The text of a link may be longer.
const LABEL_BYTES_MAX: usize = 4096;

/// Finds the images, links and bare addresses of `text`.
pub(super) fn find(text: &str, all: &mut Vec<Finding>) {
    let definitions = definitions(text);
    images_and_links(text, &definitions, all);
    bare(text, all);
}

fn finding(kind: Kind, written: &str, start: usize, end: usize) -> Option<Finding> {
    let url = address::of(&address::resolved(&unescaped(written)))?;
    Some(Finding { kind, carries: Carries::of(&url), url: url.into(), start, end })
}

/// Without the backslashes that Markdown takes for escapes.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match signs.peek() {
            Some(next) if sign == '\\' && next.is_ascii_punctuation() && *next != '\\' => {}
            Some(_) | None => out.push(sign),
        }
    }
    out
}

/// `[label]: address` at the beginning of a line. Labels are compared without case and with single blanks.
fn definitions(text: &str) -> HashMap<String, &str> {
    let mut all = HashMap::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('[') else { continue };
        let Some((label, rest)) = rest.split_once("]:") else { continue };
        if label.len() <= LABEL_BYTES_MAX {
            // The first one counts.
            all.entry(folded(label)).or_insert(destination(rest.trim_start()).0);
        }
    }
    all
}

fn folded(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The address at the beginning of `text`, in angle brackets or up to a blank, and its length with what encloses it.
fn destination(text: &str) -> (&str, usize) {
    if let Some(inner) = text.strip_prefix('<') {
        let length = inner.find(['>', '\n']).unwrap_or(inner.len());
        return (inner.get(..length).unwrap_or_default(), length + 2);
    }
    let mut depth = 0_usize;
    let end = text.find(|it: char| {
        match it {
            '(' => depth += 1,
            ')' if depth == 0 => return true,
            ')' => depth -= 1,
            _ => {}
        }
        it.is_whitespace()
    });
    let end = end.unwrap_or(text.len());
    (text.get(..end).unwrap_or_default(), end)
}

/// Labels in brackets: inline `](…)`, full `][label]`, collapsed `][]`, and alone. What has `!` before it is an image.
fn images_and_links(text: &str, definitions: &HashMap<String, &str>, all: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let (mut opens, mut done): (Vec<usize>, usize) = (Vec::new(), 0);
    for at in memchr::memchr2_iter(b'[', b']', bytes) {
        // Brackets of an address belong to it.
        if at < done {
            continue;
        }
        if bytes.get(at) == Some(&b'[') {
            opens.push(at);
            continue;
        }
        let Some(open) = opens.pop() else { continue };
        let label = text.get(open + 1..at).unwrap_or_default();
        let is_image = open.checked_sub(1).and_then(|it| bytes.get(it)) == Some(&b'!');
        let (kind, start) =
            if is_image { (Kind::MarkdownImage, open - 1) } else { (Kind::Link, open) };
        let after = text.get(at + 1..).unwrap_or_default();
        let (written, length) = target(label, after, definitions);
        done = at + 1 + length;
        all.extend(written.and_then(|it| finding(kind, it, start, at + 1 + length)));
    }
}

/// The address that a label stands for, and how much of `after` belongs to it.
fn target<'a>(
    label: &str,
    after: &'a str,
    definitions: &HashMap<String, &'a str>,
) -> (Option<&'a str>, usize) {
    let of = |label: &str| {
        // A label with a bracket in it is none; and each letter is looked at for one pair of brackets alone.
        let is_label = !definitions.is_empty()
            && label.len() <= LABEL_BYTES_MAX
            && memchr::memchr(b'[', label.as_bytes()).is_none();
        is_label.then(|| definitions.get(&folded(label)).copied()).flatten()
    };
    if let Some(inner) = after.strip_prefix('(') {
        let blank = inner.len() - inner.trim_start().len();
        let (written, length) = destination(inner.trim_start());
        let rest = inner.get(blank + length..).unwrap_or_default();
        // A title, or nothing, stands before what closes it.
        let limit = rest.floor_char_boundary(LABEL_BYTES_MAX);
        let close = rest.get(..limit).and_then(|it| it.find(')')).map_or(0, |it| it + 1);
        return (Some(written), 1 + blank + length + close);
    }
    if let Some(inner) = after.strip_prefix('[') {
        let limit = inner.floor_char_boundary(LABEL_BYTES_MAX);
        if let Some(end) = inner.get(..limit).and_then(|it| it.find(']')) {
            let named = inner.get(..end).unwrap_or_default();
            let named = if named.trim().is_empty() { label } else { named };
            return (of(named), end + 2);
        }
    }
    (of(label), 0)
}

/// Addresses that stand for themselves, in angle brackets or not.
fn bare(text: &str, all: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for at in memmem::find_iter(bytes, b"://") {
        // An address in an address is a part of it.
        if at < done {
            continue;
        }
        let letters = bytes.get(..at).unwrap_or_default().iter().rev();
        let scheme =
            letters.take(SCHEME_BYTES_MAX).take_while(|it| it.is_ascii_alphabetic()).count();
        let (start, rest) = (at - scheme, text.get(at..).unwrap_or_default());
        let end = rest.find(|it: char| it.is_whitespace() || matches!(it, '<' | '>' | '"' | '`'));
        let written = text.get(start..at + end.unwrap_or(rest.len())).unwrap_or_default();
        // What ends a sentence or closes what was opened before ends no address.
        let written = written.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '*']);
        done = start + written.len();
        if scheme > 0 && written.len() > scheme + 3 {
            all.extend(finding(Kind::Link, written, start, start + written.len()));
        }
    }
}

/// The longest scheme of an address that is followed by programs, in bytes.
const SCHEME_BYTES_MAX: usize = 8;
