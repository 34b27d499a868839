//! Addresses of machines: IP and MAC.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Confidence, Personal};

/// The longest address in text, in bytes.
const ADDRESS_BYTES_MAX: usize = 45;
/// Every address has at least so many marks between its parts.
const MARKS_MIN: usize = 2;

/// Adds the addresses of `text`.
pub(super) fn find(text: &str, all: &mut Vec<Personal>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // Every address has marks in it, and most runs of text have none.
    for mark in memchr::memchr3_iter(b'.', b':', b'-', bytes) {
        if mark < at {
            continue;
        }
        let before = bytes.get(at..mark).unwrap_or_default().iter().rev();
        let start = mark - before.take_while(|it| is_part(**it)).count();
        at = mark + bytes.iter().skip(mark).take_while(|it| is_part(**it)).count();
        let length = at - start;
        let run = bytes.get(mark..at).unwrap_or_default();
        if run.iter().filter(|it| is_mark(**it)).nth(MARKS_MIN - 1).is_none() {
            continue;
        }
        // A word before or behind it makes it something else.
        let touches = |place: Option<usize>| {
            place
                .and_then(|it| bytes.get(it))
                .is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_')
        };
        if !(7..=ADDRESS_BYTES_MAX + 1).contains(&length.max(7))
            || touches(start.checked_sub(1))
            || touches(Some(at))
        {
            continue;
        }
        let word = text.get(start..at).unwrap_or_default();
        let trimmed = word.trim_end_matches(['.', '-']);
        let trimmed = if trimmed.ends_with(':') && !trimmed.ends_with("::") {
            trimmed.trim_end_matches(':')
        } else {
            trimmed
        };
        if let Some((rule, kind, length)) = kind_of(trimmed) {
            let confidence = Confidence::Form;
            all.push(Personal { rule, kind, confidence, start, end: start + length });
        }
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || is_mark(byte)
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'.' | b':' | b'-')
}

fn kind_of(word: &str) -> Option<(&'static str, &'static str, usize)> {
    let host = word
        .rsplit_once(':')
        .filter(|it| it.0.parse::<Ipv4Addr>().is_ok() && it.1.parse::<u16>().is_ok());
    let word = host.map_or(word, |it| it.0);
    if word.len() > ADDRESS_BYTES_MAX {
        return None;
    }
    match word.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) if !is_nobody(address) => return Some(("ip-v4", "ip", word.len())),
        Ok(IpAddr::V6(address)) if word.len() > 2 && address != Ipv6Addr::UNSPECIFIED => {
            return Some(("ip-v6", "ip", word.len()));
        }
        Ok(_) | Err(_) => {}
    }
    is_mac(word).then_some(("mac", "mac", word.len()))
}

/// Addresses that stand for no machine, or for the reader's own.
fn is_nobody(address: Ipv4Addr) -> bool {
    address.is_unspecified() || address.is_broadcast() || address.is_loopback()
}

fn is_mac(word: &str) -> bool {
    let six = |mark: char| {
        let parts: Vec<&str> = word.split(mark).collect();
        parts.len() == 6 && parts.iter().all(|it| it.len() == 2)
    };
    let dotted = || {
        let parts: Vec<&str> = word.split('.').collect();
        parts.len() == 3 && parts.iter().all(|it| it.len() == 4)
    };
    let digits: Vec<u8> =
        word.bytes().filter(u8::is_ascii_hexdigit).map(|it| it.to_ascii_lowercase()).collect();
    let varied = digits.iter().any(|it| Some(it) != digits.first());
    digits.len() == 12 && varied && (six(':') || six('-') || dotted())
}
