//! Everything that is in a folder, by path, mode and content.
//!
//! Files are opened from their directory's handle, never by a path, and no link is followed. A link, a
//! pipe, a device, or a file that has a second name somewhere makes the folder unfit: its content could
//! change from outside.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use aegx::{Digest, Sorted};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat};
use serde_json::{Value, json};

/// How many files and folders a plugin may have.
pub const PLUGIN_FILES_MAX: usize = 10_000;
/// How long all of its files may be together, in bytes.
pub const PLUGIN_BYTES_MAX: u64 = 256 << 20;
/// Writable by others, or with the rights of the owner or group of the file.
const OPEN: Mode = Mode::SUID.union(Mode::SGID).union(Mode::WGRP).union(Mode::WOTH);
/// How deep its folders may lie in each other.
const DEPTH_MAX: usize = 32;

/// Why a folder cannot be a plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The system.
    #[error("`{path}`: {error}")]
    Io {
        /// Where.
        path: String,
        /// What it says.
        error: io::Error,
    },
    /// Neither a plain file nor a folder.
    #[error("`{path}` is neither a plain file nor a folder")]
    Special {
        /// Where.
        path: String,
    },
    /// A file that has another name too.
    #[error("`{path}` has a second name elsewhere (a hard link)")]
    Linked {
        /// Where.
        path: String,
    },
    /// A name that is not plain text.
    #[error("a name in `{path}` is not plain text")]
    Name {
        /// In which folder.
        path: String,
    },
    /// Too much.
    #[error(
        "a plugin has at most {PLUGIN_FILES_MAX} files, {PLUGIN_BYTES_MAX} bytes and {DEPTH_MAX} levels"
    )]
    TooMuch,
}

/// Sees a file: its path, whether it may be executed, and its bytes.
pub(super) type See<'a> = dyn FnMut(&str, bool, &[u8]) -> io::Result<()> + 'a;

/// A folder's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// By path: may it be executed, and its digest; none for a folder.
    pub(super) entries: BTreeMap<String, (bool, Option<Digest>)>,
    bytes: u64,
    /// The first that others could change, or that would run as somebody else.
    pub(super) open: Option<String>,
}

impl Inventory {
    /// Looks through the folder at `path`, and hands every file to `see` with its bytes.
    ///
    /// # Errors
    /// If it has what a plugin must not have, or cannot be read.
    pub(super) fn of(path: &Path, see: &mut See<'_>) -> Result<Self, Unfit> {
        let mut found = Self::default();
        let root = open(CWD, path, OFlags::DIRECTORY, "")?;
        found.note_open(&fstat(&root).map_err(|error| io_at(".", error.into()))?, ".");
        found.walk(&root, "", 0, see)?;
        Ok(found)
    }

    /// One digest of all of it: of paths, of what may be executed, of contents.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let all: Value = self
            .entries
            .iter()
            .map(|(path, (runs, digest))| json!([path, runs, digest.map(|it| it.to_string())]))
            .collect();
        Digest::of(Sorted(&all).to_string().as_bytes())
    }

    /// How many files there are.
    #[must_use]
    pub fn files(&self) -> usize {
        self.entries.values().filter(|(_, digest)| digest.is_some()).count()
    }

    /// The first difference to what `was`, in words.
    pub(super) fn difference(&self, was: &Self) -> Option<String> {
        for (path, old) in &was.entries {
            match self.entries.get(path) {
                None => return Some(format!("`{path}` is gone")),
                Some(new) if new.1 != old.1 => return Some(format!("`{path}` has changed")),
                Some(new) if new.0 != old.0 => {
                    return Some(format!("the mode of `{path}` has changed"));
                }
                Some(_) => {}
            }
        }
        let new = self.entries.keys().find(|it| !was.entries.contains_key(*it));
        new.map(|path| format!("`{path}` is new"))
    }

    /// What speaks against it as what `was` added: a difference, or that others could change it.
    pub(super) fn unsound(&self, was: &Self) -> Option<String> {
        let open = self.open.as_ref();
        let open = open.map(|path| format!("the mode of `{path}` has changed"));
        self.difference(was).or(open)
    }

    fn walk(
        &mut self,
        dir: &OwnedFd,
        prefix: &str,
        depth: usize,
        see: &mut See<'_>,
    ) -> Result<(), Unfit> {
        if depth > DEPTH_MAX {
            return Err(Unfit::TooMuch);
        }
        for name in names(dir, prefix)? {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            if self.entries.len() >= PLUGIN_FILES_MAX {
                return Err(Unfit::TooMuch);
            }
            // Opening a pipe would wait for its other end, but for this.
            let file = open(dir, Path::new(&name), OFlags::NONBLOCK, &path)?;
            let about = fstat(&file).map_err(|error| io_at(&path, error.into()))?;
            match FileType::from_raw_mode(about.st_mode) {
                FileType::Directory => {
                    self.note_open(&about, &path);
                    self.entries.insert(path.clone(), (true, None));
                    self.walk(&file, &path, depth + 1, see)?;
                }
                FileType::RegularFile if about.st_nlink == 1 => {
                    self.take(file, &about, path, see)?
                }
                FileType::RegularFile => return Err(Unfit::Linked { path }),
                FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown => return Err(Unfit::Special { path }),
            }
        }
        Ok(())
    }

    fn note_open(&mut self, about: &Stat, path: &str) {
        if Mode::from_raw_mode(about.st_mode).intersects(OPEN) {
            self.open.get_or_insert_with(|| path.to_owned());
        }
    }

    fn take(
        &mut self,
        file: OwnedFd,
        about: &Stat,
        path: String,
        see: &mut See<'_>,
    ) -> Result<(), Unfit> {
        let room = PLUGIN_BYTES_MAX - self.bytes;
        let mut bytes = Vec::new();
        // One byte more, so that a longer one is seen to be longer.
        File::from(file)
            .take(room + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| io_at(&path, error))?;
        if bytes.len() as u64 > room {
            return Err(Unfit::TooMuch);
        }
        self.bytes += bytes.len() as u64;
        let runs = about.st_mode & 0o111 != 0;
        self.note_open(about, &path);
        see(&path, runs, &bytes).map_err(|error| io_at(&path, error))?;
        self.entries.insert(path, (runs, Some(Digest::of(&bytes))));
        Ok(())
    }
}

fn open(
    dir: impl std::os::fd::AsFd,
    name: &Path,
    also: OFlags,
    path: &str,
) -> Result<OwnedFd, Unfit> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | also;
    openat(dir, name, flags, Mode::empty()).map_err(|error| {
        let path = if path.is_empty() { name.display().to_string() } else { path.to_owned() };
        match error {
            rustix::io::Errno::LOOP | rustix::io::Errno::NXIO => Unfit::Special { path },
            error => io_at(&path, error.into()),
        }
    })
}

/// Names in a folder, in order. Two that differ in case alone would be one on some systems.
fn names(dir: &OwnedFd, prefix: &str) -> Result<Vec<String>, Unfit> {
    let failed = |error: rustix::io::Errno| io_at(prefix, error.into());
    let wrong =
        || Unfit::Name { path: if prefix.is_empty() { ".".to_owned() } else { prefix.to_owned() } };
    let mut found = Vec::new();
    for entry in Dir::read_from(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_str().map_err(|_| wrong())?;
        if matches!(name, "." | "..") {
            continue;
        }
        if name.chars().any(|it| it.is_control() || aegx::verify::is_hidden(it) || it == '\\') {
            return Err(wrong());
        }
        if found.len() >= PLUGIN_FILES_MAX {
            return Err(Unfit::TooMuch);
        }
        found.push(name.to_owned());
    }
    found.sort_unstable();
    let mut folded: Vec<String> = found.iter().map(|it| it.to_lowercase()).collect();
    folded.sort_unstable();
    if folded.windows(2).any(|it| matches!(it, [one, other] if one == other)) {
        return Err(wrong());
    }
    Ok(found)
}

fn io_at(path: &str, error: io::Error) -> Unfit {
    Unfit::Io { path: path.to_owned(), error }
}
