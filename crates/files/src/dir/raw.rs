//! Names as the disk has them, which may be no text: for whoever looks at everything that is there.
//!
//! One name at a time, below the handle of the folder it was found in. So the confinement is the same.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Mode, OFlags};

use super::{Dir, Stat};

impl Dir {
    /// The names in it, as the disk gives them.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn raw_names(&self) -> io::Result<Vec<OsString>> {
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                found.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(found)
    }

    /// What a name in it stands for; a link as such.
    ///
    /// # Errors
    /// If it is gone.
    pub fn raw_stat(&self, name: &OsStr) -> io::Result<Stat> {
        let stat = rustix::fs::statat(&self.fd, one(name)?, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Stat::of(&stat))
    }

    /// Where a link in it leads, as it stands there.
    ///
    /// # Errors
    /// If it is none.
    pub fn raw_link(&self, name: &OsStr) -> io::Result<OsString> {
        let target = rustix::fs::readlinkat(&self.fd, one(name)?, Vec::new())?;
        Ok(OsStr::from_bytes(target.as_bytes()).to_owned())
    }

    /// A folder in it.
    ///
    /// # Errors
    /// If it is none: a link is none.
    pub fn raw_dir(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { fd: rustix::fs::openat(&self.fd, one(name)?, flags, Mode::empty())? })
    }

    /// A file in it, to be looked at. Whether it is a plain one, [`raw_look`](Self::raw_look) says.
    ///
    /// # Errors
    /// If it cannot be opened; a link is not followed.
    pub fn raw_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, one(name)?, flags | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(File::from(fd))
    }

    /// What the kernel says of a file that is open.
    ///
    /// # Errors
    /// If it says nothing.
    pub fn raw_look(file: &File) -> io::Result<Stat> {
        Ok(Stat::of(&rustix::fs::fstat(file)?))
    }

    /// What the kernel says of the directory itself.
    ///
    /// # Errors
    /// If it says nothing.
    pub fn look(&self) -> io::Result<Stat> {
        Ok(Stat::of(&rustix::fs::fstat(&self.fd)?))
    }

    /// Does it lie on a disk that changes the times of a file whenever its content changes, as far as is
    /// known? Then a file that the kernel says is the same is the same, once its changes are written back.
    #[must_use]
    pub fn keeps_times(&self) -> bool {
        keeps_times(self)
    }
}

/// ext4, xfs, btrfs, f2fs, zfs, overlay. Memory has no writing back, and the others are somebody's word.
#[cfg(target_os = "linux")]
fn keeps_times(dir: &Dir) -> bool {
    const KNOWN: &[u64] =
        &[0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x794c_7630];
    let kind = rustix::fs::fstatfs(&dir.fd).ok().and_then(|it| u64::try_from(it.f_type).ok());
    kind.is_some_and(|it| KNOWN.contains(&it))
}

#[cfg(not(target_os = "linux"))]
fn keeps_times(_: &Dir) -> bool {
    false
}

/// A single name, and not a way.
fn one(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.contains(&b'/') || matches!(bytes, b"." | b"..") {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no name"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_name_is_one_step_and_no_link() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("a")).unwrap();
        symlink("..", temp.path().join("up")).unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        assert!(dir.raw_dir(OsStr::new("a")).is_ok());
        for bad in ["..", ".", "", "a/..", "up"] {
            assert!(dir.raw_dir(OsStr::new(bad)).is_err(), "{bad}");
            assert!(dir.raw_file(OsStr::new(bad)).is_err(), "{bad}");
        }
        assert_eq!(dir.raw_link(OsStr::new("up")).unwrap(), "..");
        let strange = OsStr::from_bytes(b"\xff");
        fs::File::create(temp.path().join(strange)).unwrap();
        assert!(dir.raw_names().unwrap().contains(&strange.to_owned()));
        assert!(dir.raw_stat(strange).is_ok());
    }
}
