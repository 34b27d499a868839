//! Cuts text into the pieces of words that the encoder knows.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The pieces, one on each line; those that go on with a word begin with `##`.
const VOCABULARY: &str = include_str!("../model/vocab.txt");
/// A longer word is unknown, in letters.
const WORD_LETTERS_MAX: usize = 64;

/// Numbers of pieces.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    all: HashMap<&'static str, u32>,
    unknown: u32,
    start: u32,
    end: u32,
}

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let all: HashMap<_, _> = VOCABULARY.lines().zip(0..).collect();
        let special = |name| all.get(name).copied().unwrap_or_default();
        let (unknown, start, end) = (special("[UNK]"), special("[CLS]"), special("[SEP]"));
        Self { all, unknown, start, end }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The first `most` pieces of a text, between the signs for its start and its end.
    pub(crate) fn head(&self, text: &str, most: usize) -> Vec<u32> {
        let mut all = self.pieces(text);
        all.truncate(most);
        self.framed(&all)
    }

    /// The last `most` pieces.
    pub(crate) fn tail(&self, text: &str, most: usize) -> Vec<u32> {
        let all = self.pieces(text);
        self.framed(all.get(all.len().saturating_sub(most)..).unwrap_or_default())
    }

    fn framed(&self, pieces: &[u32]) -> Vec<u32> {
        [&[self.start], pieces, &[self.end]].concat()
    }

    fn pieces(&self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        for word in words(text) {
            self.cut(&word, &mut found);
        }
        found
    }

    /// The longest pieces from the left, or the sign for what is unknown.
    fn cut(&self, word: &str, found: &mut Vec<u32>) {
        let before = found.len();
        let letters = word.chars().count();
        let mut rest = word;
        let mut piece = String::new();
        while !rest.is_empty() && letters <= WORD_LETTERS_MAX {
            let start = if found.len() == before { "" } else { "##" };
            let ends = rest.char_indices().map(|(at, it)| at.saturating_add(it.len_utf8())).rev();
            let known =
                ends.filter_map(|end| rest.split_at_checked(end)).find_map(|(it, after)| {
                    piece.clear();
                    piece.push_str(start);
                    piece.push_str(it);
                    Some((*self.all.get(piece.as_str())?, after))
                });
            let Some((number, after)) = known else { break };
            found.push(number);
            rest = after;
        }
        if !rest.is_empty() {
            found.truncate(before);
            found.push(self.unknown);
        }
    }
}

/// Words in lower case and without accents; other signs, and Chinese characters, stand alone.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    for letter in text.nfkd().filter(|it| !is_combining_mark(*it)).flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() && !is_ideograph(letter) {
            word.push(letter);
            continue;
        }
        if !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if !letter.is_whitespace() {
            found.push(letter.to_string());
        }
    }
    found.extend(Some(word).filter(|it| !it.is_empty()));
    found
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_fall_away_and_signs_stand_alone() {
        assert_eq!(words("Où est l'ID_9 ?"), ["ou", "est", "l", "'", "id", "_", "9", "?"]);
        assert_eq!(words("删除它 now"), ["删", "除", "它", "now"]);
    }

    #[test]
    fn what_cannot_be_cut_is_unknown() {
        let vocabulary = Vocabulary::new();
        let long = "a".repeat(WORD_LETTERS_MAX + 1);
        let unknown = vocabulary.unknown;
        assert_eq!(vocabulary.pieces(&long), [unknown]);
        assert_eq!(vocabulary.tail("send it now", 1).len(), 3);
        assert_eq!(vocabulary.head("", 9), [vocabulary.start, vocabulary.end]);
    }
}
