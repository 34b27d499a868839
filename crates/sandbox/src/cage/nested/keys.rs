//! Files that are secret by what they hold: their names alone would also mean certificates, presentations and settings.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Mode, OFlags, openat};

/// Endings of files with keys and certificates.
const OF_CERTIFICATES: &[u8] = b".pem";
const OF_KEYS: &[u8] = b".key";
/// How long a key is that is nothing but letters and digits, as frameworks make them.
const BARE_BYTES: std::ops::RangeInclusive<usize> = 32..=512;
/// How every private key in text begins, its kind apart. In a file with certificates it may come late.
const PRIVATE: &[u8] = b"PRIVATE KEY-----";
/// Settings of npm, and the names of passwords in them.
const OF_NPM: &[u8] = b".npmrc";
const PASSWORDS: &[&[u8]] = &[b"_auth=", b"_authToken=", b"_password="];
/// What stands for a password that is somewhere else.
const ELSEWHERE: &[u8] = b"${";
/// Bytes of such a file that are looked at: keys are shorter.
const BYTES_MAX: u64 = 64 * 1024;

/// Is the file of this name in this directory one?
pub(super) fn is_one(dir: impl AsFd, name: &[u8]) -> bool {
    let is_key = name.ends_with(OF_KEYS);
    if is_key || name.ends_with(OF_CERTIFICATES) {
        let is_private = |it: &[u8]| find(it, PRIVATE).next().is_some() || is_key && is_bare(it);
        return content(dir, name).is_some_and(|it| is_private(&it));
    }
    name == OF_NPM && content(dir, name).is_some_and(|it| has_password(&it))
}

fn is_bare(content: &[u8]) -> bool {
    let key = content.trim_ascii();
    let plain = |it: &u8| it.is_ascii_alphanumeric() || b"+/=-_".contains(it);
    BARE_BYTES.contains(&key.len()) && key.iter().all(plain)
}

fn has_password(content: &[u8]) -> bool {
    PASSWORDS.iter().any(|name| find(content, name).any(|after| !after.starts_with(ELSEWHERE)))
}

/// What follows each place in which `wanted` stands.
fn find<'a>(content: &'a [u8], wanted: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let starts = 0..content.len();
    starts.filter_map(move |it| content.get(it..)?.strip_prefix(wanted))
}

/// The beginning of a plain file.
fn content(dir: impl AsFd, name: &[u8]) -> Option<Vec<u8>> {
    // A pipe would keep us waiting.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(dir, OsStr::from_bytes(name), flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    file.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
