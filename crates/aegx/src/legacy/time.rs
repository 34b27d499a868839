//! Times to the nanosecond, spelled as the older formats' clock library spells them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::timestamp;

/// A time in UTC. The order is right for years of four digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// `YYYY-MM-DDTHH:MM:SS`, without a zone.
    whole: String,
    nanos: u32,
}

impl Time {
    /// Reads an RFC 3339 time and folds its offset. Digits after the ninth are cut.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let normal = timestamp::normalize(text)?;
        let whole = normal.strip_suffix('Z')?.to_owned();
        // What `normalize` takes has a full stop nowhere else.
        let nanos = text.split_once('.').map_or(0, |(_, fraction)| nanos(fraction));
        Some(Self { whole, nanos })
    }

    /// Cut to whole seconds, as format A writes times.
    #[must_use]
    pub fn to_seconds(&self) -> String {
        format!("{}Z", self.whole)
    }

    /// With `+00:00` in place of `Z`: the spelling that audit entries are hashed in.
    #[must_use]
    pub fn to_offset_text(&self) -> String {
        format!("{}{}+00:00", self.whole, self.fraction())
    }

    /// Is there more than whole seconds?
    #[must_use]
    pub fn has_fraction(&self) -> bool {
        self.nanos != 0
    }

    /// None, three, six or nine digits: the fewest that are exact.
    fn fraction(&self) -> String {
        let nanos = self.nanos;
        match (nanos, nanos % 1_000_000, nanos % 1_000) {
            (0, ..) => String::new(),
            (_, 0, _) => format!(".{:03}", nanos / 1_000_000),
            (_, _, 0) => format!(".{:06}", nanos / 1_000),
            _ => format!(".{nanos:09}"),
        }
    }
}

/// The stored spelling.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}Z", self.whole, self.fraction())
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Self::parse(&text)
            .ok_or_else(|| de::Error::custom(format!("`{text}` is not an RFC 3339 time")))
    }
}

fn nanos(fraction: &str) -> u32 {
    const DIGITS: usize = 9;
    let digits = fraction.bytes().take_while(u8::is_ascii_digit);
    let padded = digits.chain(std::iter::repeat(b'0')).take(DIGITS);
    padded.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_have_the_fewest_exact_digits() {
        for (text, stored) in [
            ("2026-11-15T02:39:54Z", "2026-11-15T02:39:54Z"),
            ("2026-11-15T02:39:54.000Z", "2026-11-15T02:39:54Z"),
            ("2026-11-15T02:39:54.5Z", "2026-11-15T02:39:54.500Z"),
            ("2026-11-15T02:39:54.0001+00:00", "2026-11-15T02:39:54.000100Z"),
            ("2026-11-15T03:39:54.219044897+01:00", "2026-11-15T02:39:54.219044897Z"),
            ("2026-11-15T02:39:54.2190448979Z", "2026-11-15T02:39:54.219044897Z"),
            ("2016-12-31T23:59:60.25Z", "2016-12-31T23:59:60.250Z"),
        ] {
            assert_eq!(Time::parse(text).unwrap().to_string(), stored);
        }
        assert_eq!(Time::parse("yesterday"), None);
    }

    #[test]
    fn the_other_spellings_say_the_same() {
        let time = Time::parse("2026-11-15T02:39:54.219Z").unwrap();
        assert_eq!(time.to_seconds(), "2026-11-15T02:39:54Z");
        assert_eq!(time.to_offset_text(), "2026-11-15T02:39:54.219+00:00");
        assert!(time < Time::parse("2026-11-15T02:39:54.22Z").unwrap());
    }
}
