//! The names inside of an archive. What is packed is as secret as it was.

use std::io::Read;

use flate2::read::GzDecoder;
use rawzip::ZipArchive;

/// Names that are looked at. One with more is looked at no further, and says so.
pub const MEMBERS_MAX: usize = 10_000;
/// Bytes that are unpacked to find the names of a compressed tar.
pub const UNPACKED_BYTES_MAX: u64 = 64 << 20;

/// The members of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// Their names as they stand there. They are no paths: nothing is unpacked by them.
    pub names: Vec<String>,
    /// Are these all?
    pub whole: bool,
}

/// The names in a zip or a tar, compressed or not; none if it is neither.
#[must_use]
pub fn members(bytes: &[u8]) -> Option<Members> {
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Some(zip(bytes));
    }
    if bytes.starts_with(b"\x1f\x8b") {
        let mut inner = GzDecoder::new(bytes).take(UNPACKED_BYTES_MAX);
        let mut block = Vec::new();
        // A gzip that is no tar has no names.
        let read = inner.by_ref().take(BLOCK as u64).read_to_end(&mut block);
        let is_tar = read.is_ok() && is_tar(&block);
        return is_tar.then(|| tar(block.as_slice().chain(inner)));
    }
    is_tar(bytes).then(|| tar(bytes))
}

fn zip(bytes: &[u8]) -> Members {
    let mut found = Members::default();
    let Ok(archive) = ZipArchive::from_slice(bytes) else { return found };
    for entry in archive.entries() {
        let Ok(entry) = entry else { return found };
        if found.names.len() >= MEMBERS_MAX {
            return found;
        }
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        found.names.push(name);
    }
    found.whole = true;
    found
}

const BLOCK: usize = 512;
/// Where tar writes its name.
const MAGIC_AT: usize = 257;
/// The longest name that stands in a block of its own.
const LONG_NAME_BYTES_MAX: u64 = 64 << 10;

fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(MAGIC_AT..).is_some_and(|it| it.starts_with(b"ustar"))
}

fn tar(mut source: impl Read) -> Members {
    let mut found = Members::default();
    let mut long: Option<String> = None;
    let mut block = [0; BLOCK];
    while source.read_exact(&mut block).is_ok() {
        if block.iter().all(|it| *it == 0) {
            found.whole = true;
            return found;
        }
        let Some(size) = octal(block.get(124..136).unwrap_or_default()) else { return found };
        let padded = size.next_multiple_of(BLOCK as u64);
        let kind = block.get(156).copied().unwrap_or_default();
        // Names that do not fit stand before their file: GNU's as they are, POSIX's as `path=…`.
        if matches!(kind, b'L' | b'x') && size <= LONG_NAME_BYTES_MAX {
            let mut bytes = vec![0; usize::try_from(padded).unwrap_or(0)];
            if source.read_exact(&mut bytes).is_err() {
                return found;
            }
            bytes.truncate(usize::try_from(size).unwrap_or(0));
            let text = String::from_utf8_lossy(&bytes).into_owned();
            long = if kind == b'L' {
                Some(text.trim_end_matches('\0').to_owned())
            } else {
                pax(&text).or(long)
            };
            continue;
        }
        if found.names.len() >= MEMBERS_MAX {
            return found;
        }
        found.names.push(long.take().unwrap_or_else(|| name(&block)));
        let skipped = std::io::copy(&mut source.by_ref().take(padded), &mut std::io::sink());
        if skipped.ok() != Some(padded) {
            return found;
        }
    }
    found
}

fn name(block: &[u8; BLOCK]) -> String {
    let field = |from: usize, to: usize| {
        let bytes = block.get(from..to).unwrap_or_default();
        let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
    };
    let (name, prefix) = (field(0, 100), field(345, 500));
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    let text = text.trim_matches(['\0', ' ']);
    if text.is_empty() { Some(0) } else { u64::from_str_radix(text, 8).ok() }
}

/// `27 path=some/long/name`
fn pax(text: &str) -> Option<String> {
    text.lines().find_map(|it| it.split_once(" path=").map(|(_, name)| name.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn tar_of(names: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in names {
            let mut block = [0; BLOCK];
            block[..name.len()].copy_from_slice(name.as_bytes());
            block[124..135].copy_from_slice(b"00000000005");
            block[156] = b'0';
            block[257..262].copy_from_slice(b"ustar");
            bytes.extend_from_slice(&block);
            bytes.extend_from_slice(&[b'x'; 5]);
            bytes.extend_from_slice(&[0; BLOCK - 5]);
        }
        bytes.extend_from_slice(&[0; 2 * BLOCK]);
        bytes
    }

    #[test]
    fn a_tar_is_read_packed_and_plain() {
        let bytes = tar_of(&["readme.md", "app/.env"]);
        let expected =
            Members { names: vec!["readme.md".to_owned(), "app/.env".to_owned()], whole: true };
        assert_eq!(members(&bytes), Some(expected.clone()));
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&bytes).unwrap();
        assert_eq!(members(&packed.finish().unwrap()), Some(expected));
    }

    #[test]
    fn what_is_broken_says_that_it_is_not_whole() {
        let bytes = tar_of(&["a", "b"]);
        let cut = members(bytes.get(..700).unwrap()).unwrap();
        assert!(!cut.whole);
        assert!(!members(b"PK\x03\x04 and nothing more").unwrap().whole);
        assert_eq!(members(b"plain text"), None);
        assert_eq!(members(b""), None);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"only text").unwrap();
        assert_eq!(members(&packed.finish().unwrap()), None);
    }
}
