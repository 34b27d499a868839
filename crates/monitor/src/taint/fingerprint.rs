//! Contents that were counted already: a hash of the words, whatever the spelling of blanks.

use std::fmt;

use aegx::Digest;
use scan::is_invisible;
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

/// What a reader sees of a text: without letter case, presentation forms, invisible characters and the
/// amount of white space. The same words are the same bytes.
#[must_use]
pub fn normal(text: &str) -> String {
    if text.is_ascii() {
        return normal_ascii(text);
    }
    let visible = text.nfkc().filter(|it| !is_unseen(*it));
    let folded: String = visible.flat_map(char::to_lowercase).nfkc().collect();
    joined(&folded)
}

/// The same, a piece at a time: most texts are plain, and every one passes here.
fn normal_ascii(text: &str) -> String {
    let bytes = text.as_bytes();
    let (first, last) = (bytes.first(), bytes.last());
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    let control = |it: u8| (it < b' ') | (it == 0x7f);
    // Without branches, so that many bytes are looked at at once.
    let odd = pairs.fold(false, |odd, (a, b)| odd | control(*a) | ((*a == b' ') & (*b == b' ')));
    let edge = |it: Option<&u8>| it.is_some_and(|it| (*it <= b' ') | (*it == 0x7f));
    if !odd && !edge(first) && !edge(last) {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for byte in bytes {
        let it = char::from(*byte);
        if it.is_whitespace() {
            blank = true;
        } else if !control(*byte) {
            if blank && !out.is_empty() {
                out.push(' ');
            }
            blank = false;
            out.push(it.to_ascii_lowercase());
        }
    }
    out
}

fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Shows nothing: invisible by itself, or a control character other than white space.
fn is_unseen(it: char) -> bool {
    is_invisible(it) || it.is_control() && !it.is_whitespace()
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
        for text in [all.as_str(), "", " ", "a", " a", "a ", "a\x7f\x00 B\n\nc", "\tA\t", "A  b"] {
            // A letter beyond ASCII takes the long way.
            let long = normal(&format!("{text} é"));
            assert_eq!(format!("{} é", normal(text)).trim_start(), long, "{text:?}");
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
