//! Points in time.

use serde_json::{Value, json};

use super::issue::Reader;
use super::limits::FRACTION_DIGITS_MAX;
use super::shape::Shape;

/// A point in time in UTC as RFC 3339 writes it, `2026-01-31T23:59:59.5Z`. Days that no calendar
/// has are refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Time(String);

impl Time {
    /// The time as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Shape for Time {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(value)?;
        if is_time(&text).is_none() {
            return reader.refuse("must be a time in UTC, as `2026-01-31T23:59:59Z`");
        }
        Some(Self(text))
    }

    fn to_value(&self) -> Value {
        self.as_str().into()
    }

    fn schema() -> Value {
        let digits = FRACTION_DIGITS_MAX;
        let pattern = format!(
            r"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,{digits}}})?Z$"
        );
        json!({"type": "string", "format": "date-time", "pattern": pattern})
    }
}

fn is_time(text: &str) -> Option<()> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let fraction_fits = (1..=FRACTION_DIGITS_MAX).contains(&fraction.len())
        && fraction.bytes().all(|it| it.is_ascii_digit());
    let date_exists = (1..=days_in(year, month)?).contains(&day);
    (date_exists && hour < 24 && minute < 60 && second < 60 && fraction_fits).then_some(())
}

/// Three numbers with exactly so many digits.
fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[u32; 3]> {
    let mut parts = text.split(between);
    let mut found = [0; 3];
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

fn days_in(year: u32, month: u32) -> Option<u32> {
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(if leap { 29 } else { 28 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_the_calendar_and_in_utc() {
        for good in
            ["2026-01-01T00:00:00Z", "2024-02-29T23:59:59.123456789Z", "0001-12-31T00:00:00.0Z"]
        {
            assert!(is_time(good).is_some(), "{good}");
        }
        for bad in [
            "yesterday",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00+01:00",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1234567890Z",
            "2026-01-01t00:00:00z",
            "2026-01-01T00:00:+1Z",
            "2026-1-01T00:00:00Z",
            "2026-01-01T00:00:00:00Z",
            " 2026-01-01T00:00:00Z",
        ] {
            assert!(is_time(bad).is_none(), "{bad}");
        }
    }
}
