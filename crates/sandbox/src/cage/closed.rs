//! Which of the system's settings are closed to others than root.
//!
//! Root has no capability inside, but it is still the owner of these files, and so may read them. In its cage it sees
//! of them what everybody sees.

use std::ffi::{CStr, OsStr};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, statat};

use super::entries;

/// Where settings are.
pub(crate) const SETTINGS: &str = "/etc";
/// How deep they are looked through, and how many entries of all directories together. What lies behind that is closed.
const DEPTH_MAX: u32 = 8;
const ENTRIES_MAX: usize = 20_000;
/// Where more than so many of one directory are closed, it is closed as a whole.
const CLOSED_IN_ONE_MAX: usize = 64;
/// And all of it, if the paths together have more bytes: they are told to the cage in one message.
const CLOSED_BYTES_MAX: usize = 16 << 10;
const READ_BY_OTHERS: u32 = 0o004;
const ENTERED_BY_OTHERS: u32 = 0o001;

/// Files that others may not read and directories that they may not enter. Links are left alone: what they lead to
/// says itself who may read it.
pub(crate) fn to_others(dir: &Path) -> Vec<PathBuf> {
    let (mut closed, mut left) = (Vec::new(), ENTRIES_MAX);
    match entries::open(dir) {
        Ok(open) => look(&open, dir, DEPTH_MAX, &mut left, &mut closed),
        Err(_) => closed.push(dir.to_owned()),
    }
    closed.iter_mut().for_each(tell_shortly);
    closed.sort();
    closed.dedup();
    let bytes: usize = closed.iter().map(|it| it.as_os_str().len()).sum();
    if bytes > CLOSED_BYTES_MAX { vec![dir.to_owned()] } else { closed }
}

/// What is no plain text cannot be told, or not in so many bytes: what it lies in is told in its place.
pub(crate) fn tell_shortly(path: &mut PathBuf) {
    while !is_plain(path) && path.pop() {}
}

/// Is it told in at most twice its bytes?
fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|it| !it.contains(char::is_control))
}

/// Looks through `dir`, which is called `at`; what cannot be looked through is closed.
fn look(dir: &OwnedFd, at: &Path, depth: u32, left: &mut usize, into: &mut Vec<PathBuf>) {
    let (mut below, mut here) = (Vec::new(), Vec::new());
    let path = |name: &CStr| at.join(OsStr::from_bytes(name.to_bytes()));
    let mut is_too_much = false;
    let read = entries::each(dir, |name, kind| {
        *left = left.saturating_sub(1);
        is_too_much = here.len() > CLOSED_IN_ONE_MAX || *left == 0;
        if is_too_much {
            return ControlFlow::Break(());
        }
        if kind == FileType::Symlink {
            return ControlFlow::Continue(());
        }
        // One that is gone again shows nothing.
        let Ok(stat) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return ControlFlow::Continue(());
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::RegularFile && stat.st_mode & READ_BY_OTHERS == 0
            || kind == FileType::Directory && stat.st_mode & ENTERED_BY_OTHERS == 0
        {
            here.push(path(name));
        } else if kind == FileType::Directory {
            below.push(name.to_owned());
        }
        ControlFlow::Continue(())
    });
    if is_too_much || here.len() > CLOSED_IN_ONE_MAX || read.is_err() {
        return into.push(at.to_owned());
    }
    into.append(&mut here);
    for name in below {
        let open = match depth {
            0 => None,
            _ if *left == 0 => None,
            _ => entries::open_below(dir, &name).ok(),
        };
        match open {
            Some(dir) => look(&dir, &path(&name), depth.saturating_sub(1), left, into),
            None => into.push(path(&name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn make(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path).unwrap();
        set(path, mode);
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_may_not_read_is_closed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |it: &str| dir.path().join(it);
        for (name, mode) in [
            ("hosts", 0o644),
            ("key", 0o600),
            ("app/app.conf", 0o640),
            ("app/open.conf", 0o444),
            ("private/key", 0o644),
            ("passed/through", 0o644),
        ] {
            make(&at(name), mode);
        }
        set(&at("private"), 0o750);
        // It cannot be listed, but who knows a name may read it.
        set(&at("passed"), 0o711);
        std::os::unix::fs::symlink(at("hosts"), at("link")).unwrap();
        assert_eq!(to_others(dir.path()), [at("app/app.conf"), at("key"), at("private")]);
    }

    #[test]
    fn what_is_not_looked_through_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("1/2/3/4/5/6/7/8/9");
        make(&deep.join("file"), 0o644);
        assert_eq!(to_others(dir.path()), [deep]);
        for number in 0..=CLOSED_IN_ONE_MAX {
            make(&dir.path().join(format!("many/{number}")), 0o600);
        }
        assert!(to_others(dir.path()).contains(&dir.path().join("many")));
        make(&dir.path().join("text/\u{e9}"), 0o600);
        let name = std::ffi::OsStr::from_bytes(b"no\xfftext");
        make(&dir.path().join("other").join(name), 0o600);
        make(&dir.path().join("lines/a\nb"), 0o600);
        make(&dir.path().join("lines/c\nd"), 0o600);
        let closed = to_others(dir.path());
        assert!(closed.contains(&dir.path().join("text/\u{e9}")));
        for once in ["other", "lines"] {
            let of = closed.iter().filter(|it| it.starts_with(dir.path().join(once)));
            assert_eq!(of.collect::<Vec<_>>(), [&dir.path().join(once)]);
        }
        for folder in 0..30 {
            for number in 0..CLOSED_IN_ONE_MAX {
                make(&dir.path().join(format!("folder-{folder}/{number}")), 0o600);
            }
        }
        assert_eq!(to_others(dir.path()), [dir.path()]);
    }
}
