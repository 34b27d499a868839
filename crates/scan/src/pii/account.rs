//! Payment cards and bank accounts.

use super::checks::{Digits, luhn};
use super::span::Candidate;
use super::{Confidence, Personal};

/// Letters and digits of an IBAN, and digits of a card.
pub(super) const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=33;
pub(super) const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

/// Returns the card or the IBAN that a part of a run is, if it is one.
pub(super) fn find(candidate: &Candidate<'_>) -> Option<Personal> {
    let (rule, kind) = if is_card(candidate) {
        ("card", "credit_card")
    } else if is_iban(candidate) {
        ("iban", "iban")
    } else {
        return None;
    };
    let (start, end, confidence) = (candidate.start, candidate.end, Confidence::Checked);
    Some(Personal { rule, kind, confidence, start, end })
}

/// Thirteen to nineteen digits of an issuer that exists, with Luhn's check digit, in groups as on a card.
fn is_card(candidate: &Candidate<'_>) -> bool {
    if candidate.letters > 0 || !CARD_DIGITS.contains(&candidate.compact().len()) {
        return false;
    }
    let digits = Digits::of(candidate.compact());
    let digits = digits.as_slice();
    if !luhn(digits) {
        return false;
    }
    let first = |count: usize| digits.iter().take(count).fold(0, |sum, it| sum * 10 + it);
    let issuer = match digits.len() {
        13 | 19 => first(1) == 4,
        14 => matches!(first(3), 300..=305 | 309 | 360..=369 | 380..=399),
        15 => matches!(first(2), 34 | 37) || matches!(first(4), 2131 | 1800),
        16 => {
            first(1) == 4
                || matches!(first(2), 51..=55 | 62 | 65 | 81)
                || matches!(first(4), 2221..=2720 | 3528..=3589 | 6011)
                || matches!(first(3), 644..=649)
        }
        _ => false,
    };
    let varied = digits.iter().any(|it| Some(it) != digits.first());
    let marks = candidate.written().iter().filter(|it| !it.is_ascii_digit());
    issuer && varied && marks.clone().all(|it| matches!(it, b' ' | b'-')) && marks.count() <= 4
}

/// A country's letters, the length that it uses, and a remainder of one modulo 97.
fn is_iban(candidate: &Candidate<'_>) -> bool {
    let compact = candidate.compact();
    let Some((country, rest)) = compact.split_at_checked(2) else { return false };
    let known = LENGTHS.iter().find(|it| it.0.as_bytes() == country);
    if known.is_none_or(|it| it.1 != compact.len()) || !rest.iter().take(2).all(u8::is_ascii_digit)
    {
        return false;
    }
    let (first, last) = compact.split_at_checked(4).unwrap_or((compact, &[]));
    let mut sum = 0;
    for byte in last.iter().chain(first) {
        let Some(value) = char::from(*byte).to_digit(36) else { return false };
        sum = (sum * if value > 9 { 100 } else { 10 } + value) % 97;
    }
    sum == 1
}

const LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];
