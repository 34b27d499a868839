//! Texts that code of other languages spells: lists of numbers, encodings, reversed and packed literals.

use data_encoding::{BASE32, BASE64, HEXLOWER_PERMISSIVE};

use super::lines::unpacked;
use super::syntax::ansi_c;

/// Fewer letters in a row are no text.
const LETTERS_MIN: usize = 3;
const LITERALS_MAX: usize = 64;
const ENCODED_BYTES_MIN: usize = 6;
/// Texts of one piece of code.
const TEXTS_MAX: usize = 32;
/// An encoding in an encoding, in levels.
const LAYERS_MAX: usize = 4;
/// What is decoded for one piece of code, in bytes.
const DECODED_BYTES_MAX: usize = 128 << 10;

/// Every text that the code may spell, none of which stands in it as it is.
pub(super) fn spelled(code: &str, literals: &[String]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut add = |text: String| {
        let shown = text.chars().all(|it| !it.is_control() || matches!(it, '\n' | '\t' | '\r'));
        let known = texts.contains(&text) || literals.contains(&text);
        if shown && !known && texts.len() < TEXTS_MAX && text.chars().count() >= LETTERS_MIN {
            texts.push(text);
        }
    };
    numbers(code).into_iter().for_each(&mut add);
    let lower = code.to_lowercase();
    let reverses = lower.contains("rev") || lower.contains("::-1") || lower.contains("--");
    let all = literals.concat();
    let mut fuel = DECODED_BYTES_MAX;
    for literal in literals.iter().chain([&all]) {
        if reverses {
            add(literal.chars().rev().collect());
        }
        if lower.contains("rot13") || lower.contains("rot_13") || lower.contains("tr/") {
            add(literal.chars().map(rot13).collect());
        }
        decoded(literal.trim().as_bytes(), 0, &mut fuel, &mut add);
        if reverses {
            let turned: String = literal.trim().chars().rev().collect();
            decoded(turned.as_bytes(), 0, &mut fuel, &mut add);
        }
    }
    texts
}

/// What Ruby and Perl quote with brackets, to run it or to hand it on: `%x(…)`, `qx{…}`, `qw(…)`.
pub(super) fn bracketed(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for sign in ["%x", "qx", "%q", "qq", "%Q", "qw", "%w", " q", "(q"] {
        for rest in code.split(sign).skip(1).take(TEXTS_MAX) {
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

fn decoded(data: &[u8], layer: usize, fuel: &mut usize, add: &mut impl FnMut(String)) {
    let Some(left) = fuel.checked_sub(data.len()) else { return };
    if data.len() < ENCODED_BYTES_MIN || layer > LAYERS_MAX {
        return;
    }
    *fuel = left;
    let is_packed = data.starts_with(&[0x1f, 0x8b]) || data.starts_with(b"x");
    let ways = [
        HEXLOWER_PERMISSIVE.decode(data).ok(),
        BASE64.decode(data).ok(),
        BASE32.decode(data).ok(),
        if is_packed { unpacked(data) } else { None },
    ];
    for bytes in ways.into_iter().flatten() {
        if let Ok(text) = std::str::from_utf8(&bytes) {
            add(text.to_owned());
        }
        decoded(&bytes, layer + 1, fuel, add);
    }
}

/// Numbers in a row, as letters: `[114,109]`, `chr(114).chr(109)`, `"%c%c",114,109`.
fn numbers(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut text = String::new();
    let mut gap = String::new();
    let mut rest = code;
    let mut is_name = false;
    while let Some(letter) = rest.chars().next() {
        let begins = letter.is_ascii_digit() && !is_name;
        let word = if begins { rest } else { "" };
        let digits = word.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let word = rest.get(..digits).unwrap_or_default();
        let value = if begins { number(word) } else { None };
        if let Some(letter) = value.and_then(char::from_u32) {
            if !is_joint(&gap) {
                texts.push(std::mem::take(&mut text));
            }
            text.push(letter);
            gap.clear();
            rest = rest.get(digits..).unwrap_or_default();
            is_name = false;
            continue;
        }
        is_name = letter.is_alphanumeric() || letter == '_';
        gap.push(letter);
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    texts.push(text);
    texts.retain(|it| it.chars().count() >= LETTERS_MIN);
    texts
}

fn number(word: &str) -> Option<u32> {
    let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    hex.map_or_else(|| word.parse().ok(), |it| u32::from_str_radix(it, 16).ok())
}

/// What may stand between two numbers of one list.
fn is_joint(gap: &str) -> bool {
    let bare = gap.to_lowercase().replace("string.fromcharcode", "").replace("chr", "");
    bare.chars().all(|it| it.is_whitespace() || ",.+()[]&~'\"".contains(it))
}

fn rot13(letter: char) -> char {
    let base = match letter {
        'a'..='z' => b'a',
        'A'..='Z' => b'A',
        _ => return letter,
    };
    let turned = u8::try_from(letter).map_or(base, |it| (it - base + 13) % 26 + base);
    char::from(turned)
}

/// What a line of Perl prints that only prints literals, side by side (`.`) or one over the other (`^`).
pub(super) fn exactly(code: &str) -> Option<Vec<u8>> {
    let mut rest = code.trim().trim_end_matches(';').strip_prefix("print")?.trim();
    let mut output: Option<Vec<u8>> = None;
    let mut over = false;
    let mut joint = None;
    loop {
        let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
        let inside = rest.get(1..)?;
        let mut escaped = false;
        let end = inside.find(|it| {
            let ends = it == quote && !escaped;
            escaped = it == '\\' && !escaped;
            ends
        })?;
        let text = inside.get(..end)?;
        let text = if quote == '\'' {
            text.replace("\\'", "'").replace("\\\\", "\\")
        } else if text.contains(['$', '@']) {
            return None;
        } else {
            // Perl has escapes of its own.
            if text.contains('\\') && !text.contains("\\x") {
                return None;
            }
            ansi_c(text)
        };
        output = Some(match output {
            None => text.into_bytes(),
            Some(before) if over => crossed(&before, text.as_bytes()),
            Some(before) => [before, text.into_bytes()].concat(),
        });
        rest = inside.get(end + 1..)?.trim();
        if rest.is_empty() {
            return output;
        }
        // `.` binds more than `^`: what has both is left to a run.
        over = rest.starts_with('^');
        if joint.replace(over).is_some_and(|it: bool| it != over) {
            return None;
        }
        rest = rest.strip_prefix(['^', '.'])?.trim();
    }
}

fn crossed(a: &[u8], b: &[u8]) -> Vec<u8> {
    let size = a.len().max(b.len());
    let at = |list: &[u8], it: usize| list.get(it).copied().unwrap_or_default();
    (0..size).map(|it| at(a, it) ^ at(b, it)).collect()
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
