//! Files of git that say where something is, read as git reads them, byte for byte: whoever takes one more blank away than
//! git does looks at another directory than git obeys.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};

/// What the file `.git` begins with.
const GITDIR: &[u8] = b"gitdir: ";
/// Bytes of such a file: git takes no longer `.git`.
const BYTES_MAX: u64 = 1 << 20;

/// Where a file leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// There is none, or git does not take it.
    Nowhere,
    To(PathBuf),
    /// It is there, and nobody can say where it leads.
    Unclear(PathBuf),
}

impl Lead {
    /// Where it leads, if that can be said.
    pub(crate) fn to(self) -> Option<PathBuf> {
        match self {
            Self::To(path) => Some(path),
            Self::Nowhere | Self::Unclear(_) => None,
        }
    }

    /// The file of which nobody can say it.
    pub(crate) fn unclear(self) -> Option<PathBuf> {
        match self {
            Self::Unclear(path) => Some(path),
            Self::Nowhere | Self::To(_) => None,
        }
    }
}

/// Where the file `.git` of this directory says that the repository is.
pub(crate) fn of_root(root: &Path) -> Lead {
    of_file(&root.join(".git"), root, GITDIR)
}

/// Where a repository says that its settings are.
pub(crate) fn of_repository(repository: &Path) -> Lead {
    of_file(&repository.join("commondir"), repository, b"")
}

/// What stands behind these first bytes is a path; where there are such, it may not be empty.
fn of_file(at: &Path, from: &Path, begins: &[u8]) -> Lead {
    let text = match text(at) {
        Ok(Some(text)) => text,
        Ok(None) => return Lead::Nowhere,
        Err(_) => return Lead::Unclear(at.to_owned()),
    };
    let path = without_line_ends(&text).strip_prefix(begins);
    match path.filter(|it| begins.is_empty() || !it.is_empty()) {
        Some(path) => Lead::To(from.join(OsStr::from_bytes(up_to_zero(path)))),
        None => Lead::Nowhere,
    }
}

/// Git takes these away at the end, and nothing else.
fn without_line_ends(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|it| !matches!(it, b'\n' | b'\r')).map_or(0, |it| it + 1);
    text.get(..end).unwrap_or_default()
}

/// For who writes in C, a text ends there.
fn up_to_zero(text: &[u8]) -> &[u8] {
    text.split(|it| *it == 0).next().unwrap_or_default()
}

/// The whole file, also if a link leads to it; nothing if it is not there, is no file or lies where nobody can look.
pub(crate) fn text(at: &Path) -> io::Result<Option<Vec<u8>>> {
    if at.metadata().is_ok_and(|it| !it.is_file()) || at.symlink_metadata().is_err() {
        return Ok(None);
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match openat(rustix::fs::CWD, at, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        // A link that leads nowhere.
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut text = Vec::new();
    let read = file.take(BYTES_MAX + 1).read_to_end(&mut text)?;
    match read as u64 <= BYTES_MAX {
        true => Ok(Some(text)),
        false => Err(io::Error::other("it is too long")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    fn led(name: &str, text: &[u8], lead: impl Fn(&Path) -> Lead) -> Result<String, Lead> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(name), text).unwrap();
        match lead(dir.path()) {
            Lead::To(path) => {
                Ok(path.strip_prefix(dir.path()).unwrap_or(&path).to_string_lossy().into_owned())
            }
            other @ (Lead::Nowhere | Lead::Unclear(_)) => Err(other),
        }
    }

    #[test]
    fn a_file_leads_where_git_goes_and_nowhere_else() {
        let long = [b"gitdir: ../x".as_slice(), &[b'\n'; 9000]].concat();
        for (text, to) in [
            (b"gitdir: ../x\n".as_slice(), "../x"),
            (b"gitdir: ../x\r\n\n\r", "../x"),
            (b"gitdir: ../x \n", "../x "),
            (b"gitdir: ../x\t", "../x\t"),
            (b"gitdir:  ../x", " ../x"),
            (b"gitdir: ../x\x0b\n", "../x\x0b"),
            (b"gitdir: ../x\nmore\n", "../x\nmore"),
            (b"gitdir: ../x\0y\n", "../x"),
            (b"gitdir: ../x\n\0", "../x\n"),
            ("gitdir: ../x\u{a0}".as_bytes(), "../x\u{a0}"),
            (b"gitdir: /x", "/x"),
            (&long, "../x"),
        ] {
            assert_eq!(led(".git", text, of_root), Ok(to.to_owned()), "{text:?}");
        }
        for text in [
            b"".as_slice(),
            b"gitdir:../x",
            b"gitdir: ",
            b"gitdir: \n",
            b" gitdir: x",
            b"GITDIR: x",
            b"\xef\xbb\xbfgitdir: x",
        ] {
            assert_eq!(led(".git", text, of_root), Err(Lead::Nowhere), "{text:?}");
        }
        for (text, to) in [
            (b"../..\n".as_slice(), "../.."),
            (b"../x \n", "../x "),
            (b" ../x", " ../x"),
            (b"x\0y", "x"),
        ] {
            assert_eq!(led("commondir", text, of_repository), Ok(to.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn what_is_too_long_to_be_read_is_unclear() {
        let text = vec![b'\n'; usize::try_from(BYTES_MAX).unwrap() + 1];
        assert!(matches!(led("commondir", &text, of_repository), Err(Lead::Unclear(_))));
    }
}
