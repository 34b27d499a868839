//! Looks on while a command runs: what it makes where nobody may is set aside at once, and not only at its end.
//!
//! The kernel tells of names that appear in a few directories. In between there is a moment in which somebody outside
//! could obey what was made; whoever makes it again and again is ended.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};

/// Directories that are watched.
const DIRECTORIES_MAX: usize = 64;
/// Directories of a workspace that hold places which are kept.
const BELOW: &[&str] = &["", ".git", ".git/hooks", ".vscode"];
/// Bytes that the kernel tells at a time.
const PIECE_BYTES: usize = 4096;

/// What is watched.
pub(crate) struct Watch {
    inotify: OwnedFd,
    roots: Vec<PathBuf>,
}

impl Watch {
    /// Watches these workspaces and repositories; nothing if the system does not let us.
    pub(crate) fn begin<'a>(roots: impl Iterator<Item = &'a PathBuf>) -> Option<Self> {
        let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let roots = roots.take(DIRECTORIES_MAX / BELOW.len()).cloned().collect();
        let watch = Self { inotify, roots };
        watch.add_all();
        Some(watch)
    }

    /// Also directories that have appeared; one that is watched already stays as it is.
    fn add_all(&self) {
        let flags = WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        for root in &self.roots {
            for below in BELOW {
                let _not_there = add_watch(&self.inotify, root.join(below), flags);
            }
        }
    }

    /// Reads what happened, and says whether somebody must look.
    pub(crate) fn is_worth_a_look(&self, is_kept: impl Fn(&Path) -> bool) -> bool {
        let mut buffer = [MaybeUninit::uninit(); PIECE_BYTES];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        let mut worth = false;
        while let Ok(event) = reader.next() {
            let name = event.file_name().and_then(|it| it.to_str().ok());
            // Without a name the kernel had too much to tell.
            worth |= name.is_none_or(|it| is_kept(Path::new(it)));
        }
        if worth {
            self.add_all();
        }
        worth
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
