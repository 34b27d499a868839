//! What tells a secret from a text of the same form: checksums, entropy, placeholders.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

/// A check that a form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// The last six characters are a CRC-32 of the others behind the first underscore, in base 62.
    Crc32,
    /// Sixteen characters of base32, of which one is a digit or which are an example of the documentation.
    Base32Key,
    /// A header in JSON that names its algorithm.
    Jwt,
    /// The same, once more in base64.
    JwtBase64,
    /// The first part is a number in base64.
    Discord,
    /// Letters of both cases, and a digit first.
    VaultShort,
}

/// How much a finding is to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The beginning of a secret, or a form that others have too.
    Weak,
    /// The form is right.
    Likely,
    /// The form is right, and so is its checksum.
    Certain,
}

impl Confidence {
    /// Returns the name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

impl Check {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "crc32" => Some(Self::Crc32),
            "base32-key" => Some(Self::Base32Key),
            "jwt" => Some(Self::Jwt),
            "jwt-base64" => Some(Self::JwtBase64),
            "discord" => Some(Self::Discord),
            "vault-short" => Some(Self::VaultShort),
            _ => None,
        }
    }

    /// Returns how much `value` is to be believed; nothing if it is no secret.
    pub(super) fn confidence(self, value: &str) -> Option<Confidence> {
        match self {
            Self::Crc32 if has_crc32(value) => Some(Confidence::Certain),
            // Made up for a test or mistyped; but whoever reads a log wants to know.
            Self::Crc32 => Some(Confidence::Likely),
            Self::Base32Key => Some(Confidence::Likely),
            Self::Jwt => has_algorithm(value).then_some(Confidence::Certain),
            Self::JwtBase64 => Some(Confidence::Likely),
            Self::Discord => {
                let first = value.split('.').next().unwrap_or_default();
                let id = BASE64URL_NOPAD.decode(first.as_bytes()).ok()?;
                id.iter().all(u8::is_ascii_digit).then_some(Confidence::Certain)
            }
            Self::VaultShort => {
                let inner = value.get(2..).unwrap_or_default();
                let upper = inner.bytes().filter(u8::is_ascii_uppercase).count();
                let lower = inner.bytes().filter(u8::is_ascii_lowercase).count();
                let digit = inner.bytes().filter(u8::is_ascii_digit).count();
                (upper >= 3 && lower >= 3 && digit >= 2 && entropy(inner) >= 3.5)
                    .then_some(Confidence::Likely)
            }
        }
    }
}

/// Returns the entropy of the characters of `text`, in bits per character.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts.iter_mut().skip(usize::from(byte)).take(1).for_each(|it| *it += 1);
    }
    let all = text.len().max(1) as f64;
    let used = counts.iter().filter(|it| **it > 0).map(|it| f64::from(*it) / all);
    used.map(|it| -it * it.log2()).sum()
}

/// Tells whether a value is written where a secret would stand: a variable, a placeholder, a word of the documentation.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let marks = [
        "${",
        "$(",
        "{{",
        "<",
        "...",
        "***",
        "%s",
        "process.env",
        "os.environ",
        "getenv",
        "[redacted",
    ];
    let words = [
        "example",
        "placeholder",
        "changeme",
        "change_me",
        "your_",
        "your-",
        "yourkey",
        "xxxx",
        "dummy",
        "redacted",
        "insert",
        "replace",
        "todo",
        "fixme",
        "not_a_",
        "fake",
        "123456789",
        "abcdefgh",
        "00000000",
        "sample",
    ];
    marks.iter().any(|it| lower.contains(it)) || words.iter().any(|it| lower.contains(it))
}

/// Tells whether most of a value is crosses or stars, as in a form to be filled in.
pub(super) fn is_filler(value: &str) -> bool {
    let runs = value.as_bytes().windows(FILLER_MIN);
    runs.into_iter()
        .any(|it| it.iter().all(|byte| matches!(byte, b'x' | b'X' | b'*' | b'#' | b'.')))
}

/// So many crosses in a row are no accident.
const FILLER_MIN: usize = 8;

fn has_crc32(value: &str) -> bool {
    let Some((_, inner)) = value.split_once('_') else { return false };
    let Some((payload, sum)) = inner.len().checked_sub(6).and_then(|it| inner.split_at_checked(it))
    else {
        return false;
    };
    base62(crc32(payload.as_bytes())) == sum.as_bytes()
}

/// Six digits of base 62.
fn base62(mut number: u32) -> [u8; 6] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS.get((number % 62) as usize).copied().unwrap_or(b'0');
        number /= 62;
    }
    digits
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

fn has_algorithm(value: &str) -> bool {
    let header = value.split('.').next().unwrap_or_default().as_bytes();
    let whole = header.get(..header.len() - header.len() % 4).unwrap_or_default();
    let decoded = [BASE64URL_NOPAD, BASE64_NOPAD]
        .into_iter()
        .find_map(|it| it.decode(header).or_else(|_| it.decode(whole)).ok());
    decoded
        .is_some_and(|it| memchr::memmem::find(&it, b"\"alg\"").is_some() || it.starts_with(b"{\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_as_the_format_says() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let payload = "k3Jx0aQm7ZbV9cNd2EfG5hIoLpRsTu";
        let sum = String::from_utf8(base62(crc32(payload.as_bytes())).to_vec()).unwrap();
        let token = format!("ghp_{payload}{sum}");
        assert_eq!(Check::Crc32.confidence(&token), Some(Confidence::Certain));
        assert_eq!(Check::Crc32.confidence(&token.replace("k3", "k4")), Some(Confidence::Likely));
    }

    #[test]
    fn entropy_is_in_bits() {
        assert!(entropy("aaaa") < 0.01);
        assert!((entropy("abcd") - 2.0).abs() < 0.01);
    }
}
