//! Letters and digits alone, in one spelling, with the way back to the text.
//!
//! Case, accents, look-alike letters, invisible characters, spaces and punctuation are what a copy is disguised with.
//! Squeezed text has none of them; where words begin is kept beside it.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::fold::{is_invisible, look_alike};

/// Squeezed text. Offsets are 32 bits wide: texts are looked at in blocks.
#[derive(Debug, Default)]
pub(super) struct Squeezed {
    bytes: Vec<u8>,
    /// For each byte, where its character begins in the text.
    origins: Vec<u32>,
    /// Where words begin in `bytes`, in order.
    words: Vec<Word>,
}

/// A word's beginning.
#[derive(Clone, Copy, Debug)]
struct Word {
    at: u32,
    /// Words up to this one, with it, that stand behind white space.
    spaced: u32,
}

/// How a passage is broken up into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Breaks {
    /// Words that begin inside the passage.
    pub(super) all: usize,
    /// Those of them that stand behind white space.
    pub(super) spaced: usize,
    /// Does a word begin where the passage begins?
    pub(super) starts_word: bool,
    /// Does a word end where the passage ends?
    pub(super) ends_word: bool,
}

impl Squeezed {
    /// Squeezes `text`. Linear.
    pub(super) fn new(text: &str) -> Self {
        let mut squeezed = Self {
            bytes: Vec::with_capacity(text.len()),
            origins: Vec::with_capacity(text.len()),
            words: Vec::with_capacity(text.len() / 4),
        };
        let mut gap = Gap::Spaced;
        let mut rest = text;
        let mut at = 0;
        while !rest.is_empty() {
            let plain = rest.bytes().position(|it| !it.is_ascii()).unwrap_or(rest.len());
            let (ascii, other) = rest.split_at_checked(plain).unwrap_or((rest, ""));
            gap = squeezed.ascii(ascii.as_bytes(), at, gap);
            at += ascii.len();
            let wide = other.bytes().position(|it| it.is_ascii()).unwrap_or(other.len());
            let (wide, after) = other.split_at_checked(wide).unwrap_or((other, ""));
            gap = squeezed.wide(wide, at, gap);
            at += wide.len();
            rest = after;
        }
        squeezed
    }

    /// Returns the letters and digits: lower case, valid UTF-8.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns where in the text the passage `start..end` of the squeezed bytes begins and its last character begins.
    pub(super) fn origin(&self, start: usize, end: usize) -> (usize, usize) {
        let at = |it: usize| self.origins.get(it).map_or(0, |it| *it as usize);
        (at(start), at(end.saturating_sub(1)))
    }

    /// Returns the first squeezed byte that lies at or behind the text's byte `origin`.
    pub(super) fn at_origin(&self, origin: usize) -> usize {
        self.origins.partition_point(|it| (*it as usize) < origin)
    }

    /// The same for a byte that lies behind the squeezed byte `from`: for a walk through a text, which is linear so.
    pub(super) fn advance(&self, from: usize, origin: usize) -> usize {
        let rest = self.origins.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|it| (**it as usize) < origin).count()
    }

    /// Returns how the passage is broken up.
    pub(super) fn breaks(&self, start: usize, end: usize) -> Breaks {
        let first = self.word_from(start);
        let starts_word = self.words.get(first).is_some_and(|it| it.at as usize == start);
        let inner = if starts_word { first + 1 } else { first };
        let past = self.word_from(end);
        let begins_at_end = self.words.get(past).is_some_and(|it| it.at as usize == end);
        let spaced = |index: usize| {
            let known = index.checked_sub(1).and_then(|it| self.words.get(it));
            known.map_or(0, |it| it.spaced as usize)
        };
        Breaks {
            all: past.saturating_sub(inner),
            spaced: spaced(past).saturating_sub(spaced(inner)),
            starts_word,
            ends_word: begins_at_end || end >= self.bytes.len(),
        }
    }

    /// Reads digits that stand for letters (`S1L3NT`) as these, if the text has words that are written so.
    pub(super) fn without_digits(&self) -> Option<Self> {
        let is_odd = |it: &&[u8]| matches!(it, [a, b, c] if a.is_ascii_lowercase() && is_drawn(*b) && c.is_ascii_lowercase());
        let odd = self.bytes.windows(3).filter(is_odd).take(ODD_MIN).count();
        if odd < ODD_MIN {
            return None;
        }
        let bytes = self.bytes.iter().map(|it| letter_of(*it)).collect();
        Some(Self { bytes, origins: self.origins.clone(), words: self.words.clone() })
    }

    /// Returns the number of words.
    pub(super) fn words(&self) -> usize {
        self.words.len()
    }

    /// Returns the first word that begins at or behind `at`.
    pub(super) fn word_from(&self, at: usize) -> usize {
        self.words.partition_point(|it| (it.at as usize) < at)
    }

    /// Returns a word's place and letters.
    pub(super) fn word(&self, index: usize) -> Option<(usize, &[u8])> {
        let start = self.words.get(index)?.at as usize;
        let end = self.words.get(index + 1).map_or(self.bytes.len(), |it| it.at as usize);
        Some((start, self.bytes.get(start..end)?))
    }

    fn ascii(&mut self, bytes: &[u8], at: usize, mut gap: Gap) -> Gap {
        for (index, byte) in bytes.iter().enumerate() {
            let folded = FOLDED.get(*byte as usize).copied().unwrap_or_default();
            if folded == 0 {
                gap = gap.wider(*byte <= b' ');
                continue;
            }
            if gap != Gap::None {
                self.begin_word(gap);
                gap = Gap::None;
            }
            self.bytes.push(folded);
            self.origins.push(offset(at + index));
        }
        gap
    }

    fn wide(&mut self, text: &str, at: usize, mut gap: Gap) -> Gap {
        for (index, found) in text.char_indices() {
            if is_invisible(found) {
                continue;
            }
            decompose_compatible(found, |part| {
                if is_combining_mark(part) || is_invisible(part) {
                    return;
                }
                let part = look_alike(part);
                if !part.is_alphanumeric() {
                    gap = gap.wider(part.is_whitespace());
                    return;
                }
                if gap != Gap::None {
                    self.begin_word(gap);
                    gap = Gap::None;
                }
                for lower in part.to_lowercase() {
                    let mut buffer = [0; 4];
                    let encoded = lower.encode_utf8(&mut buffer).as_bytes();
                    self.bytes.extend_from_slice(encoded);
                    self.origins.extend(encoded.iter().map(|_| offset(at + index)));
                }
            });
        }
        gap
    }

    fn begin_word(&mut self, gap: Gap) {
        let before = self.words.last().map_or(0, |it| it.spaced);
        let spaced = before + u32::from(gap == Gap::Spaced);
        self.words.push(Word { at: offset(self.bytes.len()), spaced });
    }
}

/// What lies between the last letter and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    None,
    Punctuation,
    Spaced,
}

impl Gap {
    fn wider(self, is_space: bool) -> Self {
        if is_space || self == Self::Spaced { Self::Spaced } else { Self::Punctuation }
    }
}

/// Digits between letters from which on a text is read without them.
const ODD_MIN: usize = 2;

fn is_drawn(byte: u8) -> bool {
    letter_of(byte) != byte
}

/// The letter that a digit is drawn for.
fn letter_of(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' => b'i',
        b'3' => b'e',
        b'4' => b'a',
        b'5' => b's',
        b'7' => b't',
        other => other,
    }
}

/// Blocks are far shorter than this.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What each ASCII character counts as: lower-case letters and digits; 0 for all others.
const FOLDED: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128_u8 {
        if byte.is_ascii_alphanumeric() {
            #[expect(clippy::indexing_slicing, reason = "checked when this is compiled")]
            {
                table[byte as usize] = byte.to_ascii_lowercase();
            }
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        String::from_utf8(Squeezed::new(text).bytes).unwrap()
    }

    #[test]
    fn disguises_fall_off() {
        for text in
            ["SILENT_REPLY", "S i l e n t - Reply", "si\u{200b}lent\nre ply", "ЅІLЕNТ rеplу"]
        {
            assert_eq!(shown(text), "silentreply", "{text:?}");
        }
        assert_eq!(shown("Ｆｕｌｌ wídth — ok"), "fullwidthok");
    }

    #[test]
    fn breaks_tell_words_from_joints() {
        let squeezed = Squeezed::new("the heartbeat_ok x");
        let breaks = squeezed.breaks(3, 14);
        assert_eq!(breaks, Breaks { all: 1, spaced: 0, starts_word: true, ends_word: true });
        let squeezed = Squeezed::new("heartbeat okay");
        let breaks = squeezed.breaks(0, 11);
        assert_eq!(breaks, Breaks { all: 1, spaced: 1, starts_word: true, ends_word: false });
        assert_eq!(squeezed.word(1), Some((9, &b"okay"[..])));
        assert_eq!(squeezed.words(), 2);
    }

    #[test]
    fn every_byte_knows_where_it_came_from() {
        let text = "é\u{200b} a  Ｂ";
        let squeezed = Squeezed::new(text);
        assert_eq!(squeezed.bytes(), b"eab");
        assert_eq!(squeezed.origin(0, 1), (0, 0));
        assert_eq!(squeezed.origin(1, 3), (6, 9));
        assert_eq!(squeezed.at_origin(7), 2);
    }
}
