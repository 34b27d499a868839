//! Dates of birth: a date that follows the words for it.

use super::context::Context;
use super::{Confidence, Personal};

/// How far behind the words a date may begin, in bytes.
const GAP_BYTES: usize = 24;
/// The longest date, in bytes.
const DATE_BYTES_MAX: usize = 24;

/// The words for a birth, in small letters.
pub(super) const WORDS: &[&str] = &[
    "date of birth",
    "dob",
    "d.o.b",
    "born on",
    "born",
    "birth date",
    "birthdate",
    "birthday",
    "geboren am",
    "geburtsdatum",
    "né le",
    "née le",
    "date de naissance",
    "fecha de nacimiento",
    "nacido el",
    "nacida el",
    "data di nascita",
    "nato il",
    "nata il",
    "data de nascimento",
    "nascido em",
    "geboortedatum",
    "data urodzenia",
    "дата рождения",
    "родился",
    "родилась",
    "doğum tarihi",
    "出生日期",
    "生年月日",
    "생년월일",
    "तारीख",
];

/// Adds the dates of birth of a text.
pub(super) fn find(context: &Context<'_>, all: &mut Vec<Personal>) {
    for end in context.births() {
        let behind = context.text.get(*end..).unwrap_or_default();
        let near = behind
            .get(..behind.floor_char_boundary(GAP_BYTES + DATE_BYTES_MAX))
            .unwrap_or_default();
        let Some(gap) = near.find(|it: char| it.is_ascii_digit()) else { continue };
        let (month_first, gap) = match near.get(..gap).map(|it| it.trim_end_matches(' ')) {
            // `May 3, 1980`: the date begins with the month.
            Some(before) => match before.rsplit(|it: char| !it.is_alphabetic()).next() {
                Some(word) if is_month(word) => (true, before.len() - word.len()),
                _ => (false, gap),
            },
            None => (false, gap),
        };
        let length = near.get(gap..).map_or(0, |it| date(it, month_first));
        if gap <= GAP_BYTES && length > 0 {
            let start = end + gap;
            all.push(Personal {
                rule: "date-of-birth",
                kind: "date_of_birth",
                confidence: Confidence::Words,
                start,
                end: start + length,
            });
        }
    }
}

/// The length of the date at the beginning of `text`: three numbers, or two and the name of a month.
fn date(text: &str, month_first: bool) -> usize {
    let (mut numbers, mut names, mut end) = (Vec::new(), 0, 0);
    for word in text.split_inclusive([' ', '/', '-', '.', ',', '年', '月']) {
        let bare = word
            .trim_end_matches(|it: char| !it.is_alphanumeric())
            .trim_end_matches(['年', '月', '日']);
        let digits = bare.trim_end_matches(|it: char| it.is_alphabetic());
        if let Ok(number) = digits.parse::<u32>() {
            numbers.push(number);
        } else if is_month(bare) {
            names += 1;
        } else if !bare.is_empty() {
            break;
        }
        end += word.len();
        if numbers.len() + names == 3 {
            break;
        }
    }
    let year = numbers.iter().any(|it| (1900..=2099).contains(it)) || numbers.len() == 3;
    let whole = numbers.len() + names == 3
        && year
        && numbers.iter().all(|it| *it <= 2099)
        && (names == 1 || !month_first);
    if whole {
        text.get(..end).map_or(0, |it| it.trim_end_matches([' ', ',', '.']).len())
    } else {
        0
    }
}

fn is_month(word: &str) -> bool {
    const MONTHS: &[&str] = &[
        "jan", "feb", "mar", "mär", "apr", "may", "mai", "jun", "jul", "aug", "sep", "oct", "okt",
        "nov", "dec", "dez", "ene", "abr", "ago", "dic", "gen", "mag", "giu", "lug", "set", "ott",
        "fév", "avr", "jui", "aoû", "déc", "янв", "фев", "мар", "апр", "мая", "июн", "июл", "авг",
        "сен", "окт", "ноя", "дек",
    ];
    let lower = word.to_lowercase();
    word.len() >= 3 && MONTHS.iter().any(|it| lower.starts_with(it))
}
