//! Numbers with a range.

use serde_json::{Value, json};

use super::issue::Reader;
use super::shape::Shape;

/// A whole number from `MIN` to `MAX`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Whole<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Whole<MIN, MAX> {
    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

impl<const MIN: u64, const MAX: u64> Shape for Whole<MIN, MAX> {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let Value::Number(number) = &value else {
            return reader.wrong_type("a whole number", &value);
        };
        let whole = number.as_u64().or_else(|| number.as_f64().and_then(whole));
        match whole {
            Some(it) if (MIN..=MAX).contains(&it) => Some(Self(it)),
            Some(_) | None => reader.refuse(format!("must be a whole number from {MIN} to {MAX}")),
        }
    }

    fn to_value(&self) -> Value {
        self.0.into()
    }

    fn schema() -> Value {
        json!({"type": "integer", "minimum": MIN, "maximum": MAX})
    }
}

/// `3.0` is the whole number 3, in JSON Schema as for the senders.
fn whole(double: f64) -> Option<u64> {
    let exact = double.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&double);
    exact.then_some(double as u64)
}

/// Up to here a double has no gaps between whole numbers.
const EXACT_MAX: f64 = 9_007_199_254_740_991.0;

/// How freely a model chooses its words: from 0 to 2, kept to a millionth, which is more than any
/// model can tell apart and is printed and read back without loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Temperature {
    millionths: u32,
}

impl Temperature {
    const MAX: f64 = 2.0;

    /// The temperature.
    #[must_use]
    pub fn get(self) -> f64 {
        f64::from(self.millionths) / 1e6
    }
}

impl Shape for Temperature {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let Some(it) = value.as_f64() else { return reader.wrong_type("a number", &value) };
        if !(0.0..=Self::MAX).contains(&it) {
            return reader.refuse("must be a number from 0 to 2");
        }
        Some(Self { millionths: (it * 1e6).round() as u32 })
    }

    fn to_value(&self) -> Value {
        self.get().into()
    }

    fn schema() -> Value {
        json!({"type": "number", "minimum": 0, "maximum": Self::MAX})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_whole_number_has_no_fraction_and_stays_in_its_range() {
        let read = |text: &str| Whole::<1, 100>::read(number(text), &mut Reader::default());
        for (text, expected) in [("1", 1), ("100", 100), ("3.0", 3), ("1e2", 100)] {
            assert_eq!(read(text).unwrap().get(), expected);
        }
        for bad in ["0", "101", "-1", "1.5", "1e300", "-0", "18446744073709551617"] {
            assert!(read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn every_temperature_is_printed_and_read_back_without_loss() {
        for millionths in (0..=2_000_000).step_by(7) {
            let it = Temperature { millionths };
            let printed = number(&it.to_value().to_string());
            assert_eq!(Temperature::read(printed, &mut Reader::default()), Some(it));
        }
    }
}
