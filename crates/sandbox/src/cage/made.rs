//! Keys that commands have made themselves: no secrets of the person's, so that the next command may use and remove them.
//!
//! What is remembered is which file it was and when it was last changed, as it was when the command had ended. A file that
//! anybody has touched since is a secret like any other. If nothing can be remembered, everything is covered.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where it is written, in our state.
const FILE: &str = "made-keys.json";
/// Bytes of that file.
const BYTES_MAX: u64 = 1 << 20;
/// Files that are remembered; the oldest go first.
const ENTRIES_MAX: usize = 1000;

/// Keys that commands have made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MadeKeys(Vec<Key>);

/// One file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    path: Vec<u8>,
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Key {
    fn of(path: &Path) -> Option<Self> {
        let meta = path.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
        // Another name of it may be anywhere.
        (meta.nlink() == 1).then(|| Self {
            path: path.to_owned().into_os_string().into_vec(),
            device: meta.dev(),
            inode: meta.ino(),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }
}

impl MadeKeys {
    /// What is remembered; nothing if it cannot be read.
    pub(crate) fn read(state: Option<&Path>) -> Self {
        let file = state.map(|it| it.join(FILE));
        let file = file.filter(|it| it.metadata().is_ok_and(|meta| meta.len() <= BYTES_MAX));
        let text = file.and_then(|it| fs::read(it).ok());
        text.and_then(|it| serde_json::from_slice(&it).ok()).unwrap_or_default()
    }

    /// Was this made by a command, and touched by nobody since?
    pub(crate) fn has(&self, path: &Path) -> bool {
        !self.0.is_empty() && Key::of(path).is_some_and(|it| self.0.contains(&it))
    }

    /// Remembers these as well, as they are now. Nothing of the command runs any more.
    pub(crate) fn note(state: Option<&Path>, made: &[PathBuf]) {
        let Some(state) = state.filter(|_| !made.is_empty()) else { return };
        let mut all = Self::read(Some(state));
        let new: Vec<Key> = made.iter().filter_map(|it| Key::of(it)).collect();
        // Of two runs at once one may be forgotten; what it made is covered then.
        all.0.retain(|it| new.iter().all(|other| other.path != it.path));
        all.0.extend(new);
        let more = all.0.len().saturating_sub(ENTRIES_MAX);
        all.0.drain(..more);
        if let Ok(text) = serde_json::to_vec(&all) {
            let _covered_then = files::private::replace(&state.join(FILE), &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn what_a_command_made_is_known_until_somebody_touches_it() {
        let dir = tempfile::tempdir().unwrap();
        let (state, key) = (dir.path().join("state"), dir.path().join("server.key"));
        fs::create_dir(&state).unwrap();
        fs::write(&key, "made").unwrap();
        assert!(!MadeKeys::read(Some(&state)).has(&key));
        MadeKeys::note(Some(&state), std::slice::from_ref(&key));
        assert!(MadeKeys::read(Some(&state)).has(&key));
        assert!(!MadeKeys::read(None).has(&key) && !MadeKeys::read(Some(&state)).has(&state));
        // Some disks tell the time in steps.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&key, "a person's own").unwrap();
        assert!(!MadeKeys::read(Some(&state)).has(&key));
        fs::write(state.join(FILE), "{").unwrap();
        assert_eq!(MadeKeys::read(Some(&state)), MadeKeys::default());
    }
}
