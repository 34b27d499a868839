//! Identifiers of memory entries.

use std::fmt;

use serde_json::{Value, json};

use super::issue::Reader;
use super::shape::Shape;

/// A UUID, written in lower case: `123e4567-e89b-12d3-a456-426614174000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(u128);

impl Uuid {
    /// A random one (version 4) from 16 random bytes.
    #[must_use]
    pub const fn from_random(bytes: [u8; 16]) -> Self {
        let number = u128::from_be_bytes(bytes);
        Self(number & !(0xf << 76 | 0b11 << 62) | 4 << 76 | 0b10 << 62)
    }

    /// Reads exactly the form in which it prints.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut number = 0;
        for (at, byte) in text.bytes().enumerate() {
            let digit = match byte {
                b'-' if HYPHENS.contains(&at) => continue,
                b'0'..=b'9' if !HYPHENS.contains(&at) => byte - b'0',
                b'a'..=b'f' if !HYPHENS.contains(&at) => byte - b'a' + 10,
                _ => return None,
            };
            number = number << 4 | u128::from(digit);
        }
        (text.len() == UUID_BYTES).then_some(Self(number))
    }
}

const UUID_BYTES: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |shift: u32, digits: u32| (self.0 >> shift) & ((1 << (4 * digits)) - 1);
        let (a, b, c) = (part(96, 8), part(80, 4), part(64, 4));
        write!(f, "{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", part(48, 4), part(0, 12))
    }
}

impl Shape for Uuid {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(value)?;
        Self::parse(&text).or_else(|| reader.refuse("must be a UUID in lower case"))
    }

    fn to_value(&self) -> Value {
        self.to_string().into()
    }

    fn schema() -> Value {
        let pattern = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
        json!({"type": "string", "format": "uuid", "pattern": pattern})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_prints_as_it_was_written() {
        for good in [
            "123e4567-e89b-12d3-a456-426614174000",
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-fffffffffffe",
        ] {
            assert_eq!(Uuid::parse(good).unwrap().to_string(), good);
        }
    }

    #[test]
    fn a_random_uuid_says_that_it_is_random() {
        for byte in [0, 0xff] {
            let text = Uuid::from_random([byte; 16]).to_string();
            assert_eq!(text.as_bytes()[14], b'4', "{text}");
            assert!(b"89ab".contains(&text.as_bytes()[19]), "{text}");
        }
    }

    #[test]
    fn nothing_else_is_a_uuid() {
        for bad in [
            "",
            "123E4567-e89b-12d3-a456-426614174000",
            "123e4567-e89b-12d3-a456-42661417400",
            "123e4567-e89b-12d3-a456-4266141740000",
            "123e4567e89b-12d3-a456-4266141740000",
            "123e4567-e89b-12d3-a456-42661417400\u{e9}",
            "123e4567-e89b-12d3-a4564-26614174000",
        ] {
            assert!(Uuid::parse(bad).is_none(), "{bad}");
        }
    }
}
