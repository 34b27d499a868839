//! What is looked for: each value in the ways in which it is commonly written.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use data_encoding::{BASE32_NOPAD, BASE64_NOPAD, Encoding, HEXLOWER};
use zeroize::Zeroizing;

use super::Hit;
use super::near::Near;
use super::view::View;
use crate::guess;
use crate::secret::{SECRET_BYTES_MIN, Secret};

/// By so many bytes a needle is found; the rest is compared where it was.
const HEAD_BYTES: usize = 12;
/// Lines of a longer value are looked for by themselves if they have so many bytes.
const LINE_BYTES_MIN: usize = 24;

/// All needles, found in one pass.
pub(super) struct Needles {
    /// How each begins.
    heads: AhoCorasick,
    all: Vec<Needle>,
    near: Near,
}

/// What was found in a text.
#[derive(Default)]
pub(super) struct Found {
    pub(super) hits: Vec<Hit>,
    /// What is almost a secret: the place of its name, and a number for what stands there.
    pub(super) near: HashSet<(usize, u64)>,
}

struct Needle {
    text: Zeroizing<Vec<u8>>,
    secret: usize,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Letter by letter.
    Plain,
    /// In base64: the characters beside it may hold bits of it.
    Base64,
    /// In hex.
    Hex,
}

impl Needles {
    /// For these values, each with the place of its name; none if there are none.
    pub(super) fn new(values: &[(usize, Arc<Secret>)]) -> Option<Self> {
        let mut all = Vec::new();
        for (place, secret) in values {
            add(&mut all, *place, secret.plain());
        }
        let heads = all.iter().map(|it: &Needle| it.text.get(..HEAD_BYTES).unwrap_or(&it.text));
        let heads = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(heads)
            .ok()?;
        (!all.is_empty()).then(|| Self { heads, all, near: Near::new(values) })
    }

    /// Where they stand in a view, and what is almost one of them.
    pub(super) fn find(&self, view: &View<'_>, found: &mut Found) {
        self.near.look(&view.bytes, &mut found.near);
        self.look(view, found, |_| true);
    }

    /// Where they stand in hex.
    pub(super) fn find_hex(&self, view: &View<'_>, found: &mut Found) {
        self.look(view, found, |it| it == Form::Hex);
    }

    /// What is almost one of them in what is encoded in a view.
    pub(super) fn find_near_in_codes(&self, view: &View<'_>, found: &mut Found) {
        self.near.look_in_codes(&view.bytes, &mut found.near);
    }

    fn look(&self, view: &View<'_>, found: &mut Found, wanted: impl Fn(Form) -> bool) {
        let bytes = &*view.bytes;
        for part in self.heads.find_overlapping_iter(bytes) {
            let Some(needle) = self.all.get(part.pattern().as_usize()) else { continue };
            let start = part.start();
            let end = start.saturating_add(needle.text.len());
            let Some(there) = bytes.get(start..end).filter(|_| wanted(needle.form)) else {
                continue;
            };
            // Case says nothing: what was put into capitals is as good as known.
            if !there.eq_ignore_ascii_case(&needle.text) {
                continue;
            }
            let at = match needle.form {
                Form::Plain | Form::Hex => start..end,
                Form::Base64 => widened(bytes, start, end),
            };
            found.hits.push(Hit { at: view.origin(at), secret: needle.secret });
        }
    }
}

/// By which one of them is told from the others.
pub(super) fn number(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// With the characters on both sides that hold bits of the value, and its padding.
fn widened(bytes: &[u8], start: usize, end: usize) -> std::ops::Range<usize> {
    let coded =
        |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_alphanumeric() || b"+/-_".contains(it));
    let before = start.checked_sub(1).filter(|it| coded(bytes.get(*it))).unwrap_or(start);
    let mut after = if coded(bytes.get(end)) { end.saturating_add(1) } else { end };
    while bytes.get(after) == Some(&b'=') {
        after = after.saturating_add(1);
    }
    before..after
}

fn add(all: &mut Vec<Needle>, secret: usize, value: &str) {
    let mut push = |text: Vec<u8>, form: Form| {
        let known = all.iter().rev().take_while(|it| it.secret == secret);
        let mut known = known.map(|it| &*it.text);
        if text.len() >= SECRET_BYTES_MIN && !known.any(|it| **it == text) {
            all.push(Needle { text: Zeroizing::new(text), secret, form });
        }
    };
    let bytes = value.as_bytes();
    push(bytes.to_vec(), Form::Plain);
    push(value.chars().rev().collect::<String>().into_bytes(), Form::Plain);
    // For the views in which there are no blanks.
    push(value.split_whitespace().collect::<String>().into_bytes(), Form::Plain);
    // As a form writes it.
    push(value.replace(' ', "+").into_bytes(), Form::Plain);
    push(HEXLOWER.encode(bytes).into_bytes(), Form::Hex);
    for offset in 0..3 {
        let coded = base64(bytes, offset);
        let other: Vec<u8> = coded
            .iter()
            .map(|it| match it {
                b'+' => b'-',
                b'/' => b'_',
                other => *other,
            })
            .collect();
        // Twice: a password within the file of a registry's, within a secret of a cluster.
        for offset in 0..3 {
            push(base64(&coded, offset), Form::Base64);
        }
        push(coded, Form::Base64);
        push(other, Form::Base64);
    }
    for offset in 0..5 {
        push(coded(bytes, offset, &BASE32_NOPAD, 5), Form::Base64);
    }
    // A key of many lines may come back by the line. Its first and last say only what it is.
    let lines = value.lines().map(str::trim).filter(|it| it.len() < value.trim().len());
    let lines = lines.filter(|it| it.len() >= LINE_BYTES_MIN && !it.starts_with("-----"));
    // INVARIANT (NoOracle): a line may be known but for a few digits.
    for line in lines.filter(|it| guess::has_unguessable_piece(it)) {
        push(line.as_bytes().to_vec(), Form::Plain);
    }
}

/// What the value is in base64 where `offset` other bytes stand before it in its group of three: only the
/// characters that hold nothing but bits of it.
fn base64(bytes: &[u8], offset: usize) -> Vec<u8> {
    coded(bytes, offset, &BASE64_NOPAD, 6)
}

/// The same in any encoding of so many bits in a character.
fn coded(bytes: &[u8], offset: usize, encoding: &Encoding, bits: usize) -> Vec<u8> {
    let mut padded = Zeroizing::new(vec![0; offset]);
    padded.extend_from_slice(bytes);
    let coded = Zeroizing::new(encoding.encode(&padded).into_bytes());
    let from = (offset * 8).div_ceil(bits);
    let to = padded.len() * 8 / bits;
    coded.get(from..to).unwrap_or_default().to_vec()
}
