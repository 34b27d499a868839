//! Recognises JSON text that is its own canonical and its own stored form.
//!
//! Most lines of a bundle are: sorted keys, no blanks, plain integers, text in normal form. Such a
//! line can be hashed as it stands, without building a tree, which is what makes verification
//! fast. Everything else (doubles, unusual escapes, text that may not be in normal form) is `None`
//! here and takes the long way, so this file may be timid but never wrong:
//!
//! INVARIANT (PlainIsCanonical): if [`Plain`] accepts a value's text, then parsing and printing
//! that value, canonically or for storage, gives the very same bytes.
//! `tests/canon_properties.rs` and the fuzz target `plain` hold it against the long way.

use unicode_normalization::{IsNormalized, is_nfc_quick};

use crate::assigned;

/// A cursor over one line. Each method reads one thing or answers `None`.
pub(crate) struct Plain<'a> {
    text: &'a [u8],
    at: usize,
}

/// Deeper values take the long way, where serde_json's own limit holds.
const DEPTH_MAX: usize = 64;
/// Longer integers might not fit; they take the long way.
const DIGITS_MAX: usize = 18;

impl<'a> Plain<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Consumes exactly `token`.
    pub(crate) fn token(&mut self, token: &[u8]) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        rest.starts_with(token).then(|| self.at += token.len())
    }

    /// Is everything read?
    pub(crate) fn end(&self) -> Option<()> {
        (self.at == self.text.len()).then_some(())
    }

    /// Consumes a string and gives what stands between its quotes.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        self.token(b"\"")?;
        let start = self.at;
        let mut ascii = true;
        loop {
            self.skip_plain();
            match self.peek()? {
                b'"' => break,
                b'\\' => self.escape()?,
                0x00..0x20 => return None,
                byte => {
                    ascii &= byte.is_ascii();
                    self.at += 1;
                }
            }
        }
        let inner = self.text.get(start..self.at)?;
        self.at += 1;
        (ascii || is_normal_form(inner)).then_some(inner)
    }

    /// Consumes an unsigned integer.
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let rest = self.text.get(self.at..)?;
        let count = rest.iter().take(DIGITS_MAX + 1).take_while(|it| it.is_ascii_digit()).count();
        let digits = rest.get(..count)?;
        let spelled_well = digits == b"0" || digits.first().is_some_and(|&first| first != b'0');
        if !spelled_well || count > DIGITS_MAX {
            return None;
        }
        self.at += count;
        Some(digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
    }

    /// Consumes an array of strings, each of which `see` must accept, and gives its text.
    pub(crate) fn strings(
        &mut self,
        mut see: impl FnMut(&'a [u8]) -> Option<()>,
    ) -> Option<&'a [u8]> {
        let start = self.at;
        self.token(b"[")?;
        if self.token(b"]").is_none() {
            loop {
                see(self.string()?)?;
                if self.token(b",").is_none() {
                    break self.token(b"]")?;
                }
            }
        }
        self.since(start)
    }

    /// Where the cursor stands.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The text from `start` to the cursor.
    pub(crate) fn since(&self, start: usize) -> Option<&'a [u8]> {
        self.text.get(start..self.at)
    }

    /// Consumes any value and gives its text.
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.skip_value(DEPTH_MAX)?;
        self.since(start)
    }

    /// Consumes an object, showing each key and its value's text to `see`.
    pub(crate) fn object(&mut self, mut see: impl FnMut(&'a [u8], &'a [u8])) -> Option<&'a [u8]> {
        let start = self.at;
        self.skip_object(DEPTH_MAX, &mut see)?;
        self.since(start)
    }

    /// Skips text that needs no look, eight bytes at a time.
    fn skip_plain(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let (words, _) = rest.as_chunks::<8>();
        self.at += 8 * words.iter().take_while(|word| all_plain(**word)).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' => self.skip_object(depth, &mut |_, _| ()),
            b'[' => self.skip_array(depth),
            b't' => self.token(b"true"),
            b'f' => self.token(b"false"),
            b'n' => self.token(b"null"),
            _ => self.skip_integer(),
        }
    }

    fn skip_array(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.token(b"[")?;
        if self.token(b"]").is_some() {
            return Some(());
        }
        loop {
            self.skip_value(depth)?;
            if self.token(b",").is_none() {
                return self.token(b"]");
            }
        }
    }

    fn skip_object(
        &mut self,
        depth: usize,
        see: &mut impl FnMut(&'a [u8], &'a [u8]),
    ) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.token(b"{")?;
        if self.token(b"}").is_some() {
            return Some(());
        }
        let mut last: Option<&[u8]> = None;
        loop {
            let key = self.string()?;
            // Escapes would make the order of the text differ from the order of the keys.
            if key.contains(&b'\\') || last.is_some_and(|last| last >= key) {
                return None;
            }
            last = Some(key);
            self.token(b":")?;
            let start = self.at;
            // A closure per level would be a type per level; nested keys are nobody's business.
            self.skip_value(depth)?;
            see(key, self.text.get(start..self.at)?);
            if self.token(b",").is_none() {
                return self.token(b"}");
            }
        }
    }

    fn skip_integer(&mut self) -> Option<()> {
        let negative = self.token(b"-").is_some();
        let value = self.unsigned()?;
        // `-0` is a double. A fraction or an exponent makes a double of any of them.
        let is_double = (negative && value == 0) || matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        (!is_double).then_some(())
    }

    /// The escapes that canonical and stored form spell alike. `\b` and `\f` are not among them.
    fn escape(&mut self) -> Option<()> {
        let rest = self.text.get(self.at + 1..)?;
        let length = match rest {
            [b'"' | b'\\' | b'n' | b'r' | b't', ..] => 2,
            [b'u', b'0', b'0', b'0', low, ..] if is_plain_control(*low) => 6,
            [b'u', b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f', ..] => 6,
            _ => return None,
        };
        self.at += length;
        Some(())
    }
}

/// Is each of these bytes printable ASCII other than `"` and `\`?
fn all_plain(word: [u8; 8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    const SPACES: u64 = u64::from_ne_bytes([0x20; 8]);
    const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
    const SLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
    let word = u64::from_ne_bytes(word);
    // For a byte below 0x80, subtracting borrows into its high bit exactly if it was smaller. A
    // borrow from the byte before can only make more of them look special, never fewer.
    let below = |word: u64, bound: u64| word.wrapping_sub(bound) & !word;
    let special =
        word | below(word, SPACES) | below(word ^ QUOTES, ONES) | below(word ^ SLASHES, ONES);
    special & HIGH == 0
}

/// `\u000x` is the spelling of a control character that has no letter of its own.
fn is_plain_control(low_digit: u8) -> bool {
    matches!(low_digit, b'0'..=b'7' | b'b' | b'e' | b'f')
}

/// Is this text of known code points in normal form? ASCII is and orders nothing, so that only the
/// runs between it need a look.
fn is_normal_form(text: &[u8]) -> bool {
    let Ok(mut rest) = std::str::from_utf8(text) else { return false };
    while let Some((_, from)) =
        rest.bytes().position(|it| !it.is_ascii()).and_then(|it| rest.split_at_checked(it))
    {
        let end = from.bytes().position(|it| it.is_ascii()).unwrap_or(from.len());
        let Some((run, after)) = from.split_at_checked(end) else { return false };
        if assigned::first_unknown(run).is_some() || is_nfc_quick(run.chars()) != IsNormalized::Yes
        {
            return false;
        }
        rest = after;
    }
    true
}
