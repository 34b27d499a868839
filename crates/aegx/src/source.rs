//! Where a bundle is read from: a directory or an archive, told apart once, here.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::archive::{Archive, ArchiveError, Entry, Rules};
use crate::bundle;

/// The manifest's name in a bundle.
pub const MANIFEST: &str = "manifest.json";
/// The records' name in a bundle.
pub const RECORDS: &str = "records.jsonl";
/// The audit log's name in a bundle.
pub const AUDIT_LOG: &str = "audit-log.jsonl";
/// The signed note that covers a bundle as a whole, if it has one.
pub const BUNDLE_NOTE: &str = "bundle.note";
/// The folder of blobs in a bundle.
pub const BLOBS: &str = "blobs";
/// A placeholder that keeps an empty `blobs/` alive; never counted.
pub const KEEP: &str = ".keep";

/// A bundle that can be read, from several threads at once.
pub enum Source {
    /// A directory.
    Directory(PathBuf),
    /// A zip archive.
    Zip(Box<Archive>),
}

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Its path in the bundle, with `/`.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// What it is.
    pub kind: MemberKind,
}

/// What a member of a bundle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemberKind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A link, a device, a socket.
    Other,
}

impl Source {
    /// Opens a directory or, if `path` is a file, an archive.
    ///
    /// # Errors
    /// If there is nothing at `path` or the archive breaks the `rules`.
    pub fn open(path: &Path, rules: Rules) -> Result<Self, ArchiveError> {
        let metadata = fs::metadata(path).map_err(|source| ArchiveError::Io {
            action: "open",
            path: path.to_owned(),
            source,
        })?;
        if metadata.is_dir() {
            Ok(Self::Directory(path.to_owned()))
        } else {
            Ok(Self::Zip(Box::new(Archive::open(path, rules)?)))
        }
    }

    /// Opens a member for reading. In a directory, links are followed, as upstream does.
    ///
    /// # Errors
    /// `NotFound` if the bundle has no such member; also if it is anything but a file.
    pub fn open_member(&self, name: &str) -> io::Result<Box<dyn Read + Send + '_>> {
        self.open_under(name, Rules::Compat)
    }

    /// As [`Source::open_member`]; under strict rules links are refused, as they lead out of the
    /// bundle.
    pub(crate) fn open_under(
        &self,
        name: &str,
        rules: Rules,
    ) -> io::Result<Box<dyn Read + Send + '_>> {
        match self {
            Self::Directory(root) => Ok(Box::new(open_file(root, name, rules)?)),
            Self::Zip(archive) => {
                let entry = find(archive, name).ok_or(io::ErrorKind::NotFound)?;
                Ok(Box::new(archive.open_entry(entry).map_err(io::Error::other)?))
            }
        }
    }

    /// Keeps writers out of a directory as long as the file lives, where that can be had.
    pub(crate) fn hold(&self) -> Option<File> {
        match self {
            Self::Directory(root) => bundle::hold(root),
            Self::Zip(_) => None,
        }
    }

    /// Length of a member, if it is there.
    #[must_use]
    pub fn member_bytes(&self, name: &str) -> Option<u64> {
        match self {
            Self::Directory(root) => fs::metadata(root.join(name)).ok().map(|it| it.len()),
            Self::Zip(archive) => find(archive, name).map(Entry::size),
        }
    }

    /// Everything at the top of the bundle, sorted by name.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn top(&self) -> io::Result<Vec<Member>> {
        self.list("")
    }

    /// Everything in `blobs/`, sorted by name; nothing if there is no such folder.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn blobs(&self) -> io::Result<Vec<Member>> {
        self.list("blobs/")
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Member>> {
        let mut members = match self {
            Self::Directory(root) => list_directory(&root.join(folder), folder)?,
            Self::Zip(archive) => list_archive(archive, folder),
        };
        members.sort();
        members.dedup();
        Ok(members)
    }
}

fn find<'a>(archive: &'a Archive, name: &str) -> Option<&'a Entry> {
    archive.entry(name).filter(|entry| !entry.is_dir())
}

fn open_file(root: &Path, name: &str, rules: Rules) -> io::Result<File> {
    let path = root.join(name);
    if rules == Rules::Strict {
        let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
        let folder = path.parent().filter(|it| *it != root);
        if is_link(&path) || folder.is_some_and(is_link) {
            return Err(io::Error::other("reached through a link"));
        }
    }
    // Before opening, because to open a pipe would wait for its writer.
    if !fs::metadata(&path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    File::open(path)
}

fn list_directory(path: &Path, folder: &str) -> io::Result<Vec<Member>> {
    let listing = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing?,
    };
    let mut members = Vec::new();
    for entry in listing {
        let entry = entry?;
        // `metadata` of a directory entry does not follow links.
        let metadata = entry.metadata()?;
        let kind = match metadata.file_type() {
            it if it.is_file() => MemberKind::File,
            it if it.is_dir() => MemberKind::Directory,
            _ => MemberKind::Other,
        };
        let name = format!("{folder}{}", entry.file_name().to_string_lossy());
        members.push(Member { name, bytes: metadata.len(), kind });
    }
    Ok(members)
}

fn list_archive(archive: &Archive, folder: &str) -> Vec<Member> {
    let member = |entry: &Entry| -> Option<Member> {
        let inside = entry.name().strip_prefix(folder)?;
        let (first, deeper) = match inside.split_once('/') {
            Some((first, _)) => (first, true),
            None => (inside, false),
        };
        let kind = if deeper || entry.is_dir() { MemberKind::Directory } else { MemberKind::File };
        let bytes = if kind == MemberKind::File { entry.size() } else { 0 };
        (!first.is_empty()).then(|| Member { name: format!("{folder}{first}"), bytes, kind })
    };
    archive.entries().filter_map(member).collect()
}
