//! The tokens of a state directory, for a process that is asked again and again.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{AccessError, Bearer, Issued, Tokens, find, is_well_formed};
use crate::unreadable::FileFault;

/// The tokens of a state directory. The file is read again when it is another one, so that what was revoked is
/// revoked from the next question on.
#[derive(Debug)]
pub struct KeptTokens {
    tokens: Tokens,
    last: Mutex<Option<(Stamp, Arc<[Issued]>)>>,
}

/// Which file it was, and in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    /// What was made private or public since is looked at again.
    changed: (i64, i64),
}

impl KeptTokens {
    /// Those of a state directory.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        Self { tokens: Tokens::in_home(home), last: Mutex::default() }
    }

    /// As [`Tokens::verify`].
    ///
    /// # Errors
    /// If the tokens cannot be read: then nobody is known.
    pub fn verify(&self, token: &str, now: i64) -> Result<Option<Bearer>, AccessError> {
        if !is_well_formed(token) {
            return Ok(None);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Before it is read: if it changes in between, it is read once more.
        let stamp = stamp(&self.tokens.path)?;
        let Some(stamp) = stamp else {
            *last = None;
            return Ok(None);
        };
        let all = match &*last {
            Some((then, all)) if *then == stamp => Arc::clone(all),
            Some(_) | None => {
                *last = None;
                let all: Arc<[Issued]> = self.tokens.list()?.into();
                *last = Some((stamp, Arc::clone(&all)));
                all
            }
        };
        drop(last);
        Ok(find(&all, token, now))
    }
}

fn stamp(path: &Path) -> Result<Option<Stamp>, AccessError> {
    let found = match path.metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileFault::io(path, error).into()),
    };
    Ok(Some(Stamp {
        device: found.dev(),
        inode: found.ino(),
        bytes: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    }))
}
