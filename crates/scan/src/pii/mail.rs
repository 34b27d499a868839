//! Addresses of mail.

use psl::Psl as _;

use super::{Confidence, Personal};

/// The longest part before the `@`, and the longest host.
const LOCAL_BYTES_MAX: usize = 64;
const HOST_BYTES_MAX: usize = 253;
/// A shorter name is a placeholder.
const LOCAL_BYTES_MIN: usize = 2;
/// The `@` of East Asian typing.
const WIDE_AT: &str = "\u{ff20}";

/// Adds the addresses of `text`.
pub(super) fn find(text: &str, all: &mut Vec<Personal>) {
    for at in memchr::memchr_iter(b'@', text.as_bytes()) {
        all.extend(around(text, at, at + 1));
    }
    if !text.is_ascii() {
        for at in memchr::memmem::find_iter(text.as_bytes(), WIDE_AT) {
            all.extend(around(text, at, at + WIDE_AT.len()));
        }
    }
}

fn around(text: &str, at: usize, behind: usize) -> Option<Personal> {
    let local = text
        .as_bytes()
        .get(..at)?
        .iter()
        .rev()
        .take(LOCAL_BYTES_MAX + 1)
        .take_while(|it| is_local(**it))
        .count();
    let host = text
        .as_bytes()
        .get(behind..)?
        .iter()
        .take(HOST_BYTES_MAX)
        .take_while(|it| is_host(**it))
        .count();
    let name = text.get(at - local..at)?;
    let skipped = name.len() - name.trim_start_matches(['.', '-', '+', '\'', '%', '_']).len();
    let host = text.get(behind..behind + host)?.trim_end_matches(['.', '-']);
    let end = behind + host.len();
    // `git@host:path` and `name:password@host` are no addresses of people.
    let next = text.as_bytes().get(end..end + 2);
    let is_remote = matches!(next, Some([b':', path]) if !path.is_ascii_whitespace());
    let counts = (LOCAL_BYTES_MIN..=LOCAL_BYTES_MAX).contains(&(local - skipped))
        && !is_remote
        && is_registrable(host);
    let (start, confidence) = (at - local + skipped, Confidence::Form);
    counts.then_some(Personal { rule: "email", kind: "email", confidence, start, end })
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'%' | b'\'')
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

/// Tells whether the host is a name under a suffix that exists, or one that is kept for examples.
fn is_registrable(host: &str) -> bool {
    let lower = host.to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or_default();
    let labels =
        lower.split('.').all(|it| !it.is_empty() && !it.starts_with('-') && !it.ends_with('-'));
    let reserved = matches!(last, "example" | "test" | "invalid");
    let known = psl::List.suffix(lower.as_bytes()).is_some_and(|it| it.is_known())
        && psl::List.domain(lower.as_bytes()).is_some();
    labels && lower.contains('.') && (known || reserved)
}
