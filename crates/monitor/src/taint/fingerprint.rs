//! Contents that were counted already: a hash of the words, whatever the spelling of blanks.

use std::fmt;

use aegx::Digest;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

/// A hash of a content in its normal form: compatible characters made equal, small letters, blanks
/// joined, invisible characters left out. 128 bits: two contents do not meet by chance or by work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let digest = Digest::of(normal(text).as_bytes());
        let half = digest.as_bytes().first_chunk().copied().unwrap_or_default();
        Self(u128::from_be_bytes(half))
    }
}

/// The normal form of a text, in which the same words are the same bytes.
pub(super) fn normal(text: &str) -> String {
    if text.is_ascii() {
        return joined_ascii(text);
    }
    joined(text.nfkc().filter(|it| !is_invisible(*it)))
}

/// The same as [`joined`], a piece at a time: most texts are plain, and every one passes here.
fn joined_ascii(text: &str) -> String {
    let blank = |it: u8| (it <= b' ') | (it == 0x7f);
    let bytes = text.as_bytes();
    let (first, last) = (bytes.first().copied(), bytes.last().copied());
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    // Without branches, so that many bytes are looked at at once.
    let odd = pairs.fold(false, |odd, (a, b)| odd | (blank(*a) & ((*a != b' ') | blank(*b))));
    if !odd && !first.is_some_and(blank) && !last.is_some_and(blank) {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let pieces = text.split(|it: char| it <= ' ' || it == '\x7f').filter(|it| !it.is_empty());
    for piece in pieces {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(piece);
    }
    out.make_ascii_lowercase();
    out
}

fn joined(characters: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    let mut blank = false;
    for character in characters {
        if character.is_whitespace() || character.is_control() {
            blank = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            out.push(' ');
        }
        out.extend(character.to_lowercase());
    }
    out
}

/// Characters that show nothing: joiners, direction marks, variation selectors, tags.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(u32::from(character),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f
        | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1_d173..=0x1_d17a | 0xe_0000..=0xe_0fff)
}

/// A set of fingerprints that cannot grow beyond its limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen(Vec<Fingerprint>);

impl Seen {
    pub(super) fn contains(&self, fingerprint: Fingerprint) -> bool {
        self.0.binary_search(&fingerprint).is_ok()
    }

    pub(super) fn is_full(&self, max: usize) -> bool {
        self.0.len() >= max
    }

    /// Adds it, unless the set is full.
    pub(super) fn add(&mut self, fingerprint: Fingerprint, max: usize) {
        if self.is_full(max) {
            return;
        }
        if let Err(at) = self.0.binary_search(&fingerprint) {
            self.0.insert(at, fingerprint);
        }
    }

    pub(super) fn to_vec(&self) -> Vec<Fingerprint> {
        self.0.clone()
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        format!("{fingerprint:?}")
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = u128::from_str_radix(&text, 16).ok().map(Self);
        let same = read.filter(|it| String::from(*it) == text);
        same.ok_or_else(|| format!("`{}` is no fingerprint", text.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_the_same_content() {
        let one = Fingerprint::of("The invoice portal is https://pay.example");
        for same in [
            "the invoice   portal is HTTPS://PAY.EXAMPLE",
            " The invoice\nportal is https://pay.example\t",
            "The in\u{200b}voice portal is https://pay.example",
            "Ｔｈｅ invoice portal is https://pay.example",
        ] {
            assert_eq!(Fingerprint::of(same), one, "{same:?}");
        }
        assert_ne!(Fingerprint::of("The invoice portal is https://pay.example2"), one);
    }

    #[test]
    fn plain_texts_have_one_normal_form() {
        let all: String = (0_u8..128).map(char::from).collect();
        for text in [all.as_str(), "", " ", "a", " a", "a ", "a\x7f\x00 B\n\nc", "\tA\t"] {
            assert_eq!(joined_ascii(text), joined(text.chars()), "{text:?}");
        }
    }

    #[test]
    fn it_reads_back_and_nothing_else_is_read() {
        let one = Fingerprint::of("a");
        assert_eq!(Fingerprint::try_from(String::from(one)), Ok(one));
        for bad in ["", "0", "+0000000000000000000000000000000", &"A".repeat(32)] {
            assert!(Fingerprint::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_full_set_takes_nothing() {
        let mut seen = Seen::default();
        seen.add(Fingerprint(1), 1);
        seen.add(Fingerprint(2), 1);
        assert!(seen.contains(Fingerprint(1)) && !seen.contains(Fingerprint(2)));
    }
}
