//! What is known of servers, read again only when the file has changed: every result asks for it.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::servers::{Servers, ServersError, file};

/// The servers that are known, as they were read last.
#[derive(Default)]
pub(crate) struct Kept {
    read: Option<(Option<Stamp>, Servers)>,
    /// How often it was read.
    version: u64,
}

/// A version of the file. It is only ever replaced as a whole, so that another version is another file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Kept {
    /// What is kept in the state directory `home` now.
    pub(crate) fn now(&mut self, home: &Path) -> Result<&Servers, ServersError> {
        // Looked at before it is read: what is replaced in between is read once more the next time.
        let stamp = stamp(home);
        let read = match self.read.take() {
            Some(read) if read.0 == stamp => read,
            Some(_) | None => {
                self.version += 1;
                (stamp, Servers::of(home)?)
            }
        };
        Ok(&self.read.insert(read).1)
    }

    /// The number of what was read last: another one means that it may have changed.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }
}

fn stamp(home: &Path) -> Option<Stamp> {
    let of = std::fs::symlink_metadata(file(home)).ok()?;
    Some(Stamp {
        inode: of.ino(),
        bytes: of.len(),
        seconds: of.mtime(),
        nanoseconds: of.mtime_nsec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::mcp::trust::Trust;

    #[test]
    fn what_a_person_says_counts_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut kept = Kept::default();
        assert_eq!(kept.now(dir.path()).unwrap().trust("s"), Trust::Untrusted);
        for level in [Trust::Trusted, Trust::Sandboxed, Trust::Untrusted] {
            let version = kept.version();
            Servers::change(dir.path(), |it| it.trust.insert("s".to_owned(), level)).unwrap();
            assert_eq!(kept.now(dir.path()).unwrap().trust("s"), level);
            assert_eq!(kept.now(dir.path()).unwrap().trust("s"), level);
            assert_eq!(kept.version(), version + 1);
        }
    }
}
