//! What stands around numbers: words that say what a number is, found in one pass over the text.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::LazyLock;

use super::{date, numbers, phone};
use crate::keys::{Hit, Keys, Leftmost};

/// How far before a number words are looked for, in bytes; behind it, half as far.
const CONTEXT_BYTES: usize = 64;
/// Bytes for which it is remembered whether a word begins in them.
const BLOCK_BYTES: usize = 64;
/// Words that can be told apart.
const WORDS_MAX: usize = 512;

/// A text, and what is known of all of it.
pub(super) struct Context<'a> {
    pub(super) text: &'a str,
    /// How long it is without white space around it.
    pub(super) trimmed_len: usize,
    is_ascii: bool,
    words: OnceCell<Words>,
}

/// Where words stand that say what a number is.
struct Words {
    /// A bit for each block in which one begins.
    blocks: Vec<u64>,
    /// Where words for a birth end, in their order.
    births: Vec<usize>,
}

/// The words around a number: a bit for each.
#[derive(Clone, Copy, Default)]
pub(super) struct Near([u64; WORDS_MAX / 64]);

/// All words that say what a number is: those for a birth, those for a telephone, those of the rules.
static KEYS: LazyLock<Option<Keys>> = LazyLock::new(|| Keys::new(all_words()));

fn all_words() -> impl Iterator<Item = &'static str> {
    date::WORDS.iter().chain(phone::WORDS).copied().chain(numbers::words())
}

/// The places of the words for a telephone among all of them.
pub(super) const PHONE_WORDS: Range<usize> =
    date::WORDS.len()..date::WORDS.len() + phone::WORDS.len();

impl<'a> Context<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let trimmed_len = text.trim().len();
        Self { text, trimmed_len, is_ascii: text.is_ascii(), words: OnceCell::new() }
    }

    /// Returns where words for a birth end: of those that overlap the first, and of these the longest.
    pub(super) fn births(&self) -> &[usize] {
        &self.words().births
    }

    /// Returns the words that stand shortly before the place from `start` to `end`, or just behind it.
    pub(super) fn near(&self, start: usize, end: usize) -> Near {
        let from = self.text.floor_char_boundary(start.saturating_sub(CONTEXT_BYTES));
        let to = self.text.ceil_char_boundary((end + CONTEXT_BYTES / 2).min(self.text.len()));
        let around = self.text.get(from..to).unwrap_or_default();
        // Letters that are no ASCII have cases that the keys do not know.
        if (self.is_ascii || around.is_ascii()) && !self.words().may_begin_in(from..to) {
            return Near::default();
        }
        let (around, mut near) = (around.to_lowercase(), Near::default());
        match KEYS.as_ref() {
            Some(keys) => keys.find(around.as_bytes(), |it| near.add(&around, it)),
            // INVARIANT (FailClosed): without keys every word may be there.
            None => near = Near([u64::MAX; WORDS_MAX / 64]),
        }
        near
    }

    fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(self.text.as_bytes()))
    }
}

impl Near {
    /// Tells whether one of these words is there.
    pub(super) fn has(&self, mut words: Range<usize>) -> bool {
        words.any(|it| self.0.get(it / 64).is_some_and(|bits| (bits >> (it % 64)) & 1 == 1))
    }

    /// Adds a word, if it is no part of a longer one.
    fn add(&mut self, text: &str, hit: Hit) {
        let is_letter = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
        let before = text.get(..hit.start).and_then(|it| it.chars().next_back());
        let behind = text.get(hit.end..).and_then(|it| it.chars().next());
        if !is_letter(before) && !is_letter(behind) {
            let bits = self.0.iter_mut().skip(hit.key / 64).take(1);
            bits.for_each(|it| *it |= 1 << (hit.key % 64));
        }
    }
}

impl Words {
    fn of(bytes: &[u8]) -> Self {
        let blocks = vec![0; bytes.len() / (BLOCK_BYTES * 64) + 1];
        let mut all = Self { blocks, births: Vec::new() };
        let Some(keys) = KEYS.as_ref() else {
            all.blocks.fill(u64::MAX);
            return all;
        };
        let mut leftmost = Leftmost::default();
        keys.find(bytes, |hit| {
            let block = hit.start / BLOCK_BYTES;
            all.blocks.iter_mut().skip(block / 64).take(1).for_each(|it| *it |= 1 << (block % 64));
            if hit.key < date::WORDS.len() {
                all.births.extend(leftmost.next(hit).map(|it| it.end));
            }
        });
        all.births.extend(leftmost.end().map(|it| it.end));
        all
    }

    /// Tells whether a word may begin there.
    fn may_begin_in(&self, places: Range<usize>) -> bool {
        let mut blocks = places.start / BLOCK_BYTES..places.end.div_ceil(BLOCK_BYTES);
        blocks.any(|it| self.blocks.get(it / 64).is_some_and(|bits| (bits >> (it % 64)) & 1 == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_told_apart_and_found() {
        assert!(KEYS.is_some() && all_words().count() <= WORDS_MAX);
        for (at, word) in all_words().enumerate() {
            let text = format!("{} {word}: 123", "x".repeat(100));
            let start = text.len() - 3;
            let near = Context::new(&text).near(start, text.len());
            assert!(near.has(at..at + 1), "{word}");
            let longer = format!("{} {word}x123", "x".repeat(100));
            assert!(!Context::new(&longer).near(start, longer.len()).has(at..at + 1), "{word}");
        }
    }
}
