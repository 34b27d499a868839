//! How far agents hand work on: `config.yaml`, the part under `delegation`.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::Number;

/// Sub-agents at once beneath one session, where nothing is said.
const CONCURRENT_DEFAULT: usize = 3;
/// The most of them that settings can allow.
const CONCURRENT_MAX: u32 = 10;
/// How deep sub-agents may have sub-agents, where nothing is said.
const DEPTH_DEFAULT: usize = 2;
/// The deepest that settings can allow.
const DEPTH_MAX: u32 = 5;

/// How far agents hand work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DelegationSettings {
    /// Sub-agents at once beneath one session, however deep.
    #[serde(deserialize_with = "concurrent")]
    pub max_concurrent: usize,
    /// How deep: with 1, sub-agents have none of their own.
    #[serde(deserialize_with = "depth")]
    pub max_depth: usize,
}

impl Default for DelegationSettings {
    fn default() -> Self {
        Self { max_concurrent: CONCURRENT_DEFAULT, max_depth: DEPTH_DEFAULT }
    }
}

fn concurrent<'de, D: Deserializer<'de>>(input: D) -> Result<usize, D::Error> {
    whole(input, CONCURRENT_MAX)
}

fn depth<'de, D: Deserializer<'de>>(input: D) -> Result<usize, D::Error> {
    whole(input, DEPTH_MAX)
}

fn whole<'de, D: Deserializer<'de>>(input: D, most: u32) -> Result<usize, D::Error> {
    let Number(number) = Number::deserialize(input)?;
    let found = (1..=most).find(|it| f64::from(*it) == number);
    let wrong = || D::Error::custom(format!("`{number}` is no whole number from 1 to {most}"));
    found.and_then(|it| usize::try_from(it).ok()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use crate::access::Global;

    #[test]
    fn bounds_are_held_and_what_is_not_said_has_a_default() {
        let read = |text: &str| Global::parse(text).map(|it| *it.delegation());
        let said = read("delegation: {max_concurrent: 10}").unwrap();
        assert_eq!((said.max_concurrent, said.max_depth), (10, 2));
        let said = read("delegation: {max_depth: 5}").unwrap();
        assert_eq!((said.max_concurrent, said.max_depth), (3, 5));
        for wrong in [
            "{max_depth: 0}",
            "{max_depth: 6}",
            "{max_concurrent: 11}",
            "{max_concurrent: 1.5}",
            "{max_concurrent: \"2\"}",
            "{depth: 2}",
        ] {
            assert!(read(&format!("delegation: {wrong}")).is_err(), "{wrong}");
        }
    }
}
