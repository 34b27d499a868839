//! Which of the system's settings are closed to others than root.
//!
//! Root has no capability inside, but it is still the owner of these files, and so may read them. In its cage it sees
//! of them what everybody sees.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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
    look(dir, DEPTH_MAX, &mut left, &mut closed);
    for path in &mut closed {
        // What is no plain text cannot be told, or not in so many bytes: what it lies in is closed.
        while !is_plain(path) && path.pop() {}
    }
    closed.sort();
    closed.dedup();
    let bytes: usize = closed.iter().map(|it| it.as_os_str().len()).sum();
    if bytes > CLOSED_BYTES_MAX { vec![dir.to_owned()] } else { closed }
}

/// Is it told in at most twice its bytes?
fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|it| !it.contains(char::is_control))
}

fn look(dir: &Path, depth: u32, left: &mut usize, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return into.push(dir.to_owned()) };
    let (mut below, mut here) = (Vec::new(), Vec::new());
    for entry in entries.filter_map(Result::ok) {
        *left = left.saturating_sub(1);
        let Ok(kind) = entry.file_type() else { continue };
        if !kind.is_file() && !kind.is_dir() {
            continue;
        }
        // One that is gone again shows nothing.
        let Ok(mode) = entry.metadata().map(|it| it.permissions().mode()) else { continue };
        let wanted = if kind.is_dir() { ENTERED_BY_OTHERS } else { READ_BY_OTHERS };
        if mode & wanted == 0 {
            here.push(entry.path());
        } else if kind.is_dir() {
            below.push(entry.path());
        }
        if here.len() > CLOSED_IN_ONE_MAX || *left == 0 {
            return into.push(dir.to_owned());
        }
    }
    into.append(&mut here);
    for dir in below {
        match depth.checked_sub(1) {
            Some(depth) if *left > 0 => look(&dir, depth, left, into),
            Some(_) | None => into.push(dir),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

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
