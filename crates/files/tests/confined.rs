//! A confined directory against what somebody may have put into it.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]
#![expect(clippy::disallowed_methods, reason = "files of the test's own")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use files::{Dir, DirError, Kind, Relative};
use tempfile::TempDir;

const BYTES_MAX: u64 = 1 << 20;

struct World {
    _temp: TempDir,
    base: PathBuf,
    outside: PathBuf,
    dir: Dir,
}

/// A base with a file in a folder, and a file outside.
fn world() -> World {
    let temp = tempfile::tempdir().unwrap();
    let (base, outside) = (temp.path().join("base"), temp.path().join("outside"));
    fs::create_dir_all(base.join("sub")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(base.join("sub/in.txt"), "in").unwrap();
    fs::write(outside.join("out.txt"), "out").unwrap();
    World { dir: Dir::open(&base).unwrap(), _temp: temp, base, outside }
}

fn path(text: &str) -> Relative {
    Relative::parse(text).unwrap()
}

#[test]
fn what_is_inside_is_read_written_listed_renamed_and_removed() {
    let World { _temp, dir, base, .. } = world();
    assert_eq!(dir.read(&path("sub/in.txt"), BYTES_MAX).unwrap(), b"in");
    dir.create_folders(&path("new/deep")).unwrap();
    dir.create(&path("new/deep/a.txt"), b"one").unwrap();
    assert!(matches!(dir.create(&path("new/deep/a.txt"), b"x"), Err(DirError::Exists { .. })));
    fs::set_permissions(base.join("new/deep/a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    dir.replace(&path("new/deep/a.txt"), b"two").unwrap();
    let kept = fs::metadata(base.join("new/deep/a.txt")).unwrap().permissions().mode() & 0o777;
    assert_eq!(kept, 0o755);
    dir.rename(&path("new/deep/a.txt"), &path("sub/b.txt")).unwrap();
    assert_eq!(dir.read(&path("sub/b.txt"), BYTES_MAX).unwrap(), b"two");
    let (found, whole) = dir.list(&path("sub")).unwrap();
    let names: Vec<_> = found.iter().map(|it| it.name.as_deref().unwrap()).collect();
    assert_eq!((names.as_slice(), whole), (["b.txt", "in.txt"].as_slice(), true));
    dir.remove(&path("sub/b.txt")).unwrap();
    assert!(matches!(dir.read(&path("sub/b.txt"), BYTES_MAX), Err(DirError::NotFound { .. })));
    assert!(matches!(dir.read(&path("sub"), BYTES_MAX), Err(DirError::IsFolder { .. })));
    assert!(matches!(dir.read(&path("sub/in.txt"), 1), Err(DirError::TooLong { .. })));
    // Nothing of the work is left over.
    let left: Vec<_> = fs::read_dir(base.join("sub")).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn links_lead_nowhere_whatever_is_done() {
    let World { _temp, dir, base, outside, .. } = world();
    symlink(&outside, base.join("folder")).unwrap();
    symlink(outside.join("out.txt"), base.join("file")).unwrap();
    symlink(outside.join("none.txt"), base.join("dangling")).unwrap();
    symlink("sub", base.join("inner")).unwrap();
    symlink("/proc/self/root", base.join("magic")).unwrap();
    for name in ["folder/out.txt", "file", "dangling", "inner/in.txt", "magic/etc/passwd"] {
        let read = dir.read(&path(name), BYTES_MAX).unwrap_err();
        assert!(matches!(read, DirError::IsLink { .. }), "{name}: {read}");
        let written = dir.replace(&path(name), b"x").unwrap_err();
        assert!(matches!(written, DirError::IsLink { .. }), "{name}: {written}");
        assert!(dir.create(&path(name), b"x").is_err(), "{name}");
    }
    assert!(dir.list(&path("folder")).is_err());
    assert!(dir.open_dir(&path("folder")).is_err());
    assert!(dir.create_folders(&path("folder/x")).is_err());
    assert!(dir.create(&path("folder/x"), b"x").is_err());
    assert!(dir.rename(&path("sub/in.txt"), &path("folder/x")).is_err());
    assert!(dir.remove(&path("folder/out.txt")).is_err());
    // A link is listed as one, and may be removed as one.
    let (found, _) = dir.list(&Relative::base()).unwrap();
    assert_eq!(found.iter().filter(|it| it.stat.kind == Kind::Link).count(), 5);
    dir.remove(&path("file")).unwrap();
    assert_eq!(fs::read(outside.join("out.txt")).unwrap(), b"out");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_file_with_a_name_outside_is_not_read_and_keeps_what_it_has() {
    let World { _temp, dir, base, outside, .. } = world();
    let other = |it: Result<Vec<u8>, _>| matches!(it, Err(DirError::OtherNames { .. }));
    fs::hard_link(outside.join("out.txt"), base.join("hard")).unwrap();
    assert!(other(dir.read(&path("hard"), BYTES_MAX)));
    // More names inside make it no better, wherever they are.
    fs::hard_link(outside.join("out.txt"), base.join("sub/again")).unwrap();
    assert!(other(dir.read(&path("hard"), BYTES_MAX)));
    assert!(other(dir.read(&path("sub/again"), BYTES_MAX)));
    assert!(dir.open_dir(&path("sub")).unwrap().read(&path("again"), BYTES_MAX).is_err());
    // What is put in its place is a file of its own.
    dir.replace(&path("hard"), b"x").unwrap();
    assert_eq!(dir.read(&path("hard"), BYTES_MAX).unwrap(), b"x");
    assert_eq!(fs::read(outside.join("out.txt")).unwrap(), b"out");
}

#[test]
fn a_file_all_of_whose_names_are_inside_is_read() {
    let World { _temp, dir, base, outside, .. } = world();
    fs::create_dir_all(base.join("target/debug/deps")).unwrap();
    fs::hard_link(base.join("sub/in.txt"), base.join("target/debug/deps/in-0123")).unwrap();
    for name in ["sub/in.txt", "target/debug/deps/in-0123"] {
        assert_eq!(dir.read(&path(name), BYTES_MAX).unwrap(), b"in");
        // Whoever opens many does not look for the others.
        assert!(dir.read_of_one_name(&path(name), BYTES_MAX).is_err());
    }
    // From a folder that holds one of them, the other one is outside.
    assert!(dir.open_dir(&path("sub")).unwrap().read(&path("in.txt"), BYTES_MAX).is_err());
    // A folder that is there twice is looked through once.
    symlink(base.join("sub"), base.join("twice")).unwrap();
    fs::hard_link(base.join("sub/in.txt"), outside.join("third")).unwrap();
    assert!(dir.read(&path("sub/in.txt"), BYTES_MAX).is_err());
}

#[test]
fn what_is_no_file_is_neither_waited_for_nor_used() {
    let World { _temp, dir, base, .. } = world();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, base.join("pipe"), mode).unwrap();
    let _socket = UnixListener::bind(base.join("socket")).unwrap();
    for name in ["pipe", "socket"] {
        let error = dir.read(&path(name), BYTES_MAX).unwrap_err();
        assert!(matches!(error, DirError::NoFile { .. }), "{name}: {error}");
        assert!(dir.replace(&path(name), b"x").is_err(), "{name}");
    }
    // Devices, where there are some to open.
    let devices = Dir::open("/dev".as_ref()).unwrap();
    assert!(matches!(devices.read(&path("null"), BYTES_MAX), Err(DirError::NoFile { .. })));
    assert!(matches!(devices.read(&path("zero"), BYTES_MAX), Err(DirError::NoFile { .. })));
    let proc = Dir::open("/proc/self".as_ref()).unwrap();
    assert!(matches!(proc.read(&path("cwd/Cargo.toml"), BYTES_MAX), Err(DirError::IsLink { .. })));
    assert!(matches!(proc.read(&path("root/etc/passwd"), BYTES_MAX), Err(DirError::IsLink { .. })));
}

#[test]
fn names_that_some_disk_takes_for_one_are_not_both_made() {
    let World { _temp, dir, .. } = world();
    dir.create(&path("Notes.md"), b"").unwrap();
    dir.create(&path("caf\u{e9}"), b"").unwrap();
    for twin in ["notes.md", "NOTES.MD", "cafe\u{301}"] {
        let error = dir.create(&path(twin), b"").unwrap_err();
        assert!(matches!(error, DirError::Exists { .. }), "{twin}: {error}");
        assert!(dir.replace(&path(twin), b"").is_err());
        assert!(dir.create_folders(&path(twin)).is_err());
        assert!(dir.rename(&path("sub/in.txt"), &path(twin)).is_err());
    }
    let long = "a".repeat(255);
    dir.create(&path(&long), b"").unwrap();
    assert!(Relative::parse(&"a".repeat(256)).is_err());
}

#[test]
fn the_base_may_be_a_link_of_the_operator() {
    let World { _temp, base, .. } = world();
    let link = base.parent().unwrap().join("link");
    symlink(&base, &link).unwrap();
    assert_eq!(Dir::open(&link).unwrap().read(&path("sub/in.txt"), BYTES_MAX).unwrap(), b"in");
    assert!(Dir::open(&base.join("sub/in.txt")).is_err());
    assert!(Dir::open(&base.join("none")).is_err());
}
