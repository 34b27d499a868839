//! What prose brings up: its telling words, and names by their capitals.

use std::borrow::Cow;

use super::facts::ROW_KEYS_MAX;
use super::hash::Key;
use super::norm::{clean, phrase, word_key, words};
use super::user::is_telling_if;
use super::words::Known;

/// Words of a text that are remembered while it is read, to be looked up once.
const RECENT_WORDS: usize = 256;
/// In a shorter text hardly a word comes twice, in bytes.
const REPEATS_BYTES_MIN: usize = 256;
/// A name has no more words than this.
const NAME_WORDS_MAX: usize = 5;

/// Words that were there just before, and whether each may begin a request.
pub(super) struct Recent<'a>(Vec<(&'a str, bool)>);

impl<'a> Recent<'a> {
    /// For a text of so many bytes.
    pub(super) fn of(bytes: usize) -> Self {
        Self(vec![("", false); if bytes < REPEATS_BYTES_MIN { 0 } else { RECENT_WORDS }])
    }

    /// Its place, if words are remembered.
    fn place(&mut self, word: &str) -> Option<&mut (&'a str, bool)> {
        let [first, .., last] = word.as_bytes() else { return None };
        let mixed = usize::from(*first) ^ (usize::from(*last) << 2) ^ (word.len() << 4);
        self.0.get_mut(mixed % RECENT_WORDS)
    }
}

/// The telling words of a folded text. A word that was there just before is not looked at again.
/// Answers whether one of all its words may begin a request.
pub(super) fn telling_words<'a>(
    folded: &'a str,
    recent: &mut Recent<'a>,
    keys: &mut Vec<Key>,
) -> bool {
    // `s'il te plaît` is cut in another way.
    let mut asks = folded.as_bytes().contains(&b'\'') || !folded.is_ascii() && folded.contains('’');
    for word in words(folded) {
        let mut place = match word {
            Cow::Borrowed(word) => recent.place(word).map(|it| (it, word)),
            Cow::Owned(_) => None,
        };
        if let Some(((then, begins), word)) = &place
            && then == word
        {
            asks |= *begins;
            continue;
        }
        let known = Known::of(&word);
        asks |= known.begins_request();
        if let Some((place, word)) = &mut place {
            **place = (*word, known.begins_request());
        }
        if is_telling_if(&word, known) {
            keys.push(word_key(&word));
        }
    }
    asks
}

/// Ids in prose are written in one piece: `L-92`.
pub(super) fn ids(folded: &str, keys: &mut Vec<Key>) {
    let mut rest = folded;
    while let Some(at) = rest.bytes().position(|it| it.is_ascii_digit()) {
        let Some((before, from)) = rest.split_at_checked(at) else { return };
        let start = before.rfind(char::is_whitespace).map_or(0, |it| {
            it.saturating_add(
                before.get(it..).and_then(|it| it.chars().next()).map_or(0, char::len_utf8),
            )
        });
        let end = at.saturating_add(from.find(char::is_whitespace).unwrap_or(from.len()));
        keys.extend(rest.get(start..end).and_then(phrase));
        rest = rest.get(end..).unwrap_or_default();
    }
}

/// Names in prose: runs of words with capitals.
pub(super) fn capitals(text: &str, keys: &mut Vec<Key>) {
    // Without a capital there is no name.
    if text.is_ascii() && !text.bytes().fold(false, |any, it| any | it.is_ascii_uppercase()) {
        return;
    }
    let text = clean(text);
    let most = keys.len().saturating_add(ROW_KEYS_MAX);
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
        if keys.len() >= most {
            break;
        }
    }
}

/// The words of a text, each with the sign after it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let cuts = |it: char| match it {
        '.' | ',' | ':' | ';' | '!' | '?' | '(' | ')' | '[' | ']' | '"' => true,
        _ => it.is_whitespace(),
    };
    text.split_inclusive(cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_words_with_a_digit() {
        for text in ["", "7", " a1 b\u{2003}c2\n d ", "l-92, (x) 3é4 é5", "no digit", "1 2  3"] {
            let digit = |it: &&str| it.bytes().any(|it| it.is_ascii_digit());
            let wanted: Vec<Key> =
                text.split_whitespace().filter(digit).filter_map(phrase).collect();
            let mut found = Vec::new();
            ids(text, &mut found);
            assert_eq!(found, wanted, "{text:?}");
        }
    }

    #[test]
    fn without_a_capital_there_is_no_name() {
        let named = |text: &str| {
            let mut keys = Vec::new();
            capitals(text, &mut keys);
            keys
        };
        let small = "the tide turns at 12.30, (with it) [go] the boats; a-b \"c\" x@y.z!";
        assert_eq!(named(small), []);
        // Beyond ASCII nothing is taken for granted.
        assert_eq!(named(&format!("{small} é")), []);
        assert_eq!(named("then Ann left"), named("thén Ann left"));
        assert_eq!(named("Ann").len(), 1);
    }

    #[test]
    fn words_that_may_begin_a_request_are_seen() {
        let asks = |text: &str| telling_words(text, &mut Recent::of(0), &mut Vec::new());
        assert!(asks("come, please") && asks("s'il te plaît") && asks("peux-tu"));
        assert!(!asks("the minutes were read"));
    }

    #[test]
    fn what_was_there_just_before_is_known_again() {
        let text = "please bring the ledger and the lantern; please do. the ledger, the lantern.";
        let (mut all, mut once) = (Vec::new(), Vec::new());
        telling_words(text, &mut Recent::of(0), &mut all);
        let mut recent = Recent::of(REPEATS_BYTES_MIN);
        for part in text.split_inclusive(';') {
            assert!(telling_words(part, &mut recent, &mut once), "each asks: {part}");
        }
        all.sort_unstable();
        all.dedup();
        once.sort_unstable();
        assert_eq!(once, all);
    }
}
