//! Characters as a reader might take them: escapes resolved, look-alikes known.

use html5ever::data::NAMED_ENTITIES;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::fold::{is_invisible, look_alike};

/// A character as it is meant: itself, or what an escape stands for.
pub(super) struct Unit {
    pub(super) value: char,
    /// How much of the text it takes.
    pub(super) bytes: usize,
}

impl Unit {
    pub(super) fn first(text: &str) -> Option<Self> {
        let value = text.chars().next()?;
        let escape = match value {
            '&' => entity(text),
            '%' => percent(text),
            '\\' => backslash(text),
            _ => None,
        };
        Some(escape.unwrap_or(Self { value, bytes: value.len_utf8() }))
    }

    /// Could a mark begin with it?
    pub(super) fn opens(&self) -> bool {
        is_one_of(self.value, OPENERS)
    }

    /// Could a mark end with it?
    pub(super) fn closes(&self) -> bool {
        is_one_of(self.value, CLOSERS)
    }
}

fn is_one_of(value: char, signs: &[char]) -> bool {
    if value.is_ascii() {
        return signs.first() == Some(&value);
    }
    let mut first = None;
    decompose_compatible(value, |part| first = first.or(Some(part)));
    signs.contains(&first.unwrap_or(value))
}

/// `&lt;`, `&#60;`, `&#x3c`, and the same with `&amp;` for `&`, again and again.
fn entity(text: &str) -> Option<Unit> {
    let mut rest = text.strip_prefix('&')?;
    for _ in 0..AGAIN_MAX {
        match ["amp;", "AMP;", "#38;", "#x26;", "#X26;"].iter().find_map(|it| rest.strip_prefix(it))
        {
            Some(after) => rest = after,
            None => break,
        }
    }
    let (value, after) = match rest.strip_prefix('#') {
        Some(number) => numeric(number)?,
        None => named(rest)?,
    };
    let after = after.strip_prefix(';').unwrap_or(after);
    Some(Unit { value, bytes: text.len() - after.len() })
}

/// Any name that HTML knows, with its `;`; a few of them without, and in any case.
fn named(text: &str) -> Option<(char, &str)> {
    let end = text.bytes().take(ENTITY_BYTES_MAX).position(|it| !it.is_ascii_alphanumeric());
    let whole = end.and_then(|it| text.get(..=it)).filter(|it| it.ends_with(';'));
    if let Some((first, _)) = whole.and_then(|it| NAMED_ENTITIES.get(it))
        && let Some(value) = char::from_u32(*first).filter(|it| *it != '\0')
    {
        return Some((value, text.get(whole?.len()..)?));
    }
    let starts =
        |name: &str| text.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
    let (name, value) = ENTITIES.iter().find(|it| starts(it.0))?;
    Some((*value, text.get(name.len()..)?))
}

fn numeric(text: &str) -> Option<(char, &str)> {
    let (digits, radix) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let short = digits.trim_start_matches('0');
    let count =
        short.bytes().take(DIGITS_MAX).take_while(|it| char::from(*it).is_digit(radix)).count();
    let (number, after) = short.split_at_checked(count)?;
    Some((char::from_u32(u32::from_str_radix(number, radix).ok()?)?, after))
}

/// `%3c`, and the same with `%25` for `%`, again and again.
fn percent(text: &str) -> Option<Unit> {
    let mut rest = text.strip_prefix('%')?;
    for _ in 0..AGAIN_MAX {
        // A `25` that is followed by two digits more is a `%` that was escaped once more.
        match rest.strip_prefix("25").filter(|it| it.get(..2).is_some_and(is_hex)) {
            Some(after) => rest = after,
            None => break,
        }
    }
    let taken = text.len() - rest.len() + 2;
    from_hex(rest.get(..2)?, taken)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_hexdigit())
}

/// `\x3c`, `\u003c`, `\u{3c}`, `\U0000003c`, `\074`, and `\3c ` as style sheets have it.
fn backslash(text: &str) -> Option<Unit> {
    if let Some(inside) = text.strip_prefix("\\u{") {
        let end = inside.bytes().take(DIGITS_MAX).position(|it| it == b'}')?;
        return from_hex(inside.get(..end)?, end + 4);
    }
    match text.as_bytes().get(1)? {
        b'x' => from_hex(text.get(2..4)?, 4),
        b'u' => from_hex(text.get(2..6)?, 6),
        b'U' => from_hex(text.get(2..10)?, 10),
        _ => bare(text),
    }
}

/// Digits alone: to the base of eight as programs read them, or of sixteen as style sheets do.
fn bare(text: &str) -> Option<Unit> {
    let digits = text.get(1..)?;
    let count = |most: usize, radix| {
        digits.bytes().take(most).take_while(|it| char::from(*it).is_digit(radix)).count()
    };
    let (eight, sixteen) = (count(3, 8), count(6, 16));
    let octal = digits.get(..eight).and_then(|it| u32::from_str_radix(it, 8).ok());
    if let Some(value) =
        octal.and_then(char::from_u32).filter(|it| eight > 1 && it.is_ascii_graphic())
        && (eight == 3 || value == '<')
    {
        return Some(Unit { value, bytes: 1 + eight });
    }
    let blank = digits.get(sixteen..)?.starts_with([' ', '\n', '\t']);
    from_hex(digits.get(..sixteen)?, 1 + sixteen + usize::from(blank))
}

fn from_hex(digits: &str, bytes: usize) -> Option<Unit> {
    let value = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some(Unit { value, bytes })
}

/// Is this the Latin letter, in any case, or does it look like it?
pub(super) fn looks_like(part: char, letter: char) -> bool {
    match (part, letter) {
        ('0', 'o')
        | ('1' | '|' | '!', 'l' | 'i')
        | ('3' | '€', 'e')
        | ('4' | '@', 'a')
        | ('5' | '$', 's')
        | ('6' | '9', 'g')
        | ('7' | '+', 't')
        | ('¢' | '(', 'c') => true,
        _ => plain_letter(part) == Some(letter),
    }
}

/// The Latin letter that this is or looks like, in lower case.
fn plain_letter(part: char) -> Option<char> {
    let part = if part.is_ascii() { part } else { look_alike(part) };
    let letter = match part {
        'ᴀ' => 'a',
        'ᴄ' => 'c',
        'ᴅ' => 'd',
        'ᴇ' | 'є' | 'ε' | 'ҽ' => 'e',
        'ꜰ' | 'ƒ' | 'ғ' | 'ꬵ' => 'f',
        'ɢ' => 'g',
        'ʜ' | 'н' => 'h',
        'ɪ' => 'i',
        'ʟ' | 'ǀ' => 'l',
        'ᴍ' => 'm',
        'ɴ' | 'п' | 'η' => 'n',
        'ᴏ' | 'σ' | 'օ' => 'o',
        'ᴘ' => 'p',
        'ʀ' | 'г' => 'r',
        'ꜱ' => 's',
        'ᴛ' => 't',
        'ᴜ' | 'μ' => 'u',
        'ʏ' | 'γ' => 'y',
        _ => part.to_ascii_lowercase(),
    };
    letter.is_ascii_lowercase().then_some(letter)
}

/// Is it a sign that is also written for a letter?
pub(super) fn is_letter_sign(part: char) -> bool {
    matches!(part, '|' | '!' | '€' | '@' | '$' | '+' | '¢' | '(')
}

/// Can stand in a mark without making it another one: whatever is neither letter nor digit.
pub(super) fn is_filler(part: char) -> bool {
    !part.is_alphanumeric()
        || is_invisible(part)
        || is_combining_mark(part)
        || matches!(part, '\u{3164}' | '\u{ffa0}' | '\u{115f}' | '\u{1160}')
}

/// Signs that open a mark, or look as if they did; the one of ASCII first.
const OPENERS: &[char] = &[
    '<', '‹', '«', '〈', '⟨', '《', '≪', '❮', '❰', '❬', '⧼', '˂', 'ᐸ', '⟪', '≺', '⋖', '⪡', '𐊟',
    '⦑', '⦓', '⦉', '⪪', '⩹', '≤', '≦', '⩽', '≲', '⋘', '⊰', '⊲', '◁', '◀', '◃', '◂', '◄', '◅', '⯇',
    'ᚲ', 'ㄑ', 'く', '⪻', '⋜', '⪕', '⫷', '🞀', '᚛', '⮜', '⮘', '⧀', '\u{1433}',
];

/// Signs that close one, likewise: what stands behind them is outside.
const CLOSERS: &[char] = &['>', '›', '»', '〉', '⟩', '》', '≫', '❯', '❱', '❭', '⧽', '˃', 'ᐳ', '⟫'];

/// Named entities that count without a `;` and in any case.
const ENTITIES: &[(&str, char)] = &[
    ("lt", '<'),
    ("sol", '/'),
    ("bsol", '\\'),
    ("lowbar", '_'),
    ("underbar", '_'),
    ("nbsp", ' '),
    ("newline", ' '),
    ("tab", ' '),
    ("shy", '\u{ad}'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("zerowidthspace", '\u{200b}'),
    ("langle", '⟨'),
    ("lang", '⟨'),
    ("lsaquo", '‹'),
    ("laquo", '«'),
];

/// How often an escape may stand for the sign of another one.
const AGAIN_MAX: usize = 8;
/// Digits of a character's number, without zeros before it.
const DIGITS_MAX: usize = 12;
/// Bytes of an entity's name.
const ENTITY_BYTES_MAX: usize = 34;
