//! How many values a secret could be, by its form alone: there is no list of words here.
//!
//! Who may have texts scrubbed can try values, many at once: the one that is taken out is the secret. That leads
//! nowhere with a long random one, and to every PIN within the hour. So what can be guessed is not looked for in
//! texts, and is stored only if a person insists.
//!
//! The estimate is that of an attacker who tries likely forms first: words, years, runs of keys and repetitions count
//! for little. Case counts for nothing, because it does not when texts are scrubbed.

use zeroize::Zeroizing;

use crate::secret::Secret;

/// A secret that could be fewer than two to the power of this many values can be guessed.
pub const GUESSABLE_BITS: u32 = 48;

/// Beyond so many characters nothing can make a value easier to guess.
const CHARS_READ_MAX: usize = 256;
/// So many letters in a row may be a word.
const WORD_CHARS_MIN: usize = 4;
/// One pair of letters in so many may be unusual in a word.
const PAIRS_PER_UNUSUAL: usize = 5;
/// So many characters in a row, each next to the one before, are a run.
const RUN_CHARS_MIN: usize = 3;
/// So many characters that stood there before are a repetition.
const COPY_CHARS_MIN: usize = 4;

// What a character is worth, in tenths of a bit.
const DIGIT: u32 = 33;
const HEX_DIGIT: u32 = 40;
const LETTER: u32 = 47;
const LETTER_OR_DIGIT: u32 = 51;
const SYMBOL: u32 = 50;
const FOREIGN: u32 = 70;
const LETTER_OF_A_WORD: u32 = 20;
/// A symbol that stood there before: what stands between words is always the same.
const SAME_SYMBOL: u32 = 10;
/// Each further character of a run.
const STEP: u32 = 15;
/// Where a repetition comes from and how long it is.
const COPY: u32 = 60;
/// A year of this century or the last.
const YEAR: u32 = 70;

impl Secret {
    /// Can it be guessed by trying? Then it is not looked for in texts.
    #[must_use]
    pub fn is_guessable(&self) -> bool {
        is_guessable(self.plain())
    }
}

/// Can somebody who tries values find this one?
pub(crate) fn is_guessable(value: &str) -> bool {
    tenths_of_bits(value) < GUESSABLE_BITS * 10
}

/// Is there a piece in it that cannot be guessed? What stands around it, as the name of a field, may be known.
pub(crate) fn has_unguessable_piece(value: &str) -> bool {
    let inside = |it: char| it.is_alphanumeric() || "+/-_=".contains(it);
    value.split(|it| !inside(it)).any(|it| !is_guessable(it))
}

fn tenths_of_bits(value: &str) -> u32 {
    let folded = value.chars().flat_map(char::to_lowercase).take(CHARS_READ_MAX);
    let mut text: Zeroizing<Vec<char>> = Zeroizing::new(folded.collect());
    let again = repeats_after(&text);
    let once = again.unwrap_or(text.len());
    text.truncate(once);
    let plain = worth_of_plain(&text);
    let mut total: u32 = if again.is_some() { COPY } else { 0 };
    let (mut at, mut no_word_before) = (0, 0);
    while let Some(&next) = text.get(at) {
        let (taken, worth) = if let copied @ COPY_CHARS_MIN.. = copied(&text, at) {
            (copied, COPY)
        } else if let run @ RUN_CHARS_MIN.. = run(&text, at) {
            (run, plain + times(run - 1, STEP))
        } else if let Some(letters) = word(&text, at).filter(|_| at >= no_word_before) {
            (letters, times(letters, LETTER_OF_A_WORD))
        } else if is_year(&text, at) {
            (4, YEAR)
        } else {
            no_word_before = no_word_before.max(at + letters(&text, at));
            (1, worth(next, plain, text.get(..at).unwrap_or_default()))
        };
        total = total.saturating_add(worth);
        at += taken;
    }
    total
}

/// After how many characters it begins anew, if it is the same twice or more.
fn repeats_after(text: &[char]) -> Option<usize> {
    let repeats =
        |after: &usize| text.iter().skip(*after).zip(text).all(|(one, other)| one == other);
    (1..=text.len() / 2).find(repeats)
}

fn times(count: usize, worth: u32) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(worth)
}

/// What a letter or digit is worth that is part of nothing, among such as these.
fn worth_of_plain(text: &[char]) -> u32 {
    let mut of = text.iter().filter(|it| it.is_ascii_alphanumeric());
    let (digits, letters, hex) = of.by_ref().fold((false, false, true), |(d, l, h), it| {
        (d || it.is_ascii_digit(), l || it.is_ascii_alphabetic(), h && it.is_ascii_hexdigit())
    });
    match (digits, letters) {
        (true, true) if hex => HEX_DIGIT,
        (true, true) => LETTER_OR_DIGIT,
        (true, false) => DIGIT,
        (false, _) => LETTER,
    }
}

fn worth(next: char, plain: u32, before: &[char]) -> u32 {
    match next {
        it if it.is_ascii_alphanumeric() => plain,
        it if before.contains(&it) => SAME_SYMBOL,
        it if it.is_ascii() => SYMBOL,
        _ => FOREIGN,
    }
}

/// How many characters from here on stood there before, in the same order.
fn copied(text: &[char], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let from = |start: usize| {
        let earlier = text.get(start..).unwrap_or_default();
        rest.iter().zip(earlier).take_while(|(one, other)| one == other).count()
    };
    (0..at).map(from).max().unwrap_or(0)
}

/// How many characters from here on are each next to the one before, always in the same direction.
fn run(text: &[char], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let mut steps = rest.iter().zip(rest.iter().skip(1)).map(|(one, other)| step(*one, *other));
    let Some(Some(first)) = steps.next() else { return 0 };
    2 + steps.take_while(|it| *it == Some(first)).count()
}

/// The rows of a keyboard.
const ROWS: [&str; 4] = ["qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm"];

/// How one leads to the other: the same, the next or the one before, of all or on a keyboard.
fn step(one: char, other: char) -> Option<i8> {
    if !one.is_ascii_alphanumeric() || !other.is_ascii_alphanumeric() {
        return (one == other).then_some(0);
    }
    let apart = i64::from(u32::from(other)) - i64::from(u32::from(one));
    if let Ok(apart @ -1..=1) = i8::try_from(apart) {
        return Some(apart);
    }
    ROWS.iter().find_map(|row| match row.find(one)?.abs_diff(row.find(other)?) {
        1 => Some(if row.find(one) < row.find(other) { 2 } else { -2 }),
        _ => None,
    })
}

/// How many letters are there from here on?
fn letters(text: &[char], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|it| it.is_alphabetic()).count()
}

/// How many letters from here on read like a word, if they do.
fn word(text: &[char], at: usize) -> Option<usize> {
    let count = letters(text, at);
    let found = text.get(at..at + count).filter(|_| count >= WORD_CHARS_MIN)?;
    let pairs = found.iter().zip(found.iter().skip(1));
    let unusual = pairs.filter(|(one, other)| !is_usual(**one, **other)).count();
    (unusual <= (count - 1) / PAIRS_PER_UNUSUAL).then_some(count)
}

/// Which letters often follow a to z in words of the languages that are written so.
const FOLLOWED_BY: [&str; 26] = [
    "bcdgilmnprstuvy",
    "aeilorsu",
    "aehiklortu",
    "adeiorsuy",
    "abcdegilmnoprstvwx",
    "aefiloru",
    "aeghilnorsu",
    "aeiortuy",
    "abcdefglmnoprstvz",
    "aeou",
    "aeilnsy",
    "adefiklmostuvy",
    "abeimopsu",
    "acdegiknostuy",
    "abcdfgiklmnoprstuvw",
    "aehiloprstu",
    "u",
    "acdegiklmnorstuvy",
    "acehiklmnopqstuw",
    "aehilorstuwy",
    "abcdegilmnprst",
    "aeio",
    "aehionrs",
    "aceipt",
    "aeilmnops",
    "aeoz",
];

/// Do two letters often stand beside each other in words? Of other scripts it is not known, and taken to be so.
fn is_usual(one: char, other: char) -> bool {
    let place = u32::from(one).checked_sub(u32::from('a')).and_then(|it| usize::try_from(it).ok());
    match place.and_then(|it| FOLLOWED_BY.get(it)) {
        Some(followers) => followers.contains(other) || !other.is_ascii(),
        None => true,
    }
}

fn is_year(text: &[char], at: usize) -> bool {
    let digits = text.get(at..).unwrap_or_default().iter().take_while(|it| it.is_ascii_digit());
    digits.count() == 4 && matches!(text.get(at..at + 2), Some(['1', '9'] | ['2', '0']))
}

#[cfg(test)]
mod tests;
