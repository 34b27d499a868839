//! Private files: for the owner's eyes, whole or not at all, whatever somebody planted.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]
#![expect(clippy::disallowed_methods, reason = "files of the test's own")]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;

use files::private;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_that_was_open_to_others_is_not_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    for act in [
        (|path| private::replace(path, b"x")) as fn(&Path) -> std::io::Result<()>,
        |path| private::append_line(path, b"x"),
        |path| private::open_with(path, OpenOptions::new().write(true)).map(|_| ()),
    ] {
        fs::write(&path, "old\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        act(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
    }
}

#[test]
fn what_is_planted_is_neither_followed_nor_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("target");
    fs::write(&target, "theirs").unwrap();
    let link = dir.path().join("link");
    symlink(&target, &link).unwrap();
    let pipe = dir.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    for path in [&link, &pipe] {
        assert!(private::read(path, 100).is_err());
        assert!(private::append_line(path, b"x").is_err());
        assert!(private::open_with(path, OpenOptions::new().write(true).create(true)).is_err());
    }
    // A link is replaced as such.
    private::replace(&link, b"ours").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_file());
    assert_eq!(fs::read(&target).unwrap(), b"theirs");
}

#[test]
fn writers_that_race_leave_one_whole_file_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    thread::scope(|scope| {
        for writer in 0..4_u8 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..25 {
                    private::replace(path, &[b'a' + writer; 5000]).unwrap();
                }
            });
        }
    });
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 5000);
    assert!(bytes.windows(2).all(|it| it[0] == it[1]));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_leaves_the_old_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("folder/state");
    fs::create_dir(dir.path().join("folder")).unwrap();
    private::replace(&path, b"old").unwrap();
    // A name that is too long for the disk fails late.
    let long = dir.path().join("folder").join("a".repeat(256));
    assert!(private::replace(&long, b"new").is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(dir.path().join("folder")).unwrap().count(), 1);
}

#[test]
fn of_a_long_file_of_lines_the_last_whole_ones_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lines");
    let read = |most: u64| private::read_last_lines(&path, most).unwrap();
    assert_eq!(read(9), None);
    fs::write(&path, "one\ntwo\nthree\n").unwrap();
    for (most, expected) in [
        (100, "one\ntwo\nthree\n"),
        (14, "one\ntwo\nthree\n"),
        (13, "two\nthree\n"),
        (10, "two\nthree\n"),
        (9, "three\n"),
        (6, "three\n"),
        (5, ""),
        (0, ""),
    ] {
        assert_eq!(read(most).unwrap(), expected.as_bytes(), "{most}");
    }
}
