//! One spelling for many: lower case, no accents, no invisible characters, one space between words.
//!
//! What was found in the folded text can be shown in the original: every folded byte knows where it
//! came from.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Folded text and the way back.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    text: Vec<u8>,
    /// Places where the distance to the original changes: folded offset, original offset.
    jumps: Vec<(usize, usize)>,
}

impl Folded {
    /// Folds `text`. Linear, and plain ASCII takes a short way.
    pub(crate) fn new(text: &str) -> Self {
        let mut folded = Self { text: Vec::with_capacity(text.len()), jumps: Vec::new() };
        let mut rest = text;
        let mut at = 0;
        while !rest.is_empty() {
            let wide =
                if rest.is_ascii() { None } else { rest.bytes().position(|it| !it.is_ascii()) };
            let plain = wide.unwrap_or(rest.len());
            let (ascii, other) = rest.split_at_checked(plain).unwrap_or((rest, ""));
            folded.ascii(ascii.as_bytes(), at);
            at += ascii.len();
            let wide = other.bytes().position(|it| it.is_ascii()).unwrap_or(other.len());
            let (wide, after) = other.split_at_checked(wide).unwrap_or((other, ""));
            folded.wide(wide, at);
            at += wide.len();
            rest = after;
        }
        folded
    }

    /// The folded bytes: valid UTF-8.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// Where the folded byte at `at` came from.
    pub(crate) fn original(&self, at: usize) -> usize {
        let jump = self.jumps.partition_point(|it| it.0 <= at).checked_sub(1);
        match jump.and_then(|it| self.jumps.get(it)) {
            Some((folded, original)) => original + (at - folded),
            None => at,
        }
    }

    fn ascii(&mut self, bytes: &[u8], at: usize) {
        self.jump(at);
        for (index, chunk) in bytes.chunks(CHUNK_BYTES).enumerate() {
            let spaced = self.text.last() == Some(&b' ');
            let starts_spaced = spaced && chunk.first().is_some_and(|it| is_space(*it));
            // Without branches, so that many bytes are looked at at once.
            let pairs = chunk.iter().zip(chunk.get(1..).unwrap_or_default());
            let spaces_meet = pairs.fold(false, |met, (a, b)| met | (is_space(*a) & is_space(*b)));
            if starts_spaced || spaces_meet {
                self.ascii_with_runs(chunk, at + index * CHUNK_BYTES, spaced);
            } else {
                self.text.extend(chunk.iter().map(|it| folded_ascii(*it)));
            }
        }
    }

    /// The long way: a run of white space is one space, and what follows lies further on.
    fn ascii_with_runs(&mut self, chunk: &[u8], at: usize, mut spaced: bool) {
        for (index, byte) in chunk.iter().enumerate() {
            let space = is_space(*byte);
            if space && spaced {
                self.pending_jump(at + index + 1);
            } else {
                self.text.push(folded_ascii(*byte));
            }
            spaced = space;
        }
    }

    fn wide(&mut self, text: &str, at: usize) {
        for (index, found) in text.char_indices() {
            if is_invisible(found) {
                continue;
            }
            self.jump(at + index);
            decompose_compatible(found, |part| self.part(part));
        }
    }

    fn part(&mut self, part: char) {
        if is_combining_mark(part) || is_invisible(part) {
            return;
        }
        if part.is_whitespace() {
            if self.text.last() != Some(&b' ') {
                self.text.push(b' ');
            }
            return;
        }
        let part = look_alike(part);
        if part == '。' {
            // Ends a sentence without a space after it.
            self.text.extend_from_slice(b". ");
            return;
        }
        for lower in part.to_lowercase() {
            self.text.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn jump(&mut self, original: usize) {
        let here = self.text.len();
        if self.original(here) != original {
            self.pending_jump(original);
        }
    }

    /// What is folded next comes from `original`.
    fn pending_jump(&mut self, original: usize) {
        let here = self.text.len();
        match self.jumps.last_mut() {
            Some(last) if last.0 == here => last.1 = original,
            Some(_) | None => self.jumps.push((here, original)),
        }
    }
}

/// Does it take no room on a screen? Joiners, marks of direction, fillers, variation selectors, tags.
#[must_use]
pub fn is_invisible(found: char) -> bool {
    matches!(u32::from(found),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f
        | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1_d173..=0x1_d17a | 0xe_0000..=0xe_0fff)
}

/// Letters of other alphabets that are drawn like Latin ones, and quotes. Patterns are folded alike,
/// so that Russian still reads as Russian.
#[must_use]
pub fn look_alike(found: char) -> char {
    match found {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' => 'a',
        'В' | 'Β' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' => 'e',
        'ɡ' => 'g',
        'һ' | 'Н' | 'Η' => 'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' | 'Ӏ' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'к' | 'κ' | 'Κ' => 'k',
        'М' | 'Μ' | 'м' => 'm',
        'Ν' => 'n',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' | 'т' | 'τ' => 't',
        'υ' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' => 'y',
        'Ζ' => 'z',
        '’' | '‘' | 'ʼ' | '´' => '\'',
        '“' | '”' | '„' => '"',
        '‐' | '‑' | '–' | '—' => '-',
        '，' | '、' => ',',
        _ => found,
    }
}

/// How much ASCII is looked at at once.
const CHUNK_BYTES: usize = 64;

/// White space and control characters.
fn is_space(byte: u8) -> bool {
    (byte <= b' ') | (byte == 127)
}

fn folded_ascii(byte: u8) -> u8 {
    if is_space(byte) { b' ' } else { byte.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        String::from_utf8(Folded::new(text).text).unwrap()
    }

    #[test]
    fn many_spellings_are_one() {
        for (text, expected) in [
            ("Ignore  ALL\r\n\tprevious", "ignore all previous"),
            ("ｉｇｎｏｒｅ", "ignore"),
            ("ig\u{200b}no\u{ad}re", "ignore"),
            ("ìgnöré", "ignore"),
            ("іgnоrе", "ignore"),
            ("don’t", "don't"),
            ("ﬁle", "file"),
            ("a\u{3000}b", "a b"),
            ("\u{e0041}x", "x"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn every_folded_byte_knows_where_it_came_from() {
        let text = "aé  \u{200b}b\n\n\nｃ\u{200b}d  é e";
        let folded = Folded::new(text);
        for (at, byte) in folded.bytes().iter().enumerate() {
            let original = text.get(folded.original(at)..).unwrap().chars().next().unwrap();
            let mut one = String::new();
            decompose_compatible(original, |it| one.push(it));
            let expected = if original.is_whitespace() { " " } else { &one };
            assert_eq!(Some(byte), expected.as_bytes().first(), "{at}");
        }
    }
}
