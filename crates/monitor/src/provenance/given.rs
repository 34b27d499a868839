//! Values of a kind that can take each other's place: numbers, days, addresses, accounts, ids of one pattern. Where the
//! user gave one, and a call has another in its stead, somebody else chose it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::atoms::{self, Kind};
use super::hash::{Key, key};
use super::norm::{fold, word_key, words};

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
/// The space of patterns, and of days, among the keys.
const PATTERN: u8 = b'#';
const DAY: u8 = b'd';

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
    for token in folded.split(|it: char| it.is_whitespace() || "()[]{}<>\"'“”;?!".contains(it))
    {
        let token = token.trim_matches(['.', ',', ':', '€', '$', '£', '¥']);
        if let Some(pattern) = pattern(token) {
            found
                .push(Given { shape: Shape::Id(key(PATTERN, &pattern)), key: key(PATTERN, token) });
        } else if let Some(number) = number(token).filter(|it| !parts_of_days.contains(it)) {
            found.push(Given { shape: Shape::Number, key: word_key(&number) });
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
fn is_bank_account(text: &str) -> bool {
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

/// The days that a folded text names, each with the words that it is made of.
pub(super) fn days(folded: &str, mut found: impl FnMut(Key, &[&str])) {
    if !folded.bytes().any(|it| it.is_ascii_digit()) {
        return;
    }
    let all: Vec<&str> =
        folded.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let day_of = |text: &str| {
        let bare = text.trim_end_matches(char::is_alphabetic);
        let suffix = text.len().saturating_sub(bare.len());
        bare.parse::<u8>().ok().filter(|it| (1..=31).contains(it) && suffix <= 2)
    };
    for (at, word) in all.iter().enumerate() {
        if let Some((month, day)) = east_asian(word) {
            found(key(DAY, &format!("{month}-{day}")), &[]);
        }
        let next = |ahead: usize| all.get(at.saturating_add(ahead)).copied().unwrap_or_default();
        // `2026-03-14`, `2026-03-14t09`.
        if word.len() == 4 && word.starts_with("20") && word.bytes().all(|it| it.is_ascii_digit()) {
            let month =
                next(1).parse::<u8>().ok().filter(|it| (1..=12).contains(it) && next(1).len() == 2);
            let day = next(2)
                .get(..2)
                .and_then(|it| it.parse::<u8>().ok())
                .filter(|it| (1..=31).contains(it));
            if let (Some(month), Some(day)) = (month, day) {
                found(key(DAY, &format!("{month}-{day}")), &[word, next(1), next(2)]);
            }
        }
        let Some(month) = month_of(word) else { continue };
        let before = at.checked_sub(1).and_then(|it| all.get(it)).copied().unwrap_or_default();
        let earlier = at.checked_sub(2).and_then(|it| all.get(it)).copied().unwrap_or_default();
        let skipped = if ["of", "de", "di"].contains(&before) { earlier } else { before };
        for place in [skipped, next(1)] {
            if let Some(day) = day_of(place) {
                found(key(DAY, &format!("{month}-{day}")), &[place]);
                break;
            }
        }
    }
}

/// `3月14日`.
fn east_asian(word: &str) -> Option<(u8, u8)> {
    let (before, rest) = word.split_once('月')?;
    let (day, _) = rest.split_once(['日', '号'])?;
    let start = before.rfind(|it: char| !it.is_ascii_digit()).map_or(0, |it| it.saturating_add(3));
    Some((before.get(start..)?.parse().ok()?, day.parse().ok()?))
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

/// The number of a month by its name.
fn month_of(word: &str) -> Option<usize> {
    MONTHS.iter().position(|it| it.contains(&word)).map(|it| it.saturating_add(1))
}

const MONTHS: [&[&str]; 12] = [
    &[
        "january",
        "jan",
        "januar",
        "janvier",
        "enero",
        "gennaio",
        "janeiro",
        "januari",
        "stycznia",
        "ocak",
        "января",
    ],
    &[
        "february",
        "feb",
        "februar",
        "février",
        "febrero",
        "febbraio",
        "fevereiro",
        "februari",
        "lutego",
        "şubat",
        "февраля",
    ],
    &["march", "mar", "märz", "mars", "marzo", "março", "maart", "marca", "mart", "марта"],
    &["april", "apr", "avril", "abril", "aprile", "kwietnia", "nisan", "апреля"],
    &["may", "mai", "mayo", "maggio", "maio", "mei", "maja", "mayıs", "мая"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "junho", "czerwca", "haziran", "июня"],
    &["july", "jul", "juli", "juillet", "julio", "luglio", "julho", "lipca", "temmuz", "июля"],
    &["august", "aug", "août", "agosto", "augustus", "sierpnia", "ağustos", "августа"],
    &[
        "september",
        "sep",
        "sept",
        "septembre",
        "septiembre",
        "settembre",
        "setembro",
        "września",
        "eylül",
        "сентября",
    ],
    &[
        "october",
        "oct",
        "oktober",
        "octobre",
        "octubre",
        "ottobre",
        "outubro",
        "października",
        "ekim",
        "октября",
    ],
    &["november", "nov", "novembre", "noviembre", "novembro", "listopada", "kasım", "ноября"],
    &[
        "december",
        "dec",
        "dezember",
        "décembre",
        "diciembre",
        "dicembre",
        "dezembro",
        "grudnia",
        "aralık",
        "декабря",
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, shape: fn(&Shape) -> bool) -> Vec<Key> {
        given(text).into_iter().filter(|it| shape(&it.shape)).map(|it| it.key).collect()
    }

    #[test]
    fn a_day_is_a_day_in_every_spelling() {
        let day = |text: &str| of(text, |it| *it == Shape::Day);
        let iso = day("2026-03-14");
        assert_eq!(iso.len(), 1);
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
    }

    #[test]
    fn ids_of_one_pattern_stand_for_each_other() {
        let shapes = |text: &str| given(text).into_iter().map(|it| it.shape).collect::<Vec<_>>();
        assert_eq!(shapes("CL-4522"), shapes("CL-4525"));
        assert_ne!(shapes("CL-4522"), shapes("SH-4525"));
        assert_ne!(given("CL-4522"), given("CL-4525"));
    }
}
