//! Texts that are checked while they are read, so that an error has its line.

use std::collections::BTreeSet;
use std::fmt;

use model::{AgentId, UserId};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// The longest text in a file.
const TEXT_BYTES_MAX: usize = 10_000;
/// The most entries in a list.
const ENTRIES_MAX: usize = 1_000;

/// A text that `check` accepts.
pub(super) fn text<'de, D: Deserializer<'de>, T>(
    input: D,
    check: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    let text = String::deserialize(input)?;
    if text.len() > TEXT_BYTES_MAX {
        return Err(D::Error::custom(format!("a text has at most {TEXT_BYTES_MAX} bytes")));
    }
    check(&text).map_err(D::Error::custom)
}

/// `true` or `false`, and not a text that reads so.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct OnlyBool;
        impl Visitor<'_> for OnlyBool {
            type Value = bool;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true or false")
            }

            fn visit_bool<E: Error>(self, it: bool) -> Result<bool, E> {
                Ok(it)
            }
        }
        input.deserialize_any(OnlyBool).map(Self)
    }
}

/// A flag that may be absent.
pub(super) fn some_flag<'de, D: Deserializer<'de>>(input: D) -> Result<Option<bool>, D::Error> {
    Flag::deserialize(input).map(|it| Some(it.0))
}

/// A number, and not a text that reads so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct OnlyNumber;
        impl Visitor<'_> for OnlyNumber {
            type Value = f64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E: Error>(self, it: u64) -> Result<f64, E> {
                Ok(it as f64)
            }

            fn visit_i64<E: Error>(self, it: i64) -> Result<f64, E> {
                Ok(it as f64)
            }

            fn visit_f64<E: Error>(self, it: f64) -> Result<f64, E> {
                Ok(it)
            }
        }
        input.deserialize_any(OnlyNumber).map(Self)
    }
}

/// A text for people: one line, not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label(pub(super) String);

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| match it.trim() {
            "" => Err("a text cannot be empty".to_owned()),
            _ => Ok(Self(it.to_owned())),
        })
    }
}

/// A user's name: it becomes part of paths, so it begins with a letter or a digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UserName(pub(super) UserId);

impl<'de> Deserialize<'de> for UserName {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| {
            begins_plainly(it)?;
            UserId::parse(it).map(Self).map_err(|why| why.to_string())
        })
    }
}

/// An agent's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AgentName(pub(super) AgentId);

impl<'de> Deserialize<'de> for AgentName {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| {
            begins_plainly(it)?;
            AgentId::parse(it).map(Self).map_err(|why| why.to_string())
        })
    }
}

fn begins_plainly(name: &str) -> Result<(), String> {
    if name.starts_with(|it: char| it.is_ascii_alphanumeric()) {
        return Ok(());
    }
    let name = name.escape_debug();
    Err(format!("a name begins with a letter or a digit from ASCII, not like `{name}`"))
}

/// A list without repetitions. A single text is no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set<T>(pub(super) Vec<T>);

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de> + fmt::Debug> Deserialize<'de> for Set<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let items = Vec::<T>::deserialize(input)?;
        if items.len() > ENTRIES_MAX {
            return Err(D::Error::custom(format!("a list has at most {ENTRIES_MAX} entries")));
        }
        let mut seen = BTreeSet::new();
        // Compared as they print, in small letters: `Bob` and `bob` meet on some file systems.
        match items.iter().find(|it| !seen.insert(format!("{it:?}").to_ascii_lowercase())) {
            Some(_) => Err(D::Error::custom("an entry is in the list twice")),
            None => Ok(Self(items)),
        }
    }
}
