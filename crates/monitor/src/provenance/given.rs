//! Values of a kind that can take each other's place: numbers, days, addresses, accounts, ids of one pattern. Where the
//! user gave one, and a call has another in its stead, somebody else chose it.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::atoms::{self, Kind};
use super::days::days;
use super::hash::{Key, key};
use super::norm::{fold, word_key, words};
use super::words::Table;

/// What kind of value it is: only those of one kind stand for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Shape {
    /// An amount, a quantity, a measure.
    Number,
    /// A day of a year.
    Day,
    /// A mail address.
    Email,
    /// An account.
    Account,
    /// Ids of one pattern: `CL-4522` and `CL-4525`.
    Id(Key),
}

/// A value that somebody gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Given {
    pub(super) shape: Shape,
    pub(super) key: Key,
}

/// Values of one text that are kept.
const GIVEN_MAX: usize = 64;
/// The longest text that is looked through for values, in bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// The space of patterns among the keys.
const PATTERN: u8 = b'#';

/// The values in `text`.
pub(super) fn given(text: &str) -> Vec<Given> {
    let text = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default();
    let mut found = Vec::new();
    for atom in atoms::atoms(text) {
        match atom.kind {
            Kind::Email => found.push(Given { shape: Shape::Email, key: atom.key }),
            Kind::Account if is_bank_account(&atom.text) => {
                found.push(Given { shape: Shape::Account, key: atom.key });
            }
            Kind::Account | Kind::Url | Kind::Path => {}
        }
    }
    let folded = fold(text);
    let mut parts_of_days = Vec::new();
    days(&folded, |day, parts| {
        found.push(Given { shape: Shape::Day, key: day });
        parts_of_days.extend(parts.iter().map(|it| (*it).to_owned()));
    });
    let ends = |it: char| {
        it.is_whitespace()
            || matches!(
                it,
                '(' | ')'
                    | '['
                    | ']'
                    | '{'
                    | '}'
                    | '<'
                    | '>'
                    | '"'
                    | '\''
                    | '“'
                    | '”'
                    | ';'
                    | '?'
                    | '!'
            )
    };
    for token in folded.split(ends) {
        let token = token.trim_matches(['.', ',', ':', '€', '$', '£', '¥']);
        // Most words are no values.
        let value = match token.bytes().any(|it| it.is_ascii_digit()) {
            true => id_or_number(token),
            false => numeral(token).map(|it| (Shape::Number, it.to_owned())),
        };
        match value {
            Some((Shape::Number, number)) if !parts_of_days.contains(&number) => {
                found.push(Given { shape: Shape::Number, key: word_key(&number) });
            }
            Some((shape @ Shape::Id(_), id)) => found.push(Given { shape, key: key(PATTERN, &id) }),
            Some(_) | None => {}
        }
    }
    found.truncate(GIVEN_MAX);
    found
}

/// The numbers and days in `text`.
pub(super) fn measures(text: &str) -> impl Iterator<Item = Key> {
    let is_measure = |it: &Given| matches!(it.shape, Shape::Number | Shape::Day);
    given(text).into_iter().filter(is_measure).map(|it| it.key)
}

/// Two letters, two digits and a long rest: an account of a bank. Other long numbers may be anything.
pub(super) fn is_bank_account(text: &str) -> bool {
    let plain: Vec<u8> = text.bytes().filter(u8::is_ascii_alphanumeric).collect();
    match plain.as_slice() {
        [a, b, c, d, rest @ ..] => {
            let letters = a.is_ascii_alphabetic() && b.is_ascii_alphabetic();
            letters && c.is_ascii_digit() && d.is_ascii_digit() && rest.len() >= 10
        }
        _ => false,
    }
}

/// The pattern of an id: two digits or more, and something besides them.
fn pattern(token: &str) -> Option<String> {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let others = token.chars().filter(|it| it.is_alphabetic()).count();
    let legal = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '#' | '/');
    let telling =
        others > 0 && others <= 6 && token.starts_with(|it: char| it.is_alphabetic() || it == '#');
    let is_id = digits >= 2 && telling && token.chars().all(legal);
    is_id.then(|| token.chars().map(|it| if it.is_ascii_digit() { '9' } else { it }).collect())
}

/// `1.180` as it is meant where a point stands between thousands.
fn in_thousands(token: &str) -> Option<String> {
    let (before, after) = token.split_once('.')?;
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let is_one = digits(before) && before.len() <= 3 && digits(after) && after.len() == 3;
    (is_one && !before.starts_with('0')).then(|| format!("{before}{after}"))
}

/// Numbers with a point between thousands in a folded text.
pub(super) fn thousands(folded: &str) -> impl Iterator<Item = Key> {
    let is_digit = |it: Option<&u8>| it.is_some_and(u8::is_ascii_digit);
    let bytes = folded.as_bytes();
    let points = folded.match_indices('.').map(|(at, _)| at);
    let points = points.filter(move |at| {
        let before = at.checked_sub(1).and_then(|it| bytes.get(it));
        is_digit(before) && is_digit(bytes.get(at.saturating_add(1)))
    });
    points.filter_map(move |at| {
        let (before, after) = folded.split_at_checked(at)?;
        let start =
            before.rfind(|it: char| !it.is_ascii_digit()).map_or(0, |it| it.saturating_add(1));
        let after = after.get(1..)?;
        let end = after.find(|it: char| !it.is_ascii_digit()).unwrap_or(after.len());
        let number = format!("{}.{}", before.get(start..)?, after.get(..end)?);
        in_thousands(&number).map(|it| word_key(&it))
    })
}

/// A number in one spelling: `1,240.00` is `1240`, `500k` is `500000`.
fn number(token: &str) -> Option<String> {
    let (plain, zeros) = match token.strip_suffix('k') {
        Some(plain) => (plain, "000"),
        None => (token, ""),
    };
    let plain = plain.trim_end_matches(['%', '€', '$']);
    let is_one = plain.starts_with(|it: char| it.is_ascii_digit())
        && plain.bytes().all(|it| it.is_ascii_digit() || matches!(it, b'.' | b','));
    let mut all = words(plain);
    let spelled = all.next().filter(|_| is_one)?;
    all.next().is_none().then(|| format!("{spelled}{zeros}"))
}

/// Numbers that are written out, from two to twelve, but for those that are other words as well (`one`, `due`, `once`).
static NUMERALS: LazyLock<Table<&str, &str>> = LazyLock::new(|| {
    let lines = include_str!("words/numerals.txt").lines().filter_map(|it| it.split_once(' '));
    lines.flat_map(|(number, words)| words.split(' ').map(move |it| (it, number))).collect()
});

fn numeral(token: &str) -> Option<&'static str> {
    NUMERALS.get(token).copied()
}

/// What a token with digits in it is.
fn id_or_number(token: &str) -> Option<(Shape, String)> {
    if let Some(pattern) = pattern(token) {
        return Some((Shape::Id(key(PATTERN, &pattern)), token.to_owned()));
    }
    let number = in_thousands(token).or_else(|| number(token))?;
    Some((Shape::Number, number))
}

/// Every text and number in a value.
pub(super) fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => found.push(number.to_string()),
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|it| strings(it, found)),
        Value::Object(fields) => fields.values().for_each(|it| strings(it, found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, shape: fn(&Shape) -> bool) -> Vec<Key> {
        given(text).into_iter().filter(|it| shape(&it.shape)).map(|it| it.key).collect()
    }

    #[test]
    fn a_day_is_a_day_in_every_spelling() {
        let day = |text: &str| -> std::collections::BTreeSet<Key> {
            of(text, |it| *it == Shape::Day).into_iter().collect()
        };
        let iso = day("2026-03-14");
        // The day of this month, and of any.
        assert_eq!(iso.len(), 2);
        assert!(day("the 14th").is_subset(&iso) && day("the 14th").len() == 1);
        assert!(day("the 15th").is_disjoint(&iso));
        for text in [
            "14 March",
            "March 14th",
            "on the 14th of march 2026",
            "14. März",
            "3月14日",
            "2026-03-14T09:00",
        ] {
            assert_eq!(day(text), iso, "{text}");
        }
        assert_ne!(day("15 March"), iso);
        assert!(day("14 people may come").is_empty());
    }

    #[test]
    fn a_number_is_a_number_in_every_spelling() {
        let number = |text: &str| of(text, |it| *it == Shape::Number);
        assert_eq!(number("1,240.00"), number("1240"));
        assert_eq!(number("500k"), number("500000"));
        assert_eq!(number("€40"), number("40.0"));
        assert!(number("order FC-9 on 14 March").is_empty());
        assert!(number("until 30 June 2025").is_empty(), "a year is part of a day");
        assert_eq!(number("two bags"), number("2 bags"));
        assert_eq!(number("pour quatre"), number("4"));
        assert!(number("once due, the first one").is_empty());
    }

    #[test]
    fn ids_of_one_pattern_stand_for_each_other() {
        let shapes = |text: &str| given(text).into_iter().map(|it| it.shape).collect::<Vec<_>>();
        assert_eq!(shapes("CL-4522"), shapes("CL-4525"));
        assert_ne!(shapes("CL-4522"), shapes("SH-4525"));
        assert_ne!(given("CL-4522"), given("CL-4525"));
    }
}
