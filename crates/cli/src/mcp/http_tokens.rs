//! Tokens by which clients on this machine reach the gateway by HTTP: the file of the digests, and who may call now.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::mcp::http::server::auth::{NewToken, TOKENS_MAX, TokenDigest, TokenSource, TokenTable};
use serde::{Deserialize, Serialize};

/// The file of named tokens, in the state directory: their digests, and when each was made.
const NAMED_FILE: &str = "mcp-http-tokens.json";
/// Held by who changes it.
const LOCK: &str = "mcp-http-tokens.lock";
/// The longest such file, in bytes.
const NAMED_BYTES_MAX: u64 = 64 << 10;
/// The file with the one token that is kept as a text: for whoever can read it.
pub(super) const OPEN_FILE: &str = "mcp-http.token";
/// More than a token is in no such file.
const OPEN_BYTES_MAX: u64 = 1024;
/// The name of that token.
pub(super) const OPEN_NAME: &str = "local";

/// Named tokens, as they are kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    pub(super) tokens: BTreeMap<String, Kept>,
}

/// What is kept of a token.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    sha256: String,
    /// When it was made, in seconds since 1970.
    pub(super) made: i64,
}

impl Named {
    pub(super) fn of(home: &Path) -> io::Result<Self> {
        let path = home.join(NAMED_FILE);
        let Some(bytes) = files::private::read_if_there(&path, NAMED_BYTES_MAX)? else {
            return Ok(Self::default());
        };
        let broken = |why: String| {
            io::Error::other(format!("`{}` is not understood ({why}); remove it", path.display()))
        };
        let named: Self = serde_json::from_slice(&bytes).map_err(|it| broken(it.to_string()))?;
        match named.tokens.iter().find(|it| TokenDigest::parse(&it.1.sha256).is_none()) {
            Some((name, _)) => Err(broken(format!("`{name}` has no digest"))),
            None => Ok(named),
        }
    }

    /// Adds a token of a new name, and returns its text: it is kept nowhere.
    pub(super) fn create(home: &Path, name: &str, made: i64) -> io::Result<String> {
        let token = NewToken::random().map_err(|it| io::Error::other(it.to_string()))?;
        change(home, |named| {
            if named.tokens.contains_key(name) {
                return Err(io::Error::other(format!("there is a token `{name}` already")));
            }
            // The one that is kept as a text is among them.
            if named.tokens.len() + usize::from(has_open(home)?) >= TOKENS_MAX {
                return Err(io::Error::other(format!("there are {TOKENS_MAX} tokens already")));
            }
            let kept = Kept { sha256: token.digest.to_hex(), made };
            named.tokens.insert(name.to_owned(), kept);
            Ok(())
        })?;
        Ok(token.text)
    }

    /// Takes a token back; says whether there was one.
    pub(super) fn revoke(home: &Path, name: &str) -> io::Result<bool> {
        if name == OPEN_NAME {
            let is_there = has_open(home)?;
            if is_there {
                files::private::remove(&home.join(OPEN_FILE))?;
            }
            return Ok(is_there);
        }
        change(home, |named| Ok(named.tokens.remove(name).is_some()))
    }
}

fn change<T>(home: &Path, change: impl FnOnce(&mut Named) -> io::Result<T>) -> io::Result<T> {
    let mut options = OpenOptions::new();
    let only = files::private::open_with(&home.join(LOCK), options.write(true).create(true))?;
    only.lock()?;
    let mut named = Named::of(home)?;
    let done = change(&mut named)?;
    files::private::replace(&home.join(NAMED_FILE), &serde_json::to_vec(&named)?)?;
    Ok(done)
}

/// Whether there is a token that is kept as a text.
pub(super) fn has_open(home: &Path) -> io::Result<bool> {
    Ok(files::private::read_if_there(&home.join(OPEN_FILE), OPEN_BYTES_MAX)?.is_some())
}

/// Returns the file of the token that is kept as a text. Where there is no token at all, it is made.
pub(super) fn open_file(home: &Path) -> io::Result<Option<PathBuf>> {
    let file = home.join(OPEN_FILE);
    if has_open(home)? {
        return Ok(Some(file));
    }
    if !Named::of(home)?.tokens.is_empty() {
        return Ok(None);
    }
    let token = NewToken::random().map_err(|it| io::Error::other(it.to_string()))?;
    files::private::replace(&file, token.text.as_bytes())?;
    Ok(Some(file))
}

/// Returns who tells which tokens count now: one that is made or taken back counts, or not, at the next request.
pub(super) fn source(home: PathBuf) -> io::Result<TokenSource> {
    let read = Mutex::new(Read { of: Some(stamps(&home)), table: Arc::new(table(&home)?) });
    Ok(Box::new(move || {
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked at before it is read: what is replaced in between is read once more the next time.
        let now = stamps(&home);
        read.renew(now, || table(&home));
        Arc::clone(&read.table)
    }))
}

/// The tokens as they were read last, and from which versions of the files: none where that failed.
struct Read {
    of: Option<Stamps>,
    table: Arc<TokenTable>,
}

impl Read {
    fn renew(&mut self, now: Stamps, table: impl FnOnce() -> io::Result<TokenTable>) {
        if self.of == Some(now) {
            return;
        }
        *self = match table() {
            Ok(table) => Self { of: Some(now), table: Arc::new(table) },
            // INVARIANT (FailClosed): where the files cannot be read, nobody has a token, until they can.
            Err(_) => Self { of: None, table: Arc::default() },
        };
    }
}

fn table(home: &Path) -> io::Result<TokenTable> {
    let mut all = Vec::new();
    let file = home.join(OPEN_FILE);
    if let Some(bytes) = files::private::read_if_there(&file, OPEN_BYTES_MAX)? {
        let text = String::from_utf8(bytes).map_err(io::Error::other)?;
        let digest = TokenDigest::of_token(text.trim_end())
            .map_err(|error| io::Error::other(format!("`{}`: {error}", file.display())))?;
        all.push((OPEN_NAME.to_owned(), digest));
    }
    let named = Named::of(home)?.tokens.into_iter();
    all.extend(named.filter_map(|(name, it)| Some((name, TokenDigest::parse(&it.sha256)?))));
    Ok(TokenTable::new(all))
}

/// Versions of the two files. Each is only ever replaced as a whole, so that another version is another file.
type Stamps = [Option<(u64, i64, i64)>; 2];

fn stamps(home: &Path) -> Stamps {
    [home.join(OPEN_FILE), home.join(NAMED_FILE)].map(|path| {
        let of = std::fs::symlink_metadata(path).ok()?;
        Some((of.ino(), of.ctime(), of.ctime_nsec()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_could_not_be_read_are_read_again() {
        let now = [None, Some((1, 2, 3))];
        let mut read = Read { of: None, table: Arc::default() };
        read.renew(now, || Err(io::Error::other("no descriptors are left")));
        let mut count = 0;
        for _ in 0..2 {
            read.renew(now, || {
                count += 1;
                Ok(TokenTable::default())
            });
        }
        assert_eq!(count, 1, "once, and then not before they change");
    }

    #[test]
    fn the_token_that_is_kept_as_a_text_is_one_of_those_that_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let home = files::resolved(dir.path()).unwrap();
        assert!(open_file(&home).unwrap().is_some());
        for number in 1..TOKENS_MAX {
            Named::create(&home, &format!("t{number}"), 0).unwrap();
        }
        let refused = Named::create(&home, "one-more", 0).unwrap_err();
        assert!(refused.to_string().contains("already"), "{refused}");
        assert!(Named::revoke(&home, OPEN_NAME).unwrap());
        Named::create(&home, "one-more", 0).unwrap();
    }
}
