//! How many tokens a text is, guessed: low for text that earns credit, high for text that taints.
//!
//! The rule of thumb is four characters a token. It holds for prose in ASCII. Ideographs, emoji and
//! encoded blobs cost about a token a character, and an estimate that does not know this would let
//! four times as much through.

/// So many quarters are a token; a character of prose is one quarter.
pub const QUARTERS_PER_TOKEN: u64 = 4;

/// Tokens of a text from outside: never too few. At least one, so that nothing comes in unseen.
#[must_use]
pub fn tainted(text: &str) -> u64 {
    quarters_at_most(text).div_ceil(QUARTERS_PER_TOKEN).max(1)
}

/// Tokens of bytes from outside that are no text: a picture, an archive.
#[must_use]
pub fn tainted_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(QUARTERS_PER_TOKEN).max(1)
}

/// Quarters of tokens of a text that earns credit: never too many. Not rounded, so that a thousand
/// texts of one character are not a thousand tokens.
#[must_use]
pub fn clean_quarters(text: &str) -> u64 {
    let weight = |it: char| if is_ideograph(it) { QUARTERS_PER_TOKEN } else { 1 };
    text.chars().fold(0, |sum: u64, it| sum.saturating_add(weight(it)))
}

/// The longest run of an alphabet of encodings that is still taken for a word.
const WORD_CHARS_MAX: u64 = 40;
const WORD_BYTES_MAX: usize = WORD_CHARS_MAX as usize;
/// A run with fewer different characters is a rule or a filler, no data.
const BLOB_DISTINCT_MIN: u32 = 3;
/// So many changes between small, capital and digit, and one in [`BLOB_CHANGE_EVERY`] characters,
/// are not made by people.
const BLOB_CHANGES_MIN: u64 = 2;
const BLOB_CHANGE_EVERY: u64 = 4;

fn quarters_at_most(text: &str) -> u64 {
    if text.is_ascii() {
        return quarters_of_ascii(text);
    }
    let mut sum: u64 = 0;
    let mut word = Word::default();
    for character in text.chars() {
        if character.is_ascii() && !character.is_ascii_whitespace() {
            word.push(character);
            continue;
        }
        sum = sum.saturating_add(word.take()).saturating_add(weight(character));
    }
    sum.saturating_add(word.take())
}

/// The same, a word at a time: only a long or motley one can be a blob.
fn quarters_of_ascii(text: &str) -> u64 {
    let motley = |it: u8| it.is_ascii_uppercase() | it.is_ascii_digit();
    let mut sum = u64::try_from(text.len()).unwrap_or(u64::MAX);
    for piece in text.split_ascii_whitespace() {
        if piece.len() >= WORD_BYTES_MAX || piece.bytes().fold(false, |any, it| any | motley(it)) {
            let mut word = Word::default();
            piece.chars().for_each(|it| word.push(it));
            let chars = word.chars;
            sum = sum.saturating_add(word.take().saturating_sub(chars));
        }
    }
    sum
}

fn weight(character: char) -> u64 {
    match u32::from(character) {
        0..0x80 => 1,
        // Latin with accents, Greek, Cyrillic, Hebrew, Arabic: about two characters a token.
        0x80..0x800 => 2,
        _ => QUARTERS_PER_TOKEN,
    }
}

/// Han, Kana and Hangul: what people write whose every character is about a token.
fn is_ideograph(character: char) -> bool {
    matches!(u32::from(character),
        0x3040..0x3100 | 0x3400..0x4dc0 | 0x4e00..0xa000 | 0xac00..0xd7a4 | 0x2_0000..0x3_2000)
}

/// Characters of ASCII without a blank between them.
#[derive(Default)]
struct Word {
    chars: u64,
    changes: u64,
    run: u64,
    run_max: u64,
    distinct: u128,
    last: Option<Class>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Small,
    Capital,
    Digit,
}

impl Word {
    fn push(&mut self, character: char) {
        self.chars += 1;
        self.distinct |= 1_u128.checked_shl(u32::from(character)).unwrap_or(0);
        let class = match character {
            'a'..='z' => Some(Class::Small),
            'A'..='Z' => Some(Class::Capital),
            '0'..='9' => Some(Class::Digit),
            _ => None,
        };
        // A capital and then small letters is how names begin.
        let changed = class.is_some() && self.last.is_some() && class != self.last;
        let begins = self.last == Some(Class::Capital) && class == Some(Class::Small);
        self.changes += u64::from(changed && !begins);
        self.last = class;
        self.run = if class.is_some() || matches!(character, '+' | '/' | '=' | '_' | '-') {
            self.run + 1
        } else {
            0
        };
        self.run_max = self.run_max.max(self.run);
    }

    /// Its quarters; the next word begins.
    fn take(&mut self) -> u64 {
        let word = std::mem::take(self);
        let long =
            word.run_max >= WORD_CHARS_MAX && word.distinct.count_ones() >= BLOB_DISTINCT_MIN;
        let restless = word.changes >= BLOB_CHANGES_MIN
            && word.changes.saturating_mul(BLOB_CHANGE_EVERY) >= word.chars;
        let each = if long || restless { QUARTERS_PER_TOKEN } else { 1 };
        word.chars.saturating_mul(each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_a_quarter_each_and_rounds_up() {
        assert_eq!(tainted("hello"), 2);
        assert_eq!(tainted("The quick brown fox jumps over the lazy dog."), 11);
        assert_eq!(tainted(&"x".repeat(1000)), 250);
        assert_eq!(tainted(""), 1);
        assert_eq!(clean_quarters("hello"), 5);
        assert_eq!(tainted_bytes(0), 1);
        assert_eq!(tainted_bytes(50_001), 12_501);
    }

    #[test]
    fn plain_text_counts_the_same_word_by_word() {
        let blobs = ["QUJD", "0aB1", "x", "Ann", " ", "\n", "\u{b}", "a-b_c/", "iPhone15Pro"];
        for text in [blobs.join(""), blobs.join(" "), blobs.concat().repeat(9), "Ab1 ".repeat(9)] {
            let mut word = Word::default();
            let mut sum = 0;
            for it in text.chars() {
                if it.is_ascii_whitespace() {
                    sum += word.take() + 1;
                } else {
                    word.push(it);
                }
            }
            assert_eq!(quarters_of_ascii(&text), sum + word.take(), "{text:?}");
        }
    }

    #[test]
    fn dense_text_is_a_token_each() {
        assert_eq!(tainted(&"漢".repeat(400)), 400);
        assert_eq!(tainted(&"🦀".repeat(10)), 10);
        assert_eq!(tainted(&"ж".repeat(400)), 200);
        assert_eq!(tainted(&"QUJD".repeat(100)), 400);
        assert_eq!(tainted(&"0123456789abcdef".repeat(10)), 160);
        assert_eq!(clean_quarters(&"漢".repeat(400)), 1600);
        assert_eq!(clean_quarters(&"QUJD".repeat(100)), 400);
    }

    #[test]
    fn a_blob_in_short_pieces_is_still_one() {
        let pieces = "aGVsbG8g d29ybGQs IHRoaXMg aXMgbm90 IGEgdGVz";
        assert!(tainted(pieces) > 25, "{}", tainted(pieces));
        assert_eq!(tainted("aa1bb AA1bb"), 11);
        // Names of things are none, nor is what has many points.
        assert_eq!(tainted("a.b.c.d.e.f.g.h U.S.A. e-mail-a-friend x=y=z="), 12);
        assert_eq!(tainted("McDonald README2 HTTPServer x86_64 2026-11-15T07:43:45Z"), 14);
    }

    #[test]
    fn credit_is_never_more_than_taint_would_be() {
        for text in ["", "a", "漢字 and prose", "é", "🦀🦀", "QUJDQUJD", "\u{200b}"] {
            assert!(clean_quarters(text) <= tainted(text) * QUARTERS_PER_TOKEN, "{text:?}");
        }
    }
}
