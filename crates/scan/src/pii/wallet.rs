//! Addresses of crypto wallets, by their checksums.

use sha2::{Digest as _, Sha256};

use super::{Confidence, Personal};

/// Letters and digits of an address.
const WALLET_CHARS: std::ops::RangeInclusive<usize> = 26..=90;

/// Adds the addresses of wallets of `text`.
pub(super) fn find(text: &str, all: &mut Vec<Personal>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let least = *WALLET_CHARS.start();
    // Every long word covers one of the places that are the least length apart.
    while at < bytes.len() {
        if !bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
            at += least;
            continue;
        }
        let start = at
            - bytes
                .iter()
                .take(at)
                .rev()
                .take(least)
                .take_while(|it| it.is_ascii_alphanumeric())
                .count();
        let end = at + bytes.iter().skip(at).take_while(|it| it.is_ascii_alphanumeric()).count();
        if WALLET_CHARS.contains(&(end - start)) {
            let word = text.get(start..end).unwrap_or_default();
            all.extend(kind_of(word).map(|(rule, confidence)| {
                let kind = "wallet";
                Personal { rule, kind, confidence, start, end }
            }));
        }
        at = end + least;
    }
}

fn kind_of(word: &str) -> Option<(&'static str, Confidence)> {
    let checked = |is_right: bool, rule| is_right.then_some((rule, Confidence::Checked));
    if let Some(hex) = word.strip_prefix("0x") {
        return (hex.len() == 40 && hex.bytes().all(|it| it.is_ascii_hexdigit()))
            .then_some(("wallet-ethereum", Confidence::Form));
    }
    if word.starts_with("bc1") || word.starts_with("tb1") || word.starts_with("ltc1") {
        return checked(is_bech32(word), "wallet-bitcoin");
    }
    match (word.as_bytes().first()?, word.len()) {
        (b'1' | b'3', 26..=35) => checked(has_sum(word), "wallet-bitcoin"),
        (b'L' | b'M', 26..=35) => checked(has_sum(word), "wallet-litecoin"),
        (b'D', 34) => checked(has_sum(word), "wallet-dogecoin"),
        (b'T', 34) => checked(has_sum(word), "wallet-tron"),
        _ => None,
    }
}

/// The last four of 25 bytes in base 58 are the beginning of the hash of the hash of the others.
fn has_sum(word: &str) -> bool {
    const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut number = [0_u8; 25];
    for byte in word.bytes() {
        let Some(digit) = DIGITS.iter().position(|it| *it == byte) else { return false };
        let mut carry = digit;
        for place in number.iter_mut().rev() {
            carry += usize::from(*place) * 58;
            *place = u8::try_from(carry % 256).unwrap_or_default();
            carry /= 256;
        }
        if carry > 0 {
            return false;
        }
    }
    let (payload, sum) = number.split_at(21);
    Sha256::digest(Sha256::digest(payload)).starts_with(sum)
}

/// The checksum of bech32 and of bech32m.
fn is_bech32(word: &str) -> bool {
    const DIGITS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const GENERATORS: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let lower = word.to_ascii_lowercase();
    let Some((name, data)) = lower.rsplit_once('1') else { return false };
    let mut sum = 1_u32;
    let mut add = |value: u32| {
        let top = sum >> 25;
        sum = ((sum & 0x1ff_ffff) << 5) ^ value;
        for (at, generator) in GENERATORS.iter().enumerate() {
            sum ^= if (top >> at) & 1 == 1 { *generator } else { 0 };
        }
    };
    name.bytes().for_each(|it| add(u32::from(it >> 5)));
    add(0);
    name.bytes().for_each(|it| add(u32::from(it & 31)));
    for byte in data.bytes() {
        let Some(digit) = DIGITS.iter().position(|it| *it == byte) else { return false };
        add(u32::try_from(digit).unwrap_or_default());
    }
    matches!(sum, 1 | 0x2bc8_30a3)
}
