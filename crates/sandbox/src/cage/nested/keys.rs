//! Files that are secret by what they hold: their names alone would also mean certificates, presentations and settings.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

/// Endings of files with keys and certificates.
const OF_CERTIFICATES: &[u8] = b".pem";
const OF_KEYS: &[u8] = b".key";
const OF_APPLE: &[u8] = b".p8";
/// How long a key is that is nothing but letters and digits, as frameworks make them.
const BARE_BYTES: std::ops::RangeInclusive<usize> = 32..=512;
/// How every private key in text begins, its kind apart. In a file with certificates it may come late.
const PRIVATE: &[u8] = b"PRIVATE KEY-----";
/// Settings of who fetches packages, and the names of passwords in them.
const SETTINGS: &[(&[u8], &[&[u8]])] = &[
    (b".npmrc", &[b"_auth=", b"_authToken=", b"_password="]),
    (b".yarnrc.yml", &[b"npmAuthToken: ", b"npmAuthIdent: "]),
    (b"auth.json", &[b"\"http-basic\"", b"\"github-oauth\"", b"\"bearer\"", b"\"access_token\""]),
    (b"nuget.config", &[b"ClearTextPassword"]),
];
/// What stands for a password that is somewhere else.
const ELSEWHERE: &[u8] = b"${";
/// Bytes of such a file that are looked at: a key is shorter, also behind all certificates that a system trusts.
const BYTES_MAX: u64 = 1 << 20;

/// Is the file of this name in this directory one? Also if a link leads to it, and if nobody can say: the command could
/// open it, as its owner.
pub(super) fn is_one(dir: impl AsFd, name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_key = lower.ends_with(OF_KEYS);
    let is_text = is_key || lower.ends_with(OF_CERTIFICATES) || lower.ends_with(OF_APPLE);
    let passwords = SETTINGS.iter().find(|(name, _)| *name == lower).map(|it| it.1);
    let holds_it: &dyn Fn(&[u8]) -> bool = match passwords {
        Some(names) => &|it| has_password(it, names),
        None if is_text => &|it| find(it, PRIVATE).next().is_some() || is_key && is_bare(it),
        None => return false,
    };
    match content(dir, name) {
        Ok(content) => content.is_some_and(|it| holds_it(&it)),
        Err(error) => error == Errno::ACCESS,
    }
}

fn is_bare(content: &[u8]) -> bool {
    let key = content.trim_ascii();
    let plain = |it: &u8| it.is_ascii_alphanumeric() || b"+/=-_".contains(it);
    BARE_BYTES.contains(&key.len()) && key.iter().all(plain)
}

fn has_password(content: &[u8], names: &[&[u8]]) -> bool {
    let is_elsewhere =
        |after: &[u8]| after.strip_prefix(b"\"").unwrap_or(after).starts_with(ELSEWHERE);
    names.iter().any(|name| find(content, name).any(|after| !is_elsewhere(after)))
}

/// What follows each place in which `wanted` stands.
fn find<'a>(content: &'a [u8], wanted: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let starts = 0..content.len();
    starts.filter_map(move |it| content.get(it..)?.strip_prefix(wanted))
}

/// The beginning of a plain file; nothing of what is none.
fn content(dir: impl AsFd, name: &[u8]) -> rustix::io::Result<Option<Vec<u8>>> {
    let (dir, name) = (dir.as_fd(), OsStr::from_bytes(name));
    let stat = statat(dir, name, AtFlags::empty())?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    // It may have become a pipe, which would keep us waiting.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name, flags, Mode::empty())?);
    let mut bytes = Vec::new();
    Ok(file.take(BYTES_MAX).read_to_end(&mut bytes).ok().map(|_| bytes))
}
