//! Text that is told in another alphabet: base64, base32, hexadecimal digits, rows of codes, tag characters.

mod codes;
mod runs;

use data_encoding::BASE32_NOPAD;

pub(crate) use codes::find as codes;
pub(crate) use runs::{find as runs, is_cut, run_end};

/// A passage that is text once it is decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// Letters that a whole group of base32 has.
const BASE32_GROUP: usize = 8;

/// Finds all that can be decoded in `text`, once. Linear.
pub(crate) fn all(text: &str) -> impl Iterator<Item = Decoded> {
    runs(text).into_iter().chain(codes(text)).chain(tags(text))
}

/// Returns what a run says in base32, as far as its groups are whole.
pub(crate) fn base32(run: &[u8]) -> Option<Vec<u8>> {
    let is_base32 = |it: &u8| it.is_ascii_uppercase() || matches!(it, b'2'..=b'7');
    if !run.iter().all(is_base32) {
        return None;
    }
    let whole = run.get(..run.len() - run.len() % BASE32_GROUP)?;
    BASE32_NOPAD.decode(run).or_else(|_| BASE32_NOPAD.decode(whole)).ok()
}

/// Returns the bytes of ASCII that was written two bytes a letter, else the bytes as they are.
pub(crate) fn narrow(bytes: Vec<u8>) -> Vec<u8> {
    let zeros = |odd: usize| {
        let mut all = bytes.iter().skip(odd).step_by(2);
        bytes.len() > 1 && all.all(|it| *it == 0)
    };
    let from = usize::from(!zeros(1));
    if !zeros(1 - from) {
        return bytes;
    }
    bytes.iter().skip(from).step_by(2).copied().collect()
}

/// ASCII in tag characters, which no screen shows.
pub(crate) fn tags(text: &str) -> Option<Decoded> {
    // The first byte of every tag character.
    memchr::memchr(0xf3, text.as_bytes())?;
    let tag = |it: char| u32::from(it).checked_sub(0xe_0000).and_then(|it| u8::try_from(it).ok());
    let shown = |it: char| tag(it).filter(|it| (0x20..0x7f).contains(it)).map(char::from);
    let mut places = text.char_indices().filter(|it| shown(it.1).is_some());
    let start = places.next()?.0;
    let end = places.next_back().map_or(start, |it| it.0 + it.1.len_utf8());
    let text = text.get(start..end)?.chars().filter_map(shown).collect();
    Some(Decoded { start, end, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_two_bytes_are_narrowed_and_others_left() {
        assert_eq!(narrow(b"a\0b\0".to_vec()), b"ab");
        assert_eq!(narrow(b"\0a\0b".to_vec()), b"ab");
        for other in [&b""[..], b"a", b"ab", b"a\0bc", b"\0"] {
            assert_eq!(narrow(other.to_vec()), other);
        }
    }

    #[test]
    fn tags_are_read_and_flags_say_little() {
        let tagged: String =
            "hush".chars().filter_map(|it| char::from_u32(0xe_0000 + u32::from(it))).collect();
        assert_eq!(tags(&format!("a{tagged}b")).map(|it| it.text).as_deref(), Some("hush"));
        assert_eq!(tags("plain 😀"), None);
        assert_eq!(base32(b"NBUXG").as_deref(), Some(&b"his"[..]));
        assert_eq!(base32(b"nbuxg"), None);
    }
}
