//! Check digits that one country has alone.

use super::checks::{modulo, number, pair, varied, weighted};

pub(super) fn ssn(d: &[u32]) -> bool {
    let (area, group, serial) = (number(d, 0, 3), number(d, 3, 5), number(d, 5, 9));
    let known = [(78, 5, 1120), (219, 9, 9999), (457, 55, 5462)];
    !matches!(area, 0 | 666 | 900..)
        && group != 0
        && serial != 0
        && varied(d)
        && !known.contains(&(area, group, serial))
}

pub(super) fn dea(value: &[u8], d: &[u32]) -> bool {
    let sum = |places: [usize; 3]| places.iter().filter_map(|it| d.get(*it)).sum::<u32>();
    value.first().is_some_and(|it| b"ABCDEFGHJKLMPRSTUX".contains(it))
        && (sum([0, 2, 4]) + 2 * sum([1, 3, 5])) % 10 == d.get(6).copied().unwrap_or(11)
}

/// Letters of this form are never S, L, O, I, B or Z.
pub(super) fn mbi(value: &[u8]) -> bool {
    let letters = value.iter().filter(|it| it.is_ascii_alphabetic());
    !matches!(value.first(), Some(b'0'))
        && letters.clone().count() >= 4
        && letters.clone().all(|it| !b"SLOIBZ".contains(it))
}

pub(super) fn nino(value: &[u8]) -> bool {
    let first: &[u8] = value.get(..2).unwrap_or_default();
    let refused: [&[u8]; 7] = [b"BG", b"GB", b"NK", b"KN", b"TN", b"NT", b"ZZ"];
    let letters = first.first().is_some_and(|it| !b"DFIQUV".contains(it))
        && first.get(1).is_some_and(|it| !b"DFIOQUV".contains(it));
    letters
        && !refused.contains(&first)
        && value.last().is_some_and(|it| (b'A'..=b'D').contains(it))
}

/// Documents that machines read: weights of seven, three and one; letters count from ten on.
pub(super) fn icao(value: &[u8]) -> bool {
    let Some((check, first)) = value.split_last() else { return false };
    let sum: u32 = first
        .iter()
        .zip([7, 3, 1].into_iter().cycle())
        .filter_map(|(it, weight)| Some(char::from(*it).to_digit(36)? * weight))
        .sum();
    value.iter().any(u8::is_ascii_digit) && char::from(*check).to_digit(10) == Some(sum % 10)
}

pub(super) fn kvnr(value: &[u8]) -> bool {
    let Some(letter) = value.first().filter(|it| it.is_ascii_uppercase()) else { return false };
    let number = u32::from(letter - b'A') + 1;
    let mut digits = vec![number / 10, number % 10];
    digits.extend(value.iter().skip(1).filter_map(|it| char::from(*it).to_digit(10)));
    let Some((check, first)) = digits.split_last() else { return false };
    let sum: u32 = first
        .iter()
        .zip([1, 2].into_iter().cycle())
        .map(|(it, weight)| {
            let it = it * weight;
            it / 10 + it % 10
        })
        .sum();
    sum % 10 == *check
}

pub(super) fn lanr(d: &[u32]) -> bool {
    let sum = weighted(d.get(..6).unwrap_or_default(), &[4, 9, 4, 9, 4, 9]);
    (10 - sum % 10) % 10 == d.get(6).copied().unwrap_or(11) && varied(d)
}

pub(super) fn nif(value: &[u8]) -> bool {
    let Some((letter, first)) = value.split_last() else { return false };
    let digits = first.iter().fold(0_usize, |sum, it| match it {
        b'X' => sum * 10,
        b'Y' => sum * 10 + 1,
        b'Z' => sum * 10 + 2,
        digit => sum * 10 + usize::from(digit.wrapping_sub(b'0')),
    });
    b"TRWAGMYFPDXBNJZSQVHLCKE".get(digits % 23) == Some(letter)
}

pub(super) fn fiscal_code(value: &[u8]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let Some((check, first)) = value.split_last() else { return false };
    let sum: u32 = first
        .iter()
        .enumerate()
        .map(|(at, it)| {
            let place = if it.is_ascii_digit() { it - b'0' } else { it.wrapping_sub(b'A') };
            if at % 2 == 0 {
                ODD.get(usize::from(place)).copied().unwrap_or_default()
            } else {
                u32::from(place)
            }
        })
        .sum();
    u32::from(check.wrapping_sub(b'A')) == sum % 26
}

pub(super) fn fodsel(d: &[u32]) -> bool {
    let first = (11 - weighted(d, &[3, 7, 6, 1, 8, 9, 4, 5, 2]) % 11) % 11;
    let second = (11 - weighted(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11;
    d.get(9) == Some(&first) && d.get(10) == Some(&second)
}

pub(super) fn hetu(value: &[u8]) -> bool {
    let digits: Vec<u32> =
        value.iter().take(10).filter_map(|it| char::from(*it).to_digit(10)).collect();
    let check = modulo(&digits, digits.len(), 31);
    let letter = check.and_then(|it| b"0123456789ABCDEFHJKLMNPRSTUVWXY".get(it as usize));
    digits.len() == 9 && letter == value.last()
}

pub(super) fn tckn(d: &[u32]) -> bool {
    let at = |it: usize| d.get(it).copied().unwrap_or_default();
    let odd: u32 = [0, 2, 4, 6, 8].into_iter().map(at).sum();
    let even: u32 = [1, 3, 5, 7].into_iter().map(at).sum();
    let first: u32 = d.iter().take(10).sum();
    at(0) != 0 && (odd * 7 + 1000 - even) % 10 == at(9) && first % 10 == at(10)
}

pub(super) fn cpf(d: &[u32]) -> bool {
    let check = |count: usize| {
        let sum: u32 = d
            .iter()
            .take(count)
            .zip((2..=count as u32 + 1).rev())
            .map(|(it, weight)| it * weight)
            .sum();
        sum * 10 % 11 % 10
    };
    varied(d) && d.get(9) == Some(&check(9)) && d.get(10) == Some(&check(10))
}

pub(super) fn rut(value: &[u8], d: &[u32]) -> bool {
    let number = if value.last().is_some_and(u8::is_ascii_digit) {
        d.get(..d.len() - 1).unwrap_or_default()
    } else {
        d
    };
    let sum: u32 = number
        .iter()
        .rev()
        .zip([2, 3, 4, 5, 6, 7].into_iter().cycle())
        .map(|(it, weight)| it * weight)
        .sum();
    let check = match 11 - sum % 11 {
        11 => b'0',
        10 => b'K',
        other => b'0' + u8::try_from(other).unwrap_or_default(),
    };
    value.last() == Some(&check)
}

pub(super) fn resident(value: &[u8], d: &[u32]) -> bool {
    let sum = weighted(
        d.get(..17).unwrap_or_default(),
        &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2],
    );
    let born = matches!(number(d, 6, 10), 1900..=2099) && matches!(pair(d, 10), Some(1..=12));
    born && b"10X98765432".get((sum % 11) as usize) == value.last()
}

/// Since 2020 there is no check digit; date and the digit of the century remain.
pub(super) fn rrn(d: &[u32]) -> bool {
    let dated = matches!(pair(d, 2), Some(1..=12)) && matches!(pair(d, 4), Some(1..=31));
    let sum = weighted(d, &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    let last = d.last().copied().unwrap_or(11);
    let since_2020 = matches!(d.get(6), Some(3 | 4 | 7 | 8)) && matches!(pair(d, 0), Some(20..=30));
    let check = match d.get(6) {
        Some(5..=8) => (13 - sum % 11) % 10,
        _ => (11 - sum % 11) % 10,
    };
    dated && (check == last || since_2020)
}

pub(super) fn brn(d: &[u32]) -> bool {
    let sum =
        weighted(d, &[1, 3, 7, 1, 3, 7, 1, 3, 5]) + d.get(8).copied().unwrap_or_default() * 5 / 10;
    (10 - sum % 10) % 10 == d.last().copied().unwrap_or(11)
}

pub(super) fn my_number(d: &[u32]) -> bool {
    let sum = weighted(d, &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    let check = if sum <= 1 { 0 } else { 11 - sum };
    d.last() == Some(&check) && varied(d)
}

pub(super) fn nric(value: &[u8], d: &[u32]) -> bool {
    let sum = weighted(d, &[2, 7, 6, 5, 4, 3, 2]);
    let (table, plus): (&[u8], u32) = match value.first() {
        Some(b'S') => (b"JZIHGFEDCBA", 0),
        Some(b'T') => (b"JZIHGFEDCBA", 4),
        Some(b'F') => (b"XWUTRQPNMLK", 0),
        Some(b'G') => (b"XWUTRQPNMLK", 4),
        Some(b'M') => (b"KLJNPQRTUWX", 3),
        _ => return false,
    };
    let place = ((sum + plus) % 11) as usize;
    table.get(if value.first() == Some(&b'M') { 10 - place } else { place }) == value.last()
}

pub(super) fn abn(d: &[u32]) -> bool {
    let mut digits = d.to_vec();
    if let Some(first) = digits.first_mut() {
        *first = first.wrapping_sub(1);
    }
    d.first() != Some(&0)
        && weighted(&digits, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]).is_multiple_of(89)
}

/// The check of Verhoeff: permutations in the group of the symmetries of a pentagon.
pub(super) fn verhoeff(digits: &[u32]) -> bool {
    const PERMUTED: [[u32; 10]; 8] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
        [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
        [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
        [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
        [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
        [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
        [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
    ];
    let times = |a: u32, b: u32| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - 5 + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let sum = digits.iter().rev().enumerate().fold(0, |sum, (at, digit)| {
        let permuted = PERMUTED.get(at % 8).and_then(|it| it.get(*digit as usize)).copied();
        times(sum, permuted.unwrap_or_default())
    });
    sum == 0
}
