//! Is it words, or data that was put into letters?

use std::borrow::Cow;

use super::alphabets::{few_letters_say_text, signs_say_text};
use super::coded::{WORD_LETTERS_MIN, codes_to_text, decodes_to_text};
use super::words::{are_no_words, are_shifted_words};

/// What data looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// It decodes to text that people read.
    Text,
    /// Letters and digits as chance would have them.
    Random,
}

/// The fewest letters that are decoded: shorter ones make sense by accident.
pub(super) const LETTERS_MIN: usize = 20;
/// Bits per letter that words in one case seldom have.
const ENTROPY_BITS_MIN: f64 = 3.0;
/// Changes between small letters, capitals and digits, in a hundred letters.
const CHANGES_PERCENT_MIN: usize = 25;
/// Lengths of digests in hexadecimal: names of commits, files and images.
const DIGEST_LETTERS: &[usize] = &[32, 40, 56, 64, 96, 128];
/// Digits in a row that are no number of anything any more, and bits per digit that such a number has at least.
const NUMBER_DIGITS_MIN: usize = 40;
const NUMBER_ENTROPY_BITS_MIN: f64 = 2.3;
/// Letters without a digit that are held against words.
const PLAIN_LETTERS_MIN: usize = 40;
/// Bytes that are no text in any encoding of text, and how many of them no such encoding has at all.
const BINARY_BYTES_MIN: usize = 16;
const CONTROLS_MIN: usize = 2;
/// Characters that nobody sees, in one value.
const UNSEEN_MIN: usize = 8;
/// Pieces with which text in pieces may begin, and how much of it is looked at, in letters.
const STARTS_MAX: usize = 8;
const JOINED_LETTERS_MAX: usize = 32;

/// The data in a text, in which it may stand between other characters. It counts as random if it is as
/// long as `random_min`.
pub(super) fn data_in(text: &str, random_min: usize) -> Option<Data> {
    let runs = || text.split(|it: char| !is_of_base64(it));
    let mut long = runs().filter(|run| run.len() >= LETTERS_MIN.min(random_min));
    let found = long.find_map(|run| data_of(run, random_min));
    let in_pieces = || {
        text_in_pieces(&runs().collect::<Vec<_>>())
            || codes_to_text(text)
            || are_shifted_words(text)
            || signs_say_text(text)
    };
    let text_of_it = || in_pieces().then_some(Data::Text);
    found.or_else(text_of_it).or_else(|| is_no_text(text).then_some(Data::Random))
}

/// Bytes that were never text, or characters that are there for nobody to see.
fn is_no_text(text: &str) -> bool {
    if text.bytes().all(|it| it.is_ascii_graphic()) {
        return false;
    }
    let count = |which: fn(char) -> bool| text.chars().filter(|it| which(*it)).count();
    let controls = count(|it| it.is_ascii_control() && !it.is_ascii_whitespace());
    if controls >= CONTROLS_MIN
        && controls + count(|it| it == char::REPLACEMENT_CHARACTER) >= BINARY_BYTES_MIN
    {
        return true;
    }
    let unseen = count(crate::is_invisible);
    unseen >= UNSEEN_MIN && unseen * 4 >= text.chars().count()
}

fn data_of(run: &str, random_min: usize) -> Option<Data> {
    let parts: Vec<&str> = run.split(is_joint).collect();
    let says_text = |it: &str| decodes_to_text(it) || few_letters_say_text(it);
    if says_text(run) || parts.iter().any(|it| says_text(it)) || text_in_pieces(&parts) {
        return Some(Data::Text);
    }
    let rest = without_digest(run);
    let random = is_random(&rest) || is_long_number(&rest) || is_gibberish(&rest);
    (rest.len() >= random_min && random).then_some(Data::Random)
}

/// Digits alone, and more of them than a number has.
fn is_long_number(run: &str) -> bool {
    run.len() >= NUMBER_DIGITS_MIN
        && run.bytes().all(|it| it.is_ascii_digit())
        && entropy(run.as_bytes()) >= NUMBER_ENTROPY_BITS_MIN
}

/// Letters alone, and no words.
fn is_gibberish(run: &str) -> bool {
    run.len() >= PLAIN_LETTERS_MIN
        && run.bytes().all(|it| it.is_ascii_alphabetic())
        && entropy(run.to_ascii_lowercase().as_bytes()) >= ENTROPY_BITS_MIN
        && are_no_words(run)
}

/// Does text stand in it that was encoded and then cut into pieces? What follows behind the first of it is of no
/// concern.
pub(super) fn text_in_pieces(pieces: &[&str]) -> bool {
    let letters: usize = pieces.iter().map(|it| it.len()).sum();
    if pieces.len() < 2 || letters < WORD_LETTERS_MIN {
        return false;
    }
    let mut all = String::with_capacity(letters);
    let mut starts = Vec::with_capacity(STARTS_MAX);
    for (count, piece) in pieces.iter().enumerate() {
        if count < STARTS_MAX {
            starts.push(all.len());
        } else if starts.last().is_none_or(|it| all.len() >= it + JOINED_LETTERS_MAX) {
            break;
        }
        all.extend(piece.chars().filter(|it| is_of_base64(*it)));
    }
    starts.into_iter().any(|start| {
        let end = all.len().min(start + JOINED_LETTERS_MAX);
        let text = all.get(start..end).unwrap_or_default();
        // Numbers in a row are numbers.
        text.len() >= WORD_LETTERS_MIN
            && !text.bytes().all(|it| it.is_ascii_digit())
            && decodes_to_text(text)
    })
}

/// How much of each piece is a digest in hexadecimal, in letters, and how much looks random beside those, of pieces
/// that are as long as `random_min`.
pub(super) fn digests_and_random<'a>(
    pieces: impl Iterator<Item = &'a str>,
    random_min: usize,
) -> (usize, usize) {
    pieces.fold((0, 0), |(digests, random), piece| {
        let rest = without_digest(piece);
        let is_data = rest.len() >= random_min && is_random(&rest);
        let more = if is_data { rest.len() } else { 0 };
        (digests + piece.len().saturating_sub(rest.len()), random + more)
    })
}

/// What joins the parts of a name.
fn is_joint(it: char) -> bool {
    matches!(it, '-' | '_' | '/' | '=')
}

/// Without the first digest in hexadecimal in it: many names of files and of versions have one.
fn without_digest(run: &str) -> Cow<'_, str> {
    let is_digest = |part: &&str| {
        let number = part.strip_prefix("0x").unwrap_or(part);
        DIGEST_LETTERS.contains(&number.len()) && number.bytes().all(|it| it.is_ascii_hexdigit())
    };
    match run.split(is_joint).find(is_digest) {
        Some(digest) => run.replacen(digest, "", 1).into(),
        None => run.into(),
    }
}

fn is_of_base64(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '+' | '/' | '-' | '_' | '=')
}

/// The kinds of letters between which words seldom change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Small,
    Capital,
    Digit,
}

/// Letters and digits mixed as words and numbers are not.
pub(super) fn is_random(run: &str) -> bool {
    let kind = |it: u8| match it {
        b'a'..=b'z' => Some(Kind::Small),
        b'A'..=b'Z' => Some(Kind::Capital),
        b'0'..=b'9' => Some(Kind::Digit),
        _ => None,
    };
    let mut before = None;
    let (mut changes, mut digits, mut others) = (0_usize, 0_usize, 0_usize);
    for now in run.bytes().map(kind) {
        digits += usize::from(now == Some(Kind::Digit));
        others += usize::from(now.is_none());
        changes += match (before, now) {
            // A capital begins a word.
            (Some(Kind::Capital), Some(Kind::Small)) | (None, _) | (_, None) => 0,
            (Some(one), Some(other)) => usize::from(one != other),
        };
        before = now;
    }
    digits >= 2
        && digits < run.len()
        && others * 8 <= run.len()
        && changes * 100 >= run.len() * CHANGES_PERCENT_MIN
        && entropy(run.as_bytes()) >= ENTROPY_BITS_MIN
}

/// Shannon's, in bits per byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = bytes.len() as f64;
    let share = |count: &u32| f64::from(*count) / all;
    -counts.iter().filter(|it| **it > 0).map(share).map(|it| it * it.log2()).sum::<f64>()
}

/// Without percent signs. What is no text then has none of the letters that are looked at.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |it: u8| char::from(it).to_digit(16).and_then(|it| u8::try_from(it).ok());
        let mut ahead = rest.clone();
        let pair = (ahead.next().and_then(digit), ahead.next().and_then(digit));
        match pair {
            (Some(high), Some(low)) if byte == b'%' => {
                bytes.push(high << 4 | low);
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_told_from_words() {
        for text in [
            "c2VjcmV0IGtleSBpcyBodW50ZXIyIQ==",
            "736563726574206b65792069732068756e74657232",
            "ONSWG4TFOQQGWZLZEBUXGIDIOVXHIZLSGI",
            "x.eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.y",
        ] {
            assert_eq!(data_in(text, 40), Some(Data::Text), "{text}");
        }
        let random = "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k";
        assert_eq!(data_in(random, 40), Some(Data::Random));
        assert_eq!(data_in(random, 64), None);
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(data_in(&format!("{random}-{digest}"), 40), Some(Data::Random));
        assert_eq!(data_in(&format!("{digest}-{digest}"), 40), Some(Data::Random));
        // As long as a digest, and none.
        let long = "PliIX6meolEmA61eQjOMtei1jeZo3JOoJ37hYvAqxEKw9lCTxB03Remu64Yty6bZ";
        assert_eq!(data_in(long, 40), Some(Data::Random));
        // As long as a UUID, and none.
        assert_eq!(
            data_in("dGhlIHBhc3N3b3JkIG9mIHRoZSB2YXVsdDogaHVudGVyMiEh", 60),
            Some(Data::Text)
        );
        let hidden = "x-736563726574206b65792069732068756e74657232";
        assert_eq!(data_in(hidden, 40), Some(Data::Text));
        for text in [
            "the-quick-brown-fox-jumps-over-the-lazy-dog-and-goes-home-again",
            "getElementsByClassNameAndSomethingElseThatIsLongEnough",
            "2024-11-15-what-we-learned-from-100-incidents-in-12-months",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "123e4567-e89b-12d3-a456-426614174000",
            "app-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.css",
            "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
            "1f2e3d4c5b6a798890a1b2c3d4e5f607/20240301/auto/s3/aws4_request",
            "1111111111111111111111111111111111111111111111111111",
            "a1-b2-c3-d4-e5-f6-g7-h8-i9-j1-k2-l3-m4-n5-o6-p7-q8",
            "theQuickBrownFoxJumpsOverTheLazyDogAndGoesHomeAgain1",
            "internationalization-and-localization-of-documentation",
            "",
        ] {
            assert_eq!(data_in(text, 40), None, "{text}");
        }
    }

    #[test]
    fn text_is_seen_also_in_pieces() {
        let text = "c2VjcmV0IGtleSBpcyBodW50ZXIyIQ==";
        for size in [4, 7, 16] {
            let pieces: Vec<&str> = (0..text.len())
                .step_by(size)
                .filter_map(|it| text.get(it..text.len().min(it + size)))
                .collect();
            assert!(text_in_pieces(&pieces), "{pieces:?}");
            assert!(text_in_pieces(&[&["results"], &pieces[..], &["english"]].concat()));
        }
        for pieces in [
            &["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"][..],
            &["3132333435363738", "3435363738393132"],
            &["20240301", "20240302", "20240303", "20240304"],
            &["rust-lang", "rust", "commit", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
            &[text],
            &[],
        ] {
            assert!(!text_in_pieces(pieces), "{pieces:?}");
        }
    }
}
