//! A text without what was found in it.

use std::borrow::Cow;

use super::found::{Found, Replacement};
use super::plan::{Plan, Treatment};
use crate::fold::is_invisible;
use crate::text::{self, Author, Verdict};

/// Stands for an order that was taken out.
const REMOVED: &str = "[Lazaret: taken out]";
/// How far a sentence is followed from a sign in it, in bytes.
const SENTENCE_BYTES_MAX: usize = 600;

/// Returns `text` without what the plan wants taken out.
///
/// `cleans_orders` is said of the whole that `text` may be a field of: alone it may only be a little odd.
pub(super) fn clean(text: &str, found: &Found, plan: &Plan, cleans_orders: bool) -> String {
    let mut gone: Vec<Replacement> = Vec::new();
    // What was found behind a cut is gone already.
    let is_here = |start: usize| start < text.len();
    if cleans_orders {
        let signs = found.signs();
        gone.extend(signs.iter().filter(|it| is_here(it.start)).map(|it| {
            let (start, end) = sentence(text, it.start, it.end);
            (start, end, Cow::Borrowed(REMOVED))
        }));
    }
    if plan.secrets == Treatment::Clean {
        let named = |rule: &str| Cow::Owned(format!("[REDACTED:{rule}]"));
        let secrets = found.secrets().iter().filter(|it| is_here(it.start));
        gone.extend(secrets.map(|it| (it.start, it.end, named(it.rule))));
    }
    if plan.personal == Treatment::Clean {
        let named = |kind: &str| Cow::Owned(format!("[PII:{kind}]"));
        let personal = found.personal().iter().filter(|it| is_here(it.start));
        gone.extend(personal.map(|it| (it.start, it.end, named(it.kind))));
    }
    if plan.addresses == Treatment::Clean {
        let addresses = found.addresses().iter().filter(|it| is_here(it.start));
        gone.extend(addresses.map(|it| (it.start, it.end, Cow::Owned(it.note()))));
    }
    let cleaned = replaced(text, gone);
    let strips = cleans_orders || found.is_hidden() && plan.hidden == Treatment::Clean;
    if strips { stripped(&cleaned) } else { cleaned }
}

/// Tells whether a text gives no orders any more.
pub(super) fn is_clean(text: &str) -> bool {
    text::read(text, Author::Outsider).verdict() != Verdict::Injection
}

/// Returns `text` without control characters (but for tabs and ends of lines) and without what people do not see.
#[must_use]
pub fn stripped(text: &str) -> String {
    let seen = |it: &char| {
        let is_control = it.is_control() && !matches!(it, '\t' | '\n' | '\r');
        !is_control && !is_invisible(*it)
    };
    text.chars().filter(seen).collect()
}

/// The sentence around a place: what a sign belongs to is said in the rest of it.
fn sentence(text: &str, start: usize, end: usize) -> (usize, usize) {
    let from = text.ceil_char_boundary(start.saturating_sub(SENTENCE_BYTES_MAX).min(text.len()));
    let before = text.get(from..start).unwrap_or_default();
    let begin = ends(before).last().map_or(from, |it| from + it);
    let limit = text.floor_char_boundary(text.len().min(end.saturating_add(SENTENCE_BYTES_MAX)));
    let behind = text.get(end..limit).unwrap_or_default();
    // A sign may itself end with what ends the sentence.
    let is_over = text.get(start..end).is_some_and(|it| it.ends_with(ENDS));
    let finish = if is_over { end } else { ends(behind).next().map_or(limit, |it| end + it) };
    (begin, finish)
}

/// What ends a sentence.
const ENDS: [char; 7] = ['.', '!', '?', '\n', '。', '！', '？'];

/// Where sentences end in `text`. A point inside of a word, as in an address, ends none.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(move |(at, it)| {
        let end = at + it.len_utf8();
        let next = text.get(end..).and_then(|it| it.chars().next());
        let ends = ENDS.contains(&it) && (it != '.' || next.is_none_or(char::is_whitespace));
        ends.then_some(end)
    })
}

/// Returns `text` with the places replaced. Of places that overlap, the first says what stands there.
fn replaced(text: &str, mut places: Vec<Replacement>) -> String {
    places.sort_by_key(|it| (it.0, usize::MAX - it.1));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (start, end, instead) in places {
        if start >= at {
            out.push_str(text.get(at..start).unwrap_or_default());
            // Two that were taken out side by side are one.
            if !out.ends_with(&*instead) {
                out.push_str(&instead);
            }
        }
        at = end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
