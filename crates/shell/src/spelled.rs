//! Texts that stand in code of other languages.

use data_encoding::{BASE32, BASE64, HEXLOWER_PERMISSIVE};

use crate::limits::{DECODED_BYTES_MAX, LITERALS_MAX, TEXTS_MAX, TRIED_LITERALS_MAX};
use crate::lines::unpacked;
use crate::syntax::ansi_c;

/// Fewer letters in a row are no text.
const LETTERS_MIN: usize = 3;
/// Fewer bytes are no encoded text.
const ENCODED_BYTES_MIN: usize = 6;

/// Texts that code spells with numbers, and what its literals become that are encoded or packed, also over and over; and whether these are all.
pub(super) fn decoded(code: &str, literals: &[String]) -> (Vec<String>, bool) {
    let mut texts = numbers(code);
    let mut fuel = DECODED_BYTES_MAX;
    let mut left: Vec<Vec<u8>> = literals.iter().map(|it| it.trim().into()).collect();
    while let Some(data) = left.pop() {
        let Some(rest) = fuel.checked_sub(data.len()) else { return (texts, false) };
        fuel = rest;
        let is_packed = data.starts_with(&[0x1f, 0x8b]) || data.starts_with(b"x");
        let unpacked = if is_packed { unpacked(&data) } else { None };
        let ways = [HEXLOWER_PERMISSIVE, BASE64, BASE32].into_iter();
        let ways = ways.filter(|_| data.len() >= ENCODED_BYTES_MIN);
        for bytes in ways.filter_map(|it| it.decode(&data).ok()).chain(unpacked) {
            texts.extend(std::str::from_utf8(&bytes).ok().map(str::to_owned));
            left.push(bytes);
        }
        if texts.len() >= TEXTS_MAX {
            return (texts, left.is_empty());
        }
    }
    (texts, true)
}

/// Numbers in a row, as letters: `[114,109]`, `chr(114).chr(109)`.
fn numbers(code: &str) -> Vec<String> {
    let number = |it: &str| match it.to_lowercase().strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => it.parse().ok(),
    };
    let words = code.split(|it: char| !it.is_ascii_alphanumeric());
    let words = words.filter(|it| !matches!(*it, "" | "chr" | "String" | "fromCharCode"));
    let letters: Vec<_> = words.map(|it| number(it).and_then(char::from_u32)).collect();
    let runs = letters.split(Option::is_none).filter(|it| it.len() >= LETTERS_MIN);
    runs.map(|it| it.iter().flatten().collect()).collect()
}

/// What Ruby and Perl quote with brackets, to run it or to hand it on: `%x(…)`, `qx{…}`, `qw(…)`.
pub(super) fn bracketed(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for sign in ["%x", "qx", "%q", "qq", "%Q", "qw", "%w", " q", "(q"] {
        for rest in code.split(sign).skip(1) {
            if texts.len() >= TRIED_LITERALS_MAX {
                return texts;
            }
            let close = match rest.chars().next() {
                Some('(') => ')',
                Some('{') => '}',
                Some('[') => ']',
                Some('<') => '>',
                Some(other @ ('/' | '|' | '!' | '~')) => other,
                Some(_) | None => continue,
            };
            let inside = rest.get(1..).unwrap_or_default();
            texts.extend(inside.split(close).next().map(str::to_owned));
        }
    }
    texts
}

/// Literals of the code; those that are put together count as one.
pub(super) fn literals(code: &str) -> Vec<String> {
    let mut literals: Vec<String> = Vec::new();
    let mut rest = code;
    let mut joins = false;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let (before, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let between = before.trim();
        let joined = joins && matches!(between, "+" | "." | "" | ".." | "~");
        let mut letters = tail.chars();
        let Some(quote) = letters.next() else { break };
        let inside = letters.as_str();
        let mut end = None;
        let mut escaped = false;
        for (index, letter) in inside.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if letter == quote => {
                    end = Some(index);
                    break;
                }
                _ => {}
            }
        }
        let Some(end) = end else { break };
        let literal = ansi_c(inside.get(..end).unwrap_or_default());
        match literals.last_mut().filter(|_| joined) {
            Some(last) => last.push_str(&literal),
            None => literals.push(literal),
        }
        if literals.len() >= LITERALS_MAX {
            break;
        }
        joins = true;
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    literals
}
