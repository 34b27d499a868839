//! Other spellings of an atom: percent, base64, hex, punycode, and addresses that are spoken.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER_PERMISSIVE};

/// The shortest token that is tried as base64 or hex, in characters.
pub(super) const HIDDEN_CHARS_MIN: usize = 12;
/// The longest, in characters.
const HIDDEN_CHARS_MAX: usize = 4096;
/// How often percent signs are decoded: twice is what a redirect needs.
const PERCENT_ROUNDS: usize = 2;

/// Percent signs decoded, up to two rounds, where the result is text.
pub(super) fn percent(text: &str) -> String {
    let mut now = text.to_owned();
    for _ in 0..PERCENT_ROUNDS {
        if !now.contains('%') {
            break;
        }
        match percent_once(&now) {
            Some(next) => now = next,
            None => break,
        }
    }
    now
}

fn percent_once(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let ahead = rest.clone();
        let pair = (byte == b'%').then(|| two_digits(ahead)).flatten();
        match pair {
            Some(value) => {
                bytes.push(value);
                rest.nth(1);
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

fn two_digits(mut ahead: std::str::Bytes<'_>) -> Option<u8> {
    let high = char::from(ahead.next()?).to_digit(16)?;
    let low = char::from(ahead.next()?).to_digit(16)?;
    u8::try_from(high * 16 + low).ok()
}

/// What `token` says if it is base64 or hex of plain text; both are tried, and one round more.
pub(super) fn hidden(token: &str) -> Vec<String> {
    let token = token.trim_end_matches(['=', '.', ':']);
    if !(HIDDEN_CHARS_MIN..=HIDDEN_CHARS_MAX).contains(&token.len()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for plain in once(token) {
        found.extend(once(plain.trim_end_matches('=')));
        found.push(plain);
    }
    found
}

fn once(token: &str) -> Vec<String> {
    // Nothing else is in the alphabet of any of them.
    let coded = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'-' | b'_');
    if token.len() < HIDDEN_CHARS_MIN || !token.bytes().all(coded) {
        return Vec::new();
    }
    let bytes = token.as_bytes();
    [
        HEXLOWER_PERMISSIVE.decode(bytes).ok(),
        BASE64_NOPAD.decode(bytes).ok(),
        BASE64URL_NOPAD.decode(bytes).ok(),
    ]
    .into_iter()
    .flatten()
    .filter_map(|it| String::from_utf8(it).ok())
    .filter(|it| it.chars().all(|it| !it.is_control() || it.is_whitespace()))
    .collect()
}

/// `name (at) host dot com` and its relatives as `name@host.com`; nothing if the text has none.
pub(super) fn spoken(text: &str) -> Option<String> {
    // Most texts have no sign of it.
    let bracket = |it: u8| matches!(it, b'(' | b'[' | b'{' | b'@');
    // Without a branch, so that many bytes are looked at at once.
    let has_bracket = text.bytes().fold(false, |found, it| found | bracket(it));
    if !has_bracket && !text.contains(" at sign ") {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    if !AT.iter().any(|it| lower.contains(it)) {
        return None;
    }
    let mut plain = lower;
    for at in AT {
        plain = plain.replace(at, "@");
    }
    for dot in DOT {
        plain = plain.replace(dot, ".");
    }
    Some(plain)
}

const AT: &[&str] =
    &[" (at) ", " [at] ", " {at} ", "(at)", "[at]", "{at}", " at sign ", " @ ", "＠"];
const DOT: &[&str] = &[" (dot) ", " [dot] ", "(dot)", "[dot]", "{dot}", " dot ", " . "];

/// A label of a host as it is read, if it is written in punycode (RFC 3492).
pub(super) fn unpunycode(label: &str) -> String {
    match label.strip_prefix("xn--").and_then(punycode) {
        Some(plain) => plain,
        None => label.to_owned(),
    }
}

fn punycode(code: &str) -> Option<String> {
    let (basic, extended) = code.rsplit_once('-').unwrap_or(("", code));
    let mut out: Vec<char> = basic.chars().collect();
    let (mut n, mut i, mut bias) = (128_u32, 0_u32, 72_u32);
    let mut digits = extended.chars();
    let mut first = true;
    while digits.clone().next().is_some() {
        let old = i;
        let (mut weight, mut k) = (1_u32, 36_u32);
        loop {
            let digit = digits.next()?.to_digit(36)?;
            // Punycode counts a–z first, then 0–9.
            let digit = if digit >= 10 { digit.checked_sub(10)? } else { digit.checked_add(26)? };
            i = i.checked_add(digit.checked_mul(weight)?)?;
            let threshold = k.saturating_sub(bias).clamp(1, 26);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(36_u32.checked_sub(threshold)?)?;
            k = k.checked_add(36)?;
        }
        let length = u32::try_from(out.len()).ok()?.checked_add(1)?;
        bias = adapt(i.checked_sub(old)?, length, first);
        first = false;
        n = n.checked_add(i / length)?;
        i %= length;
        out.insert(usize::try_from(i).ok()?, char::from_u32(n)?);
        i = i.checked_add(1)?;
        if out.len() > 63 {
            return None;
        }
    }
    Some(out.into_iter().collect())
}

fn adapt(delta: u32, length: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta = delta.saturating_add(delta / length.max(1));
    let mut k = 0_u32;
    while delta > 455 {
        delta /= 35;
        k = k.saturating_add(36);
    }
    k.saturating_add(36_u32.saturating_mul(delta) / delta.saturating_add(38))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read() {
        assert_eq!(unpunycode("xn--bcher-kva"), "bücher");
        assert_eq!(unpunycode("xn--80ak6aa92e"), "аррӏе");
        assert_eq!(unpunycode("plain"), "plain");
        assert_eq!(percent("a%2520b"), "a b");
        assert_eq!(percent("100%"), "100%");
        assert!(hidden("ZXZpbEB4LmNvbQ==").contains(&"evil@x.com".to_owned()));
        // Base64 of base64.
        assert!(hidden("WlhacGJFQjRMbU52YlE9PQ").contains(&"evil@x.com".to_owned()));
        assert!(hidden("internationalisation").is_empty());
    }
}
