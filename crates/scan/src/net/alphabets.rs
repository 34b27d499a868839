//! Texts in alphabets of their own: of two, four or sixteen letters, of eighty-five signs, or in numbers of three
//! digits.

use super::coded::is_text_of_words;

/// The fewest letters of two kinds, of four, and of sixteen, that are read as bits.
const TWO_LETTERS_MIN: usize = 96;
const FOUR_LETTERS_MIN: usize = 56;
const SIXTEEN_LETTERS_MIN: usize = 32;
/// The fewest signs of eighty-five, and how many of them words do not have.
const SIGNS_MIN: usize = 25;
const UNUSUAL_MIN: usize = 2;
/// The fewest digits, three to a character.
const DIGITS_MIN: usize = 30;

/// The two common orders of eighty-five signs beside that of ASCII.
const RFC1924: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const Z85: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// Does a text stand in it, in letters or digits of which there are few?
pub(super) fn few_letters_say_text(run: &str) -> bool {
    let bytes = run.as_bytes();
    if bytes.len() < DIGITS_MIN || !bytes.iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    if bytes.iter().all(u8::is_ascii_digit) {
        return [8, 10].into_iter().any(|base| threes_say_text(bytes, base));
    }
    let kinds = kinds_of(bytes);
    match *kinds.as_slice() {
        [one, other] if bytes.len() >= TWO_LETTERS_MIN => {
            [[one, other], [other, one]].iter().any(|it| says_text(bytes, it, 1))
        }
        [_, _, _] | [_, _, _, _] if bytes.len() >= FOUR_LETTERS_MIN => {
            let mut four = kinds.clone();
            // One of them may never be met.
            four.resize(4, 0);
            orders(&four).iter().any(|it| says_text(bytes, it, 2))
        }
        _ => sixteen_say_text(bytes, &kinds),
    }
}

/// The different letters in it, in order.
fn kinds_of(bytes: &[u8]) -> Vec<u8> {
    let met = bytes.iter().fold(0_u128, |met, it| met | 1 << (it & 127));
    (0_u8..128).filter(|it| met >> it & 1 == 1).collect()
}

/// All orders of four.
fn orders(four: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (a, one) in four.iter().enumerate() {
        for (b, two) in four.iter().enumerate().filter(|it| it.0 != a) {
            for (c, three) in four.iter().enumerate().filter(|it| it.0 != a && it.0 != b) {
                let last = four.iter().enumerate().find(|it| ![a, b, c].contains(&it.0));
                all.extend(last.map(|it| vec![*one, *two, *three, *it.1]));
            }
        }
    }
    all
}

/// Sixteen letters in a row, from any one on.
fn sixteen_say_text(bytes: &[u8], kinds: &[u8]) -> bool {
    let (Some(first), Some(last)) = (kinds.first(), kinds.last()) else { return false };
    if bytes.len() < SIXTEEN_LETTERS_MIN || !first.is_ascii_alphabetic() || last - first >= 16 {
        return false;
    }
    (last.saturating_sub(15)..=*first).any(|from| {
        let letters: Vec<u8> = (from..=from.saturating_add(15)).collect();
        says_text(bytes, &letters, 4)
    })
}

/// With so many bits to a letter, by its place among `letters`.
fn says_text(bytes: &[u8], letters: &[u8], bits: usize) -> bool {
    let place =
        |it: &u8| letters.iter().position(|one| one == it).and_then(|it| u8::try_from(it).ok());
    let byte = |group: &[u8]| group.iter().try_fold(0_u8, |sum, it| Some(sum << bits | place(it)?));
    let groups: Option<Vec<u8>> = bytes.chunks_exact(8 / bits).map(byte).collect();
    groups.is_some_and(|it| is_text_of_words(&it))
}

/// Three digits to a character, in eights or tens.
fn threes_say_text(digits: &[u8], base: u32) -> bool {
    let code = |it: &[u8]| {
        let written = std::str::from_utf8(it).ok()?;
        u8::from_str_radix(written, base).ok().filter(|it| matches!(it, b' '..=b'~'))
    };
    let codes: Option<Vec<u8>> = digits.chunks_exact(3).map(code).collect();
    codes.is_some_and(|it| is_text_of_words(&it))
}

/// Does a text stand in it, five signs to four bytes?
pub(super) fn signs_say_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let unusual = |it: &&u8| !it.is_ascii_alphanumeric() && !b"-_./=, +".contains(it);
    if bytes.len() < SIGNS_MIN
        || bytes.iter().filter(unusual).take(UNUSUAL_MIN).count() < UNUSUAL_MIN
        || !bytes.iter().all(u8::is_ascii_graphic)
    {
        return false;
    }
    let of = |order: &'static [u8; 85]| {
        move |it: u8| order.iter().position(|one| *one == it).and_then(|it| u32::try_from(it).ok())
    };
    let ascii = |it: u8| it.checked_sub(b'!').filter(|it| *it < 85).map(u32::from);
    let whole = bytes.strip_prefix(b"<~").unwrap_or(bytes);
    fives(whole, ascii) || fives(bytes, of(RFC1924)) || fives(bytes, of(Z85))
}

fn fives(bytes: &[u8], place: impl Fn(u8) -> Option<u32>) -> bool {
    let mut found = Vec::new();
    for group in bytes.chunks_exact(5) {
        let number =
            group.iter().try_fold(0_u32, |sum, it| sum.checked_mul(85)?.checked_add(place(*it)?));
        let Some(number) = number else { return false };
        found.extend(number.to_be_bytes());
    }
    // What was filled up at its end.
    let end = found.iter().rposition(|it| *it != 0).map_or(0, |it| it + 1);
    is_text_of_words(found.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "the secret key is hunter2";

    fn in_letters(letters: &[u8], bits: u32) -> String {
        let mut out = String::new();
        for byte in SECRET.bytes() {
            for at in (0..8 / bits).rev() {
                let value = byte >> (at * bits) & ((1 << bits) - 1);
                out.push(char::from(letters[usize::from(value)]));
            }
        }
        out
    }

    #[test]
    fn few_letters_are_read_in_any_order() {
        for (letters, bits) in [
            (&b"ab"[..], 1),
            (b"ox", 1),
            (b"xo", 1),
            (b"ACGT", 2),
            (b"TGAC", 2),
            (b"abcdefghijklmnop", 4),
            (b"GHIJKLMNOPQRSTUV", 4),
        ] {
            let text = in_letters(letters, bits);
            assert!(few_letters_say_text(&text), "{text}");
        }
        let threes: String = SECRET.bytes().map(|it| format!("{it:03}")).collect();
        let eights: String = SECRET.bytes().map(|it| format!("{it:03o}")).collect();
        assert!(few_letters_say_text(&threes) && few_letters_say_text(&eights));
        for text in [
            "ACGTACGTTAGCTAGCTAGGATCGATCGATTACGATCGATCGATCGGATCTAGCTAGCTAGCTA",
            "uurrddlluurrddlluurrddlllluurrdduurrddlluurrddlluurrddlllluurr",
            "xoxxooxoxxxoooxoxoxoxxoxooxoxoxxoxoxoxxooxoxxxoooxoxoxoxxoxooxoxoxxoxoxoxxooxoxxxoooxoxoxoxxoxoo",
            "123456789012345678901234567890123456",
            "20240301123000202403011230002024030112300",
            "acceleratedbackfilledblackjackfeedback",
            "",
        ] {
            assert!(!few_letters_say_text(text), "{text}");
        }
    }

    #[test]
    fn signs_are_read_in_their_three_orders() {
        for text in [
            "FD,5.F(Jj%ATT&1AU,D4F!,.=DKKH11*C\"CA0>u-AKZ/",
            "bZBKDb7f<4Wpp5GWqBZJb0BDSZggdGG9Y1YWFT~CWgvE8b!>DXX>%ZNaAj",
            "BzbkdB7F<4wPP5gwQbzjB0bdszGGDgg9y1ywft#cwGVe8B.(dxx(+znAaJ",
        ] {
            assert!(signs_say_text(text), "{text}");
        }
        for text in [
            "^([a-z0-9]+)?\\.(com|net)${1,3}",
            "{\"a\":[1,2,3],\"b\":\"c\",\"d\":{\"e\":\"f\"}}",
            "(a+b)*(c-d)/[e]^2={x}&<>!",
            "title:\"the quick brown fox\"",
            "",
        ] {
            assert!(!signs_say_text(text), "{text}");
        }
    }
}
