//! Phrases of the parts of a text that give orders.

use super::asked::is_thing;
use super::atoms::{self, Kind};
use super::facts::MARKED_KEYS_MAX;
use super::hash::Key;
use super::norm::{PHRASE_WORDS_MAX, fold, hashed, prefixes, words};

/// Every phrase of a marked part. A short number alone is kept only where it is called an id.
pub(super) fn mark(text: &str, keys: &mut Vec<Key>) {
    for atom in atoms::atoms(text) {
        keys.push(atom.key);
        if atom.kind == Kind::Url {
            keys.extend(atom.host);
        }
    }
    let folded = fold(text);
    let all: Vec<_> = words(&folded).collect();
    let numbers = hashed(&folded);
    for start in 0..all.len() {
        if keys.len() >= MARKED_KEYS_MAX {
            return;
        }
        let rest = all.get(start..).unwrap_or_default();
        let first = rest.first().map(AsRef::as_ref).unwrap_or_default();
        let number = first.len() <= 4 && first.bytes().all(|it| it.is_ascii_digit());
        let least = if number && !is_called_id(text, &all, start) { 2 } else { 1 };
        let from = numbers.get(start..).unwrap_or_default();
        prefixes(from, least, PHRASE_WORDS_MAX, |key| keys.push(key));
    }
}

/// `id 13`, `ID: '13'`, `#13`, `number 13`, or in quotes.
fn is_called_id<S: AsRef<str>>(text: &str, all: &[S], at: usize) -> bool {
    let number = all.get(at).map(AsRef::as_ref).unwrap_or_default();
    let before = at.saturating_sub(2)..at;
    let called = all.get(before).unwrap_or_default();
    let named = called.iter().any(|it| {
        ["id", "ids", "number", "no", "nr", "nummer"].contains(&it.as_ref())
            || is_thing(it.as_ref())
    });
    let quoted =
        ["'", "\"", "#", "`", "“"].iter().any(|it| text.contains(&format!("{it}{number}")));
    named || quoted
}
