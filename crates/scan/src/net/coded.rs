//! Ways to put a text into letters or numbers: would somebody who undoes them have words before them?

use data_encoding::{BASE32_NOPAD, BASE64, HEXLOWER_PERMISSIVE};

use super::encoded::LETTERS_MIN;

/// The fewest letters in base64 and base32, which words are written in, too.
pub(super) const WORD_LETTERS_MIN: usize = 24;
/// The fewest in hexadecimal that are looked for amid others: those of a digest make sense by accident.
const HEX_AMID_MIN: usize = 32;
/// The fewest different letters of a text amid others.
const DIFFERENT_MIN: u32 = 7;
/// The fewest ones and zeros.
const BITS_MIN: usize = 80;
/// The fewest numbers of characters.
const CODES_MIN: usize = 16;
/// What stands between words and in lists of names and values. Of other signs a text has few.
const SIGNS: &str = " \t\r\n\"'(){}[]:,.;=@/_-&";
/// Length of a UUID as it is written.
const UUID_LETTERS: usize = 36;

/// Does a text stand in it, from its beginning or amid other letters?
pub(super) fn decodes_to_text(run: &str) -> bool {
    let run = run.trim_end_matches('=').as_bytes();
    let is_hex = run.len() >= LETTERS_MIN && run.iter().all(u8::is_ascii_hexdigit);
    if is_hex {
        let amid = run.windows(HEX_AMID_MIN).any(|it| is_text_of(of_hex(it)));
        if amid || is_text_of(of_hex(whole(run, 2))) || is_text_of(of_bits(run)) {
            return true;
        }
    }
    if run.len() < WORD_LETTERS_MIN {
        return false;
    }
    is_text_of(of_base64(whole(run, 4)))
        || run.windows(WORD_LETTERS_MIN).any(|it| {
            (may_be_base64(it) && has_words(of_base64(it)))
                || (may_be_base32(it) && has_words(of_base32(it)))
        })
}

/// Text that has letters and blanks for two thirds, and not the same few again and again: signs that stand between
/// numbers are no words, nor is a word that is repeated.
fn has_words(bytes: Option<Vec<u8>>) -> bool {
    bytes.is_some_and(|it| {
        let letters = it.iter().filter(|it| it.is_ascii_alphabetic() || **it == b' ').count();
        let different = it.iter().fold(0_u128, |met, it| met | 1 << (it & 127)).count_ones();
        letters * 3 > it.len() * 2 && different >= DIFFERENT_MIN && is_text(&it)
    })
}

/// The same of bytes that are there.
pub(super) fn is_text_of_words(bytes: &[u8]) -> bool {
    has_words(Some(bytes.to_vec()))
}

/// Whole groups only: what hangs over is a byte or two.
fn whole(run: &[u8], letters: usize) -> &[u8] {
    run.get(..run.len() - run.len() % letters).unwrap_or_default()
}

fn is_text_of(bytes: Option<Vec<u8>>) -> bool {
    bytes.is_some_and(|it| is_text(&it))
}

fn of_hex(run: &[u8]) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(run).ok()
}

/// Ones and zeros, eight to a byte.
fn of_bits(run: &[u8]) -> Option<Vec<u8>> {
    let are_bits = run.len() >= BITS_MIN && run.iter().all(|it| matches!(it, b'0' | b'1'));
    let byte = |it: &[u8]| it.iter().fold(0_u8, |sum, it| sum << 1 | (it & 1));
    are_bits.then(|| whole(run, 8).chunks(8).map(byte).collect())
}

/// The first letter of a group has the first bit of a byte, which in ASCII is none.
fn may_be_base64(run: &[u8]) -> bool {
    run.iter().step_by(4).all(|it| matches!(it, b'A'..=b'Z' | b'a'..=b'f'))
}

fn of_base64(run: &[u8]) -> Option<Vec<u8>> {
    let usual = |it: &u8| match it {
        b'-' => b'+',
        b'_' => b'/',
        other => *other,
    };
    BASE64.decode(&run.iter().map(usual).collect::<Vec<u8>>()).ok()
}

/// As above: the first letter of a group is of the first half.
fn may_be_base32(run: &[u8]) -> bool {
    run.iter().step_by(8).all(|it| matches!(it, b'A'..=b'P' | b'a'..=b'p'))
}

fn of_base32(run: &[u8]) -> Option<Vec<u8>> {
    BASE32_NOPAD.decode(&run.to_ascii_uppercase()).ok()
}

/// Words in ASCII, UTF-8 or UTF-16.
fn is_text(bytes: &[u8]) -> bool {
    let every_other = |from: usize| bytes.iter().skip(from).step_by(2);
    let are_none = |from: usize| every_other(from).all(|it| *it == 0);
    let of_ascii = |from: usize| every_other(from).copied().collect::<Vec<u8>>();
    match (are_none(0), are_none(1)) {
        (false, false) => are_words(bytes),
        (true, false) => are_words(&of_ascii(1)),
        (false, true) => are_words(&of_ascii(0)),
        (true, true) => false,
    }
}

/// Printable throughout, letters for the most part, and hardly a sign that is none of a text.
fn are_words(bytes: &[u8]) -> bool {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if error.error_len().is_none() => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(before).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let (mut all, mut letters, mut signs) = (0_usize, 0_usize, 0_usize);
    for one in text.chars() {
        if one.is_control() && !one.is_ascii_whitespace() {
            return false;
        }
        all += 1;
        letters += usize::from(one.is_alphanumeric());
        signs += usize::from(!one.is_alphanumeric() && !SIGNS.contains(one));
    }
    letters * 2 > all && signs * 4 <= all && !is_uuid(bytes)
}

/// An id or the beginning of one, which some services encode once more.
fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() <= UUID_LETTERS
        && bytes.contains(&b'-')
        && bytes.iter().all(|it| it.is_ascii_hexdigit() || *it == b'-')
}

/// Do the numbers in it, read as those of characters, make a text? Numbers that only grow count something.
pub(super) fn codes_to_text(text: &str) -> bool {
    let numbers = || text.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    [code, octal].into_iter().any(|read: fn(&str) -> Option<u8>| {
        let codes: Option<Vec<u8>> =
            numbers().map(|it| read(it).filter(|it| matches!(it, b' '..=b'~'))).collect();
        let Some(codes) = codes.filter(|it| it.len() >= CODES_MIN) else { return false };
        let letters = codes.iter().filter(|it| it.is_ascii_alphabetic()).count();
        letters * 5 > codes.len() * 3 && !codes.is_sorted() && !codes.iter().rev().is_sorted()
    })
}

/// The same in eights: `150`.
fn octal(written: &str) -> Option<u8> {
    u8::from_str_radix(written, 8).ok()
}

/// The number of a character: `104`, `0x68`, `x68`, `u0068`, `01101000`.
fn code(written: &str) -> Option<u8> {
    let hex = written.strip_prefix("0x").or_else(|| written.strip_prefix(['x', 'u', 'U']));
    match hex {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None if written.len() == 8 => u8::from_str_radix(written, 2).ok(),
        None => written.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_known_in_many_codings() {
        let secret = "the secret key is hunter2";
        let base64 = BASE64.encode(secret.as_bytes());
        let of = |bytes: &[u8]| BASE64.encode(bytes);
        let wide: Vec<u8> = secret.bytes().flat_map(|it| [it, 0]).collect();
        let bits: String = secret.bytes().map(|it| format!("{it:08b}")).collect();
        for run in [
            base64.clone(),
            format!("x{base64}"),
            format!("9_{base64}"),
            format!("{base64}zzzzzzzzzzzzzzz"),
            of(&wide),
            of("пароль от сейфа".as_bytes()),
            of("das Paßwort für heute".as_bytes()),
            BASE32_NOPAD.encode(secret.as_bytes()).to_lowercase(),
            format!("7{}", BASE32_NOPAD.encode(secret.as_bytes())),
            HEXLOWER_PERMISSIVE.encode(secret.as_bytes()),
            format!("0{}", HEXLOWER_PERMISSIVE.encode(secret.as_bytes())),
            HEXLOWER_PERMISSIVE.encode("密码是一二三四".as_bytes()),
            bits,
        ] {
            assert!(decodes_to_text(&run), "{run}");
        }
        for run in [
            "1110100111101001111010011110100111101001111010011110100111101001111010011110100111101001",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "internationalizationandlocalizationofdocumentation",
            "M3wxMjA3fDB8MHxwaG90by1wYWdlfHx8fGVufDB8fHx8fA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "wordwordwordwordwordwordwordwordword",
            "MmY5YzFlN2EtNGI2ZC00YzhlLTlmMGEtMWIy",
            "",
        ] {
            assert!(!decodes_to_text(run), "{run}");
        }
    }

    #[test]
    fn numbers_of_characters_are_text_and_counts_are_not() {
        let codes = |text: &str, joint: &str| {
            text.bytes().map(|it| it.to_string()).collect::<Vec<_>>().join(joint)
        };
        for joint in [",", "-", ".", ";&#"] {
            assert!(codes_to_text(&codes("the secret key is hunter2", joint)), "{joint}");
        }
        let each = |form: fn(u8) -> String| -> String {
            "the secret key is hunter2".bytes().map(form).collect()
        };
        for text in [
            each(|it| format!("0x{it:02x},")),
            each(|it| format!("\\x{it:02X}")),
            each(|it| format!("\\u{it:04x}")),
            each(|it| format!("{it:o}-")),
            each(|it| format!("{it:08b} ")),
        ] {
            assert!(codes_to_text(&text), "{text}");
        }
        for text in [
            "65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81",
            "90,88,86,84,82,80,78,76,74,72,70,68,66,65,64,63",
            "40,60,60,45,47,75,70,72,80,90,110,99,40,60,60,45",
            "72,101,108,108,111",
            "101,102,300,104,105,106,107,108,109,110,111,112,113,114,115,116,117",
            "",
        ] {
            assert!(!codes_to_text(text), "{text}");
        }
    }
}
