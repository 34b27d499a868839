//! Days of a year, in the spellings of twelve languages.

use std::sync::LazyLock;

use super::hash::{Key, key};
use super::words::Table;

/// The space of days among the keys.
const DAY: u8 = b'd';

/// The days that a folded text names, each with the words that it is made of.
pub(super) fn days(folded: &str, mut found: impl FnMut(Key, &[&str])) {
    if !folded.bytes().any(|it| it.is_ascii_digit()) {
        return;
    }
    let all = runs(folded);
    let is_east_asian = folded.contains('月');
    let has_day = |at: Option<usize>| {
        at.and_then(|it| all.get(it))
            .is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    };
    let day_of = |text: &str| {
        let bare = text.trim_end_matches(char::is_alphabetic);
        let suffix = text.len().saturating_sub(bare.len());
        bare.parse::<u8>().ok().filter(|it| (1..=31).contains(it) && suffix <= 2)
    };
    // A day of a month is that day of any month, too: `the 20th`.
    let mut found = |month: &str, day: u8, parts: &[&str]| {
        found(key(DAY, &format!("{month}-{day}")), parts);
        found(key(DAY, &format!("*-{day}")), &[]);
    };
    for (at, word) in all.iter().enumerate() {
        if let Some((month, day)) = is_east_asian.then(|| east_asian(word)).flatten() {
            found(&month.to_string(), day, &[]);
        }
        if let Some(day) = ordinal(word) {
            found("*", day, &[word]);
        }
        let next = |ahead: usize| all.get(at.saturating_add(ahead)).copied().unwrap_or_default();
        // `2026-03-14`, `2026-03-14t09`.
        if is_year(word) {
            let month =
                next(1).parse::<u8>().ok().filter(|it| (1..=12).contains(it) && next(1).len() == 2);
            let day = next(2)
                .get(..2)
                .and_then(|it| it.parse::<u8>().ok())
                .filter(|it| (1..=31).contains(it));
            if let (Some(month), Some(day)) = (month, day) {
                found(&month.to_string(), day, &[word, next(1), next(2)]);
            }
        }
        // Most words have no day beside them, and need not be looked up.
        let beside = [at.checked_sub(2), at.checked_sub(1), at.checked_add(1)];
        if !beside.into_iter().any(has_day) {
            continue;
        }
        let Some(month) = month_of(word) else { continue };
        let before = at.checked_sub(1).and_then(|it| all.get(it)).copied().unwrap_or_default();
        let earlier = at.checked_sub(2).and_then(|it| all.get(it)).copied().unwrap_or_default();
        let skipped = if ["of", "de", "di"].contains(&before) { earlier } else { before };
        for (place, after) in [(skipped, next(1)), (next(1), next(2))] {
            if let Some(day) = day_of(place) {
                let year = if is_year(after) { after } else { place };
                found(&month.to_string(), day, &[place, year]);
                break;
            }
        }
    }
}

/// The runs of letters and digits of a text.
fn runs(text: &str) -> Vec<&str> {
    if !text.is_ascii() {
        let runs = text.split(|it: char| !it.is_alphanumeric());
        return runs.filter(|it| !it.is_empty()).collect();
    }
    let mut found = Vec::new();
    let mut start = 0_usize;
    for (at, byte) in text.bytes().chain(std::iter::once(b' ')).enumerate() {
        if byte.is_ascii_alphanumeric() {
            continue;
        }
        if start < at {
            found.extend(text.get(start..at));
        }
        start = at.saturating_add(1);
    }
    found
}

/// `20th`: the day of a month that is not named.
fn ordinal(word: &str) -> Option<u8> {
    let end = ["st", "nd", "rd", "th"].iter().find_map(|it| word.strip_suffix(it))?;
    end.parse().ok().filter(|it| (1..=31).contains(it))
}

/// A year of this century.
fn is_year(word: &str) -> bool {
    word.len() == 4 && word.starts_with("20") && word.bytes().all(|it| it.is_ascii_digit())
}

/// `3月14日`.
fn east_asian(word: &str) -> Option<(u8, u8)> {
    let (before, rest) = word.split_once('月')?;
    let (day, _) = rest.split_once(['日', '号'])?;
    let start = before.rfind(|it: char| !it.is_ascii_digit()).map_or(0, |it| it.saturating_add(3));
    Some((before.get(start..)?.parse().ok()?, day.parse().ok()?))
}

/// The number of a month by its name.
fn month_of(word: &str) -> Option<usize> {
    NUMBERS_OF_MONTHS.get(word).copied()
}

/// The same, to be looked up.
static NUMBERS_OF_MONTHS: LazyLock<Table<&str, usize>> = LazyLock::new(|| {
    let numbered = MONTHS.iter().zip(1_usize..);
    numbered.flat_map(|(names, number)| names.iter().map(move |it| (*it, number))).collect()
});

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
