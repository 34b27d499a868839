//! What else a text may be read as by somebody who decodes it first: percent signs once and again,
//! backslashes as slashes, wide and look-alike dots and slashes, bytes that spell a character too long.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// So often a text may be encoded over and over. One that is still encoded then is nobody's name.
pub(super) const ROUNDS_MAX: usize = 4;

/// Characters that some system takes for a slash. `%uEFC8` and `%uF025` are what one server made of it.
const SLASHES: &[char] = &[
    '\\', '\u{2044}', '\u{2215}', '\u{2216}', '\u{29f5}', '\u{29f8}', '\u{29f9}', '\u{fe68}',
    '\u{ff0f}', '\u{ff3c}', '\u{efc8}', '\u{f025}',
];
/// Characters that some system takes for a dot.
const DOTS: &[char] = &['\u{2024}', '\u{ff0e}', '\u{fe52}', '\u{3002}', '\u{ff61}'];

/// One round of decoding; `None` if nothing in it is encoded.
pub(super) fn decoded(text: &str) -> Option<Decoded> {
    if !text.contains('%') && !text.contains("0x") {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut found = false;
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if let Some((encoded, used)) = one(rest) {
            bytes.extend_from_slice(&encoded);
            found = true;
            rest = rest.get(used..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    found.then(|| match String::from_utf8(bytes) {
        Ok(text) => Decoded::Text(text),
        Err(error) => Decoded::Bytes(lenient(error.as_bytes())),
    })
}

/// What came of a round.
pub(super) enum Decoded {
    /// Text.
    Text(String),
    /// No text; so a careless reader may see it.
    Bytes(String),
}

/// An encoded character at the beginning, and how long its code is.
fn one(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    match text {
        [b'%', b'u' | b'U', rest @ ..] => {
            let code = u32::from(hex(rest.get(..2)?)?) << 8 | u32::from(hex(rest.get(2..4)?)?);
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            Some((character.to_string().into_bytes(), 6))
        }
        [b'%', rest @ ..] => Some((vec![hex(rest.get(..2)?)?], 3)),
        // As some filters write it. Only what is a dot or a slash: `0x41` is an honest name.
        [b'0', b'x' | b'X', rest @ ..] => {
            let byte = hex(rest.get(..2)?)?;
            b"./\\".contains(&byte).then(|| (vec![byte], 4))
        }
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u8> {
    let value = |it: u8| char::from(it).to_digit(16).and_then(|it| u8::try_from(it).ok());
    match digits {
        [high, low] => Some(value(*high)? << 4 | value(*low)?),
        _ => None,
    }
}

/// Bytes as a careless reader takes them: a character that is spelled too long is that character.
fn lenient(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let length = match first {
            0xc0 | 0xc1 => 1,
            0xe0 if after.first().is_some_and(|it| it & 0x60 == 0) => 2,
            0xf0 if after.first().is_some_and(|it| it & 0x70 == 0) => 3,
            0xf8 => 4,
            0xfc => 5,
            _ => 0,
        };
        let Some(tail) = after.get(..length).filter(|it| !it.is_empty()) else {
            text.push(if first.is_ascii() {
                char::from(*first)
            } else {
                char::REPLACEMENT_CHARACTER
            });
            rest = after;
            continue;
        };
        let lead = if length == 1 { u32::from(first & 1) } else { 0 };
        let code = tail.iter().fold(lead, |sum, it| (sum << 6) | u32::from(it & 0x3f));
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = after.get(length..).unwrap_or_default();
    }
    text
}

/// With every look-alike as what it looks like.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    let plain = |it: char| match it {
        it if SLASHES.contains(&it) => '/',
        it if DOTS.contains(&it) => '.',
        it => it,
    };
    // Most paths are as plain as they look.
    if text.is_ascii() {
        let has_none = memchr::memchr(b'\\', text.as_bytes()).is_none();
        return if has_none { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\\', "/")) };
    }
    let ignored = |it: &char| !matches!(*it, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}');
    text.chars().map(plain).filter(ignored).nfkc().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match decoded(text) {
            Some(Decoded::Text(text) | Decoded::Bytes(text)) => folded(&text).into_owned(),
            None => folded(text).into_owned(),
        }
    }

    #[test]
    fn disguises_fall() {
        for (text, expected) in [
            ("%2e%2e%2f", "../"),
            ("%c0%ae%c0%ae%c0%af", "../"),
            ("%c0%2e%c0%2e%c1%9c", "../"),
            ("%e0%80%ae%e0%80%af", "./"),
            ("%f0%80%80%ae", "."),
            ("%f8%80%80%80%ae", "."),
            ("%uff0e%uff0e%u2215", "../"),
            ("..%u2216", "../"),
            ("0x2e0x2e0x5c", "../"),
            ("．．／", "../"),
            ("‥∕", "../"),
            ("..\\", "../"),
            ("%252e", "%2e"),
            ("%%32%65", "%2e"),
            ("100%", "100%"),
            ("0x41", "0x41"),
            ("%zz", "%zz"),
            ("caf%c3%a9", "café"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
