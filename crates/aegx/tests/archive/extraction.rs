//! Where extracted files go, and what happens if they cannot.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use aegx::archive::{Archive, Extracted, Rules, extract};
use tempfile::TempDir;

use crate::archive::support::{code, save, tree};
use crate::archive::zip_builder::{Item, build};

fn sample() -> Vec<u8> {
    build(&[
        Item::directory("blobs/"),
        Item::deflated("blobs/one", b"contents"),
        Item::stored("setuid", b"#!").with(|item| item.attributes = 0o104_777 << 16),
        Item::stored("deep/er/file", b""),
    ])
}

#[test]
fn files_are_plain_and_counted() {
    let home = TempDir::new().unwrap();
    let archive = Archive::open(&save(&home, &sample()), Rules::Strict).unwrap();
    let out = home.path().join("out");
    let mut seen = 0;
    let extracted = extract(&archive, &out, &mut |bytes| seen += bytes).unwrap();
    assert_eq!(extracted, Extracted { files: 3, directories: 1, bytes: 10 });
    assert_eq!(seen, 10);

    let mode = |name: &str| fs::metadata(out.join(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("setuid") & !0o644, 0);
    assert_eq!(mode("blobs") & !0o755, 0);
    assert_eq!(tree(home.path()).len(), 1 + 1 + 6, "{:?}", tree(home.path()));
}

#[test]
fn an_empty_directory_is_replaced_and_keeps_its_permissions() {
    let home = TempDir::new().unwrap();
    let archive = Archive::open(&save(&home, &sample()), Rules::Strict).unwrap();
    let out = home.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o700)).unwrap();
    extract(&archive, &out, &mut |_| {}).unwrap();
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o7777, 0o700);
}

#[test]
fn whatever_is_there_stays() {
    let home = TempDir::new().unwrap();
    let archive = Archive::open(&save(&home, &sample()), Rules::Strict).unwrap();
    let path = |name: &str| home.path().join(name);
    fs::create_dir(path("full")).unwrap();
    File::create(path("full/file")).unwrap();
    File::create(path("file")).unwrap();
    fs::create_dir(path("empty")).unwrap();
    symlink("empty", path("link")).unwrap();
    symlink("nowhere", path("dangling")).unwrap();

    for name in ["full", "file", "link", "dangling"] {
        let result = extract(&archive, &path(name), &mut |_| {});
        assert_eq!(code(&result), "zip_output_not_empty", "{name}");
    }
    let result = extract(&archive, &path("missing/out"), &mut |_| {});
    assert_eq!(code(&result), "zip_io");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 6);
    assert_eq!(fs::read_dir(path("empty")).unwrap().count(), 0);
}

#[test]
fn damage_in_the_last_entry_undoes_the_first() {
    let home = TempDir::new().unwrap();
    let items = [Item::stored("a/b", b"x"), Item::stored("c", b"y").with_both(|h| h.crc32 ^= 1)];
    let archive = Archive::open(&save(&home, &build(&items)), Rules::Strict).unwrap();
    let out = home.path().join("out");
    fs::create_dir(&out).unwrap();
    assert_eq!(code(&extract(&archive, &out, &mut |_| {})), "zip_checksum");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn pipes_and_directories_are_no_archives() {
    let home = TempDir::new().unwrap();
    assert_eq!(code(&Archive::open(home.path(), Rules::Strict)), "zip_not_a_file");
    let missing = home.path().join("missing");
    assert_eq!(code(&Archive::open(&missing, Rules::Strict)), "zip_io");
    assert_eq!(code(&Archive::open("/dev/zero".as_ref(), Rules::Strict)), "zip_not_a_file");
}

#[test]
fn entries_are_found_and_read_from_many_threads() {
    let home = TempDir::new().unwrap();
    let contents = |i: usize| format!("entry {i} ").repeat(10_000);
    let items: Vec<_> = (0..20)
        .map(|i| Item::deflated(format!("{}", 19 - i), contents(19 - i).as_bytes()))
        .collect();
    let archive = Archive::open(&save(&home, &build(&items)), Rules::Strict).unwrap();
    assert!(archive.entry("20").is_none());
    std::thread::scope(|scope| {
        for i in 0..20 {
            let archive = &archive;
            scope.spawn(move || {
                let entry = archive.entry(&i.to_string()).unwrap();
                let mut text = String::new();
                archive.open_entry(entry).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, contents(i));
            });
        }
    });
}

#[test]
fn a_refused_reader_stays_refused() {
    let home = TempDir::new().unwrap();
    let item = Item::stored("a", b"text").with_both(|header| header.crc32 ^= 1);
    let archive = Archive::open(&save(&home, &build(&[item])), Rules::Strict).unwrap();
    let mut reader: Box<dyn Read + Send> =
        Box::new(archive.open_entry(archive.entry("a").unwrap()).unwrap());
    let mut buffer = [0; 4];
    // Even a caller that asks for no more than the declared size is told.
    for _ in 0..2 {
        let error = reader.read_exact(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    }
}

const HOME: &str = "AEGX_TEST_SMALL_DISK";

/// Runs itself with a limit on file sizes, which fails like a full disk.
#[test]
fn a_full_disk_leaves_nothing() {
    if let Some(home) = std::env::var_os(HOME) {
        let home = std::path::PathBuf::from(home);
        let archive = Archive::open(&home.join("test.aegx.zip"), Rules::Strict).unwrap();
        assert_eq!(code(&extract(&archive, &home.join("out"), &mut |_| {})), "zip_io");
        return;
    }
    let home = TempDir::new().unwrap();
    save(&home, &build(&[Item::stored("small", b"x"), Item::deflated("big", &[7; 1 << 20])]));
    let before = tree(home.path());
    #[expect(clippy::disallowed_methods, reason = "a limit on file sizes needs its own process")]
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact \"$1\""])
        .arg(std::env::current_exe().unwrap())
        .arg("archive::extraction::a_full_disk_leaves_nothing")
        .env(HOME, home.path());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    assert_eq!(tree(home.path()), before);
}
