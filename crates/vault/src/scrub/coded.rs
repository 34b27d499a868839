//! What is encoded in a text: runs of letters of an alphabet, and the bytes that they stand for.

use zeroize::Zeroizing;

/// How many bits are in a byte.
const BYTE_BITS: u32 = 8;

/// An encoding of a few bits in each letter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    Hex,
    Base32,
    Base64,
}

/// What is also encoded twice: a password within the file of a registry's, within a secret of a cluster.
pub(super) const TWICE: Alphabet = Alphabet::Base64;

impl Alphabet {
    pub(super) const ALL: [Self; 3] = [Self::Hex, Self::Base32, Self::Base64];

    fn bits(self) -> u32 {
        match self {
            Self::Hex => 4,
            Self::Base32 => 5,
            Self::Base64 => 6,
        }
    }

    /// After so many letters a group begins anew, so a value may begin at each of them.
    fn group(self) -> usize {
        match self {
            Self::Hex => 2,
            Self::Base32 => 8,
            Self::Base64 => 4,
        }
    }

    fn value(self, letter: u8) -> Option<u32> {
        let number = u32::from(letter);
        match (self, letter) {
            (Self::Hex, b'0'..=b'9') => Some(number - 48),
            (Self::Hex, b'a'..=b'f') => Some(number - 87),
            (Self::Hex, b'A'..=b'F') => Some(number - 55),
            (Self::Base32, b'a'..=b'z') => Some(number - 97),
            (Self::Base32 | Self::Base64, b'A'..=b'Z') => Some(number - 65),
            (Self::Base32, b'2'..=b'7') => Some(number - 24),
            (Self::Base64, b'a'..=b'z') => Some(number - 71),
            (Self::Base64, b'0'..=b'9') => Some(number + 4),
            (Self::Base64, b'+' | b'-') => Some(62),
            (Self::Base64, b'/' | b'_') => Some(63),
            _ => None,
        }
    }

    /// Shows what each run of letters stands for that is long enough for so many bytes, wherever its groups may begin.
    pub(super) fn decode_all(self, text: &[u8], bytes_min: &usize, see: &mut dyn FnMut(&[u8])) {
        let letters_min =
            bytes_min.saturating_mul(BYTE_BITS as usize).div_ceil(self.bits() as usize);
        for run in text.split(|it| self.value(*it).is_none()) {
            for skipped in 0..self.group() {
                let letters = run.get(skipped..).unwrap_or_default();
                if letters.len() >= letters_min {
                    see(&self.decode(letters));
                }
            }
        }
    }

    fn decode(self, letters: &[u8]) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(letters.len()));
        let (mut held, mut bits) = (0_u32, 0_u32);
        for letter in letters {
            held = held << self.bits() | self.value(*letter).unwrap_or(0);
            bits += self.bits();
            if bits >= BYTE_BITS {
                bits -= BYTE_BITS;
                bytes.push(u8::try_from(held >> bits & 0xff).unwrap_or(0));
                held &= (1 << bits) - 1;
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::{BASE32, BASE64, BASE64URL, HEXLOWER, HEXUPPER};

    use super::*;

    #[test]
    fn what_is_encoded_is_seen_wherever_it_begins() {
        let value = b"\x00\xff?>the value \xc3\xbc 7";
        let all = [
            (Alphabet::Hex, HEXLOWER.encode(value)),
            (Alphabet::Hex, HEXUPPER.encode(value)),
            (Alphabet::Base32, BASE32.encode(value).to_lowercase()),
            (Alphabet::Base64, BASE64.encode(value)),
            (Alphabet::Base64, BASE64URL.encode(value)),
        ];
        for (alphabet, text) in all {
            for before in ["", "2", "ab", "abc", "abcdefa"] {
                let mut found = false;
                alphabet.decode_all(format!("!{before}{text}!").as_bytes(), &16, &mut |it| {
                    found |= it.windows(value.len()).any(|it| it == value);
                });
                assert!(found, "{before}{text}");
            }
            alphabet.decode_all(b"short words, and abcdef", &16, &mut |_| panic!("too short"));
        }
    }
}
