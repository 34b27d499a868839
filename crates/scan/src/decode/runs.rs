//! Text that is told in base64, base32 or hexadecimal digits.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER_PERMISSIVE};

use super::{Decoded, base32, narrow};

/// The shortest run that can hold a leak, in characters.
const RUN_MIN: usize = 16;

/// Finds what can be decoded in `text`, all of it. Linear: each character is in one run at most, each run is decoded once, and what
/// comes out is shorter.
pub(crate) fn find(text: &str) -> Vec<Decoded> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    // Every run that is long enough covers one of the places that are a run's least length apart.
    while let Some(byte) = bytes.get(at) {
        if !is_base64(*byte) || is_cut(bytes, at) {
            at += RUN_MIN;
            continue;
        }
        let before = bytes.iter().take(at).rev().take(RUN_MIN);
        let start = at - before.take_while(|it| is_base64(**it)).count();
        let end = run_end(bytes, start);
        let run = bytes.get(start..end).unwrap_or_default();
        if run.len() >= RUN_MIN
            && let Some(text) = decoded(run)
        {
            found.push(Decoded { start, end, text });
        }
        at = end + RUN_MIN;
    }
    found
}

/// Tells whether a space stands closely before the place and another closely behind it: then it lies in an ordinary word.
pub(crate) fn is_cut(bytes: &[u8], at: usize) -> bool {
    let has_space = |eight: Option<&[u8; 8]>| {
        eight.is_some_and(|it| {
            // A byte that is a space becomes zero, and of all bytes only zero borrows into its highest bit.
            let spaces = u64::from_le_bytes(*it) ^ 0x2020_2020_2020_2020;
            spaces.wrapping_sub(0x0101_0101_0101_0101) & !spaces & 0x8080_8080_8080_8080 != 0
        })
    };
    let before = at.checked_sub(8).and_then(|it| bytes.get(it..at)).and_then(<[u8]>::first_chunk);
    has_space(before) && has_space(bytes.get(at..).and_then(<[u8]>::first_chunk))
}

/// The end of a run that may be broken into lines: encoders break them.
pub(crate) fn run_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    loop {
        end += bytes.iter().skip(end).take_while(|it| is_base64(**it)).count();
        let line = end - start;
        let breaks = bytes.iter().skip(end).take_while(|it| matches!(it, b'\n' | b'\r')).count();
        let goes_on = bytes.get(end + breaks).is_some_and(|it| is_base64(*it));
        if line < RUN_MIN || breaks == 0 || breaks > 2 || !goes_on {
            return end;
        }
        end += breaks;
    }
}

fn decoded(run: &[u8]) -> Option<String> {
    let run: Vec<u8> = run.iter().copied().filter(|it| !matches!(it, b'\n' | b'\r')).collect();
    let is_hex = run.iter().all(u8::is_ascii_hexdigit);
    let hex = is_hex.then(|| whole(&run, 2)).and_then(|it| HEXLOWER_PERMISSIVE.decode(it?).ok());
    if let Some(text) = hex.and_then(text_of) {
        return Some(text);
    }
    if let Some(text) = base32(&run).and_then(text_of) {
        return Some(text);
    }
    // A word of letters alone decodes to noise, which is no text.
    let base64 = |run: &[u8]| {
        let all = BASE64_NOPAD.decode(run).or_else(|_| BASE64URL_NOPAD.decode(run)).ok();
        all.or_else(|| {
            let run = whole(run, 4)?;
            BASE64_NOPAD.decode(run).or_else(|_| BASE64URL_NOPAD.decode(run)).ok()
        })
    };
    base64(&run).and_then(text_of)
}

/// What is left of a group cannot be decoded alone.
fn whole(run: &[u8], group: usize) -> Option<&[u8]> {
    run.get(..run.len() - run.len() % group)
}

/// Most of what is encoded is no text: pictures, digests, names that only look encoded.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    let text = match String::from_utf8(narrow(bytes)) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            if bytes.len() - valid > 3 {
                return None;
            }
            bytes.truncate(valid);
            String::from_utf8(bytes).ok()?
        }
    };
    let odd = text.chars().filter(|it| it.is_control() && !it.is_whitespace()).count();
    (odd == 0 && !text.is_empty()).then_some(text)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        find(text).into_iter().map(|it| it.text).collect()
    }

    #[test]
    fn runs_are_decoded_and_words_are_not() {
        let long = "Never mention the refund override code. Escalate to Dana.";
        let one = data_encoding::BASE64.encode(long.as_bytes());
        let (first, second) = one.split_at(40);
        assert_eq!(texts(&format!("here: {one} ok")), [long]);
        assert_eq!(texts(&format!("{first}\n{second}")).len(), 1);
        assert_eq!(texts(&data_encoding::HEXLOWER.encode(long.as_bytes())), [long]);
        assert_eq!(texts(&data_encoding::BASE32.encode(long.as_bytes())), [long]);
        let wide: Vec<u8> = long.bytes().flat_map(|it| [it, 0]).collect();
        assert_eq!(texts(&data_encoding::BASE64.encode(&wide)), [long]);
        assert!(
            texts("internationalization and characterization of antidisestablishment").is_empty()
        );
    }
}
