//! Check digits of numbers, by the name that the rule file calls them.

use super::national::{
    abn, brn, cpf, dea, fiscal_code, fodsel, hetu, icao, kvnr, lanr, mbi, my_number, nif, nino,
    nric, resident, rrn, rut, ssn, tckn, verhoeff,
};
use super::span::COMPACT_MAX;

/// A check of a number: its compact form and its digits.
pub(super) type Check = fn(&[u8], &[u32]) -> bool;

/// Returns the check of this name.
pub(super) fn check(name: &str) -> Option<Check> {
    one_of_many(name).or_else(|| another(name))
}

/// The digits of a compact form.
pub(super) struct Digits {
    all: [u32; COMPACT_MAX],
    count: usize,
}

impl Digits {
    pub(super) fn of(compact: &[u8]) -> Self {
        let mut digits = Self { all: [0; COMPACT_MAX], count: 0 };
        let values = compact.iter().filter(|it| it.is_ascii_digit()).map(|it| u32::from(it - b'0'));
        for (to, from) in digits.all.iter_mut().zip(values) {
            *to = from;
            digits.count += 1;
        }
        digits
    }

    pub(super) fn as_slice(&self) -> &[u32] {
        self.all.get(..self.count).unwrap_or_default()
    }
}

fn one_of_many(name: &str) -> Option<Check> {
    let found: Check = match name {
        "luhn" => |_, d| luhn(d) && varied(d),
        "luhn9" | "sin" => |_, d| luhn(d) && varied(d) && d.first() != Some(&0),
        "npi" => |_, d| matches!(d.first(), Some(1 | 2)) && luhn(&[&[8, 0, 8, 4, 0], d].concat()),
        "ssn" => |_, d| ssn(d),
        "itin" => |_, d| matches!(pair(d, 3), Some(50..=65 | 70..=88 | 90..=92 | 94..=99)),
        "aba" => |_, d| {
            weighted(d, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10)
                && varied(d)
                && matches!(pair(d, 0), Some(0..=12 | 21..=32 | 61..=72 | 80))
        },
        "dea" => dea,
        "mbi" => |value, _| mbi(value),
        "nino" => |value, _| nino(value),
        "nhs" => |_, d| eleven(d, &[10, 9, 8, 7, 6, 5, 4, 3, 2]),
        "icao" => |value, _| icao(value),
        "mod11-10" => |_, d| mod_11_10(d) && varied(d),
        "vat-de" => |_, d| mod_11_10(d),
        "kvnr" => |value, _| kvnr(value),
        "lanr" => |_, d| lanr(d),
        "nif" | "nie" => |value, _| nif(value),
        "fiscal-code" => |value, _| fiscal_code(value),
        "nir" => |_, d| {
            matches!(d.first(), Some(1..=4 | 7 | 8))
                && modulo(d, 13, 97).is_some_and(|it| 97 - it == number(d, 13, 15))
        },
        "bsn" => |_, d| {
            weighted(d, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11 == d.last().copied().unwrap_or(11)
                && varied(d)
        },
        "be" => |_, d| modulo(d, 9, 97).is_some_and(|it| 97 - it == number(d, 9, 11)),
        "pesel" => {
            |_, d| weighted(d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10) && varied(d)
        }
        "nip" => |_, d| {
            weighted(d, &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == d.last().copied().unwrap_or(11)
                && varied(d)
        },
        _ => return None,
    };
    Some(found)
}

fn another(name: &str) -> Option<Check> {
    let found: Check = match name {
        "fodsel" => |_, d| fodsel(d),
        "date6" => |_, d| matches!(pair(d, 0), Some(1..=31)) && matches!(pair(d, 2), Some(1..=12)),
        "hetu" => |value, _| hetu(value),
        "nif-pt" => |_, d| {
            eleven(d, &[9, 8, 7, 6, 5, 4, 3, 2])
                || (d.last() == Some(&0) && weighted(d, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11 < 2)
        },
        "afm" => |_, d| {
            weighted(d, &[256, 128, 64, 32, 16, 8, 4, 2]) % 11 % 10
                == d.last().copied().unwrap_or(11)
                && varied(d)
        },
        "cnp" => |_, d| remainder(d, &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9], 11, 10, 1),
        "mod11" => |_, d| modulo(d, d.len(), 11) == Some(0) && varied(d),
        "egn" => |_, d| remainder(d, &[2, 4, 8, 5, 10, 9, 7, 3, 6], 11, 10, 0),
        "tckn" => |_, d| tckn(d),
        "snils" => |_, d| weighted(d, &[9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101 % 100 == number(d, 9, 11),
        "inn" => |_, d| {
            remainder(d.get(..11).unwrap_or_default(), &[7, 2, 4, 10, 3, 5, 9, 4, 6, 8], 11, 10, 0)
                && remainder(d, &[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8], 11, 10, 0)
        },
        "cpf" => |_, d| cpf(d),
        "cnpj" => |_, d| {
            eleven(d.get(..13).unwrap_or_default(), &[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])
                && eleven(d, &[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])
        },
        "cuit" => |_, d| eleven(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]),
        "rut" => rut,
        "cn" => resident,
        "rrn" => |_, d| rrn(d),
        "brn" => |_, d| brn(d),
        "my-number" => |_, d| my_number(d),
        "nric" => nric,
        "aadhaar" => |_, d| !matches!(d.first(), Some(0 | 1)) && verhoeff(d) && varied(d),
        "pan" => |value, _| value.get(3).is_some_and(|it| b"ABCFGHJLPTSN".contains(it)),
        "gstin" => |_, d| matches!(pair(d, 0), Some(1..=37)),
        "tfn" => |_, d| weighted(d, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11) && varied(d),
        "abn" => |_, d| abn(d),
        "acn" => |_, d| {
            (10 - weighted(d, &[8, 7, 6, 5, 4, 3, 2, 1]) % 10) % 10
                == d.last().copied().unwrap_or(11)
        },
        "medicare-au" => |_, d| {
            matches!(d.first(), Some(2..=6))
                && weighted(d, &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == d.get(8).copied().unwrap_or(11)
        },
        "sa-id" => |_, d| {
            luhn(d)
                && matches!(d.get(10), Some(0..=2))
                && matches!(pair(d, 2), Some(1..=12))
                && matches!(pair(d, 4), Some(1..=31))
        },
        _ => return None,
    };
    Some(found)
}

/// The check of payment cards and many others: every second digit doubled.
pub(super) fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(
            |(at, digit)| {
                if at % 2 == 0 { *digit } else { digit * 2 - if *digit > 4 { 9 } else { 0 } }
            },
        )
        .sum();
    !digits.is_empty() && sum.is_multiple_of(10)
}

/// Tells whether there is more than one digit in it.
pub(super) fn varied(digits: &[u32]) -> bool {
    digits.first().is_some_and(|first| digits.iter().any(|it| it != first))
}

pub(super) fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The digits from `from` to `to` as a number.
pub(super) fn number(digits: &[u32], from: usize, to: usize) -> u32 {
    digits.get(from..to).unwrap_or_default().iter().fold(0, |sum, it| sum * 10 + it)
}

pub(super) fn pair(digits: &[u32], at: usize) -> Option<u32> {
    digits.get(at..at + 2).map(|_| number(digits, at, at + 2))
}

/// The first `count` digits modulo `by`.
pub(super) fn modulo(digits: &[u32], count: usize, by: u32) -> Option<u32> {
    Some(digits.get(..count)?.iter().fold(0, |rest, it| (rest * 10 + it) % by))
}

/// The last digit is what is missing to a multiple of eleven; ten and eleven are written as zero.
pub(super) fn eleven(digits: &[u32], weights: &[u32]) -> bool {
    let rest = weighted(digits, weights) % 11;
    let check = if rest < 2 { 0 } else { 11 - rest };
    digits.len() == weights.len() + 1 && digits.last() == Some(&check) && varied(digits)
}

/// The last digit is the remainder, and `written` where the remainder is `odd`.
pub(super) fn remainder(digits: &[u32], weights: &[u32], by: u32, odd: u32, written: u32) -> bool {
    let rest = weighted(digits, weights) % by;
    let check = if rest == odd { written } else { rest };
    digits.len() == weights.len() + 1 && digits.last() == Some(&check) && varied(digits)
}

/// ISO 7064, MOD 11,10.
pub(super) fn mod_11_10(digits: &[u32]) -> bool {
    let Some((check, first)) = digits.split_last() else { return false };
    let product = first.iter().fold(10, |product, digit| {
        let sum = (product + digit) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    digits.first() != Some(&0) && (11 - product) % 10 == *check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_documentation_pass_and_their_neighbours_do_not() {
        for (name, right) in [
            ("luhn", "4111111111111111"),
            ("nhs", "9434765919"),
            ("tckn", "10000000146"),
            ("pesel", "44051401458"),
            ("cpf", "52998224725"),
            ("cnpj", "11222333000181"),
            ("aadhaar", "312345678909"),
            ("abn", "51824753556"),
            ("tfn", "876543210"),
            ("bsn", "111222333"),
            ("nif", "12345678Z"),
            ("nie", "X1234567L"),
            ("fiscal-code", "RSSMRA85T10A562S"),
            ("mod11-10", "12345678903"),
            ("snils", "11223344595"),
            ("cn", "11010519491231002X"),
            ("my-number", "123456789018"),
            ("nric", "S1234567D"),
            ("sa-id", "8001015009087"),
            ("npi", "1234567893"),
            ("nip", "1234563218"),
            ("icao", "C01X00T478"),
            ("aba", "121000358"),
            ("medicare-au", "2123456701"),
        ] {
            let passes = |text: &str| {
                check(name).unwrap()(text.as_bytes(), Digits::of(text.as_bytes()).as_slice())
            };
            assert!(passes(right), "{name} {right}");
            let last = right.chars().last().unwrap();
            let other = if last == '9' || last == 'Z' { '8' } else { char::from(last as u8 + 1) };
            if name == "medicare-au" {
                continue;
            }
            let wrong = format!("{}{other}", right.get(..right.len() - 1).unwrap());
            assert!(!passes(&wrong), "{name} {wrong}");
        }
        assert!(check("no such check").is_none());
    }
}
