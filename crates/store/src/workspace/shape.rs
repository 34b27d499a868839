//! Does a file look like another one in disguise: packed, encoded, in another encoding?

/// Bytes at the beginning of a file that are looked at.
pub(super) const SAMPLE_BYTES: usize = 64 * 1024;
/// A shorter file that is nothing but letters and digits is a word.
const ENCODED_BYTES_MIN: usize = 64;
/// A run of the alphabet of encodings that no word and no hash in a lock file has.
const RUN_BYTES_MIN: usize = 128;
/// Fewer different characters carry nothing.
const RUN_DISTINCT_MIN: u32 = 3;

/// What archives and compressed or encrypted files begin with.
const MAGIC: &[&[u8]] = &[
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"PK\x07\x08",
    b"\x1f\x8b",
    b"\x1f\x9d",
    b"\x1f\xa0",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x5d\x00\x00",
    b"LZIP",
    b"MSCF",
    b"!<arch>\n",
    b"070701",
    b"070707",
    b"hsqs",
    b"age-encryption.org/",
    b"-----BEGIN",
    b"Salted__",
    b"begin 644 ",
    b"begin-base64 ",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\x00\x00\xfe\xff",
];
/// Where tar writes its name.
const TAR_AT: usize = 257;

/// Looks at the beginning of a file.
pub(super) fn is_packed(sample: &[u8]) -> bool {
    MAGIC.iter().any(|it| sample.starts_with(it))
        || sample.get(TAR_AT..).is_some_and(|it| it.starts_with(b"ustar"))
        || is_encoded(sample)
        || is_wide(sample)
}

/// Base64, base32 or hex: nothing else in the whole sample, or a long run of it.
fn is_encoded(sample: &[u8]) -> bool {
    let legal = |it: u8| it.is_ascii_alphanumeric() || b"+/=_-".contains(&it);
    let mut lines = sample.split(|it| b"\r\n".contains(it)).filter(|it| !it.is_empty());
    let whole = sample.len() >= ENCODED_BYTES_MIN
        && distinct(sample) >= RUN_DISTINCT_MIN
        && lines.all(|it| it.iter().copied().all(legal));
    let mut runs = sample.split(|it| !legal(*it));
    whole || runs.any(|it| it.len() >= RUN_BYTES_MIN && distinct(it) >= RUN_DISTINCT_MIN)
}

fn distinct(run: &[u8]) -> u32 {
    let bit = |it: &u8| 1_u128.checked_shl(u32::from(*it)).unwrap_or(0);
    run.iter().map(bit).fold(0, |sum, it| sum | it).count_ones()
}

/// UTF-16 and UTF-32 without a mark: every other byte is zero.
fn is_wide(sample: &[u8]) -> bool {
    let zeros = |first: usize| sample.iter().skip(first).step_by(2).filter(|it| **it == 0).count();
    let pairs = sample.len() / 2;
    pairs >= 8 && (zeros(0) * 4 > pairs * 3) != (zeros(1) * 4 > pairs * 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_are_seen() {
        let mut tar = vec![b'a'; 600];
        tar.splice(257..262, *b"ustar");
        let base64 = "aGVsbG8gd29ybGQhIHRoaXMgaXMgYSB0ZXN0".repeat(4);
        let wide: Vec<u8> = "hello wide world".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wrapped = format!("{{\"data\": \"{base64}\"}}");
        for packed in [
            b"PK\x03\x04x".as_slice(),
            b"\x1f\x8bx",
            &tar,
            base64.as_bytes(),
            &wide,
            wrapped.as_bytes(),
        ] {
            assert!(is_packed(packed), "{:?}", String::from_utf8_lossy(packed));
        }
    }

    #[test]
    fn plain_files_are_not() {
        let separator = "-".repeat(300);
        for plain in ["", "word", "# Title\n\nSome prose.\n", "{\"a\": 1}", &separator] {
            assert!(!is_packed(plain.as_bytes()), "{plain}");
        }
        assert!(!is_packed(&[0; 100]));
    }
}
