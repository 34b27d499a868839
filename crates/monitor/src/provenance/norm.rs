//! One spelling for what is the same: case, Unicode forms, invisible characters, numbers.

use std::borrow::Cow;

use scan::is_invisible;
use unicode_normalization::UnicodeNormalization;

use super::hash::{Key, Sip, key};

/// The longest phrase that is looked up as a whole, in words.
pub(super) const PHRASE_WORDS_MAX: usize = 8;
/// The spaces of phrases and of words among the keys.
const PHRASE: u8 = b'p';
const WORD: u8 = b'w';

/// `text` in lower case and in compatible form, without characters that cannot be seen.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        if text.bytes().any(|it| it.is_ascii_uppercase()) {
            return Cow::Owned(text.to_ascii_lowercase());
        }
        return Cow::Borrowed(text);
    }
    let seen = text.chars().filter(|it| !is_invisible(*it));
    Cow::Owned(seen.nfkc().flat_map(char::to_lowercase).filter(|it| !is_invisible(*it)).collect())
}

/// The same, with the case kept: names are told from words by their capitals.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|it| !is_invisible(*it)).nfkc().collect())
}

/// The words of a folded text: letters and digits; `10.00` and `1,200` are one word, `10` and `1200`.
pub(super) fn words(folded: &str) -> Words<'_> {
    Words { rest: folded }
}

/// Walks through words.
pub(super) struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let start = match self.rest.as_bytes() {
            // Most words stand after one space.
            [b' ', next, ..] if next.is_ascii_alphanumeric() => 1,
            _ => self.rest.find(char::is_alphanumeric)?,
        };
        let (_, from) = self.rest.split_at_checked(start)?;
        let end = end_of_word(from);
        let (word, rest) = from.split_at_checked(end)?;
        self.rest = rest;
        Some(spell(word))
    }
}

/// Where the word ends that `from` begins with. Apostrophes within a word and the points of a number
/// belong to it.
fn end_of_word(from: &str) -> usize {
    // Most words are plain letters with a space after them.
    let plain = from.bytes().position(|it| !it.is_ascii_lowercase()).unwrap_or(from.len());
    if plain == from.len() || from.as_bytes().get(plain) == Some(&b' ') {
        return plain;
    }
    let number = from.starts_with(|it: char| it.is_ascii_digit());
    let mut chars = from.char_indices().peekable();
    while let Some((at, it)) = chars.next() {
        if it.is_alphanumeric() {
            continue;
        }
        let next = chars.peek().map(|(_, next)| *next);
        let inside = match it {
            '\'' | '’' => !number && next.is_some_and(char::is_alphabetic),
            '.' | ',' => number && next.is_some_and(|it| it.is_ascii_digit()),
            _ => false,
        };
        if !inside {
            return at;
        }
    }
    from.len()
}

fn spell(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|it| it.is_ascii_alphanumeric()) {
        return Cow::Borrowed(word);
    }
    if word.starts_with(|it: char| it.is_ascii_digit()) && word.contains(['.', ',']) {
        return number(word).map_or(Cow::Borrowed(word), Cow::Owned);
    }
    if word.contains(['\'', '’']) {
        return Cow::Owned(word.replace(['\'', '’'], ""));
    }
    Cow::Borrowed(word)
}

/// `1,200.50` → `1200.5`, `10.00` → `10`; nothing for what has more than one point.
fn number(word: &str) -> Option<String> {
    let plain = word.replace(',', "");
    if plain.matches('.').count() > 1 {
        return None;
    }
    let Some((whole, part)) = plain.split_once('.') else { return Some(plain) };
    let part = part.trim_end_matches('0');
    Some(if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") })
}

/// A word as a number, from which keys of phrases are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

/// The words of a folded text as numbers.
pub(super) fn hashed(folded: &str) -> Vec<Word> {
    words(folded).map(|it| hash(&it)).collect()
}

fn hash(word: &str) -> Word {
    Word(key(WORD, word).0)
}

/// The key of a phrase, however it is spaced and punctuated.
pub(super) fn phrase(text: &str) -> Option<Key> {
    let folded = fold(text);
    let mut sip = opened();
    let mut any = false;
    for word in words(&folded) {
        sip.feed_word(hash(&word).0);
        any = true;
    }
    any.then(|| sip.key())
}

fn opened() -> Sip {
    const OPENED: Sip = {
        let mut sip = Sip::new();
        sip.feed_word(PHRASE as u64);
        sip
    };
    OPENED
}

/// The key of one folded word, the same as that of a phrase of one word.
pub(super) fn word_key(word: &str) -> Key {
    let mut sip = opened();
    sip.feed_word(hash(word).0);
    sip.key()
}

/// The keys of all phrases of `least` to `most` words.
pub(super) fn phrases(words: &[Word], least: usize, most: usize, mut found: impl FnMut(Key)) {
    for start in 0..words.len() {
        prefixes(words.get(start..).unwrap_or_default(), least, most, &mut found);
    }
}

/// The keys of the phrases of `least` to `most` words with which `words` begin.
pub(super) fn prefixes(words: &[Word], least: usize, most: usize, mut found: impl FnMut(Key)) {
    let mut sip = opened();
    for (taken, word) in words.iter().take(most).enumerate() {
        sip.feed_word(word.0);
        if taken.saturating_add(1) >= least {
            found(sip.key());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_thing_are_one() {
        let same = |a: &str, b: &str| assert_eq!(phrase(a), phrase(b), "{a} {b}");
        same("Riverside  View\nHotel", "\"riverside view hotel\"");
        same("10.00", "10.0");
        same("10", "10.00");
        same("$1,200.50", "1200.5");
        same("ＳＰＯＴＩＦＹ", "spo\u{200b}tify");
        same("team-building.docx", "Team Building docx");
        same("Don't", "dont");
        assert_ne!(phrase("2024-05-15"), phrase("2024-05-16"));
        assert_eq!(phrase(" -- "), None);
    }

    #[test]
    fn phrases_are_those_of_the_text() {
        let text = fold("go to the Riverside View Hotel now");
        let all = hashed(&text);
        let mut keys = Vec::new();
        phrases(&all, 1, PHRASE_WORDS_MAX, |key| keys.push(key));
        assert!(keys.contains(&phrase("riverside view hotel").unwrap()));
        assert!(keys.contains(&word_key("hotel")));
        assert!(!keys.contains(&phrase("riverside hotel").unwrap()));
    }
}
