//! What prose brings up: its telling words, and names by their capitals.

use std::borrow::Cow;

use super::facts::ROW_KEYS_MAX;
use super::hash::Key;
use super::norm::{clean, phrase, word_key, words};
use super::user::is_telling;

/// Words of a text that are remembered while it is read, to be looked up once.
const RECENT_WORDS: usize = 256;
/// A name has no more words than this.
const NAME_WORDS_MAX: usize = 5;

/// The telling words of a folded text. A word that was there just before is not looked at again.
pub(super) fn telling_words(folded: &str, keys: &mut Vec<Key>) {
    let mut recent = [""; RECENT_WORDS];
    for word in words(folded) {
        if let Cow::Borrowed(word) = word
            && let [first, .., last] = word.as_bytes()
        {
            let mixed = usize::from(*first) ^ (usize::from(*last) << 2) ^ (word.len() << 4);
            if let Some(place) = recent.get_mut(mixed % RECENT_WORDS) {
                if *place == word {
                    continue;
                }
                *place = word;
            }
        }
        if is_telling(&word) {
            keys.push(word_key(&word));
        }
    }
}

/// Names in prose: runs of words with capitals.
pub(super) fn capitals(text: &str) -> Vec<Key> {
    let text = clean(text);
    let mut keys = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    for piece in pieces(&text) {
        // Most words are small.
        if piece.chars().find(|it| it.is_alphanumeric()).is_some_and(|it| !it.is_uppercase()) {
            run.clear();
            continue;
        }
        let word = piece.trim_matches(|it: char| !it.is_alphanumeric());
        if word.starts_with(char::is_uppercase) {
            run.push(word);
            let longest = run.get(run.len().saturating_sub(NAME_WORDS_MAX)..).unwrap_or_default();
            for from in 0..longest.len() {
                keys.extend(match longest.get(from..).unwrap_or_default() {
                    [one] => phrase(one),
                    all => phrase(&all.join(" ")),
                });
            }
        }
        let ends = piece.ends_with([',', '.', ':', ';', '!', '?', '(', ')', '"', '\n']);
        if ends {
            run.clear();
        }
        if keys.len() >= ROW_KEYS_MAX {
            break;
        }
    }
    keys
}

/// The words of a text, each with the sign after it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let cuts = |it: char| match it {
        '.' | ',' | ':' | ';' | '!' | '?' | '(' | ')' | '[' | ']' | '"' => true,
        _ => it.is_whitespace(),
    };
    text.split_inclusive(cuts)
}
