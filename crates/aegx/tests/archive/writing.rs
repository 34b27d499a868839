//! What the writer writes, and what it refuses to.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use aegx::archive::{Archive, ArchiveWriter, Overwrite, RATIO_FREE_BYTES, Rules};
use tempfile::TempDir;

use crate::archive::support::{code, read};

#[test]
fn what_goes_in_comes_out_and_the_bytes_are_always_the_same() {
    let home = TempDir::new().unwrap();
    let noise: Vec<u8> =
        (0u32..200_000).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let write = |name: &str, trickle: bool| {
        let path = home.path().join(name);
        let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
        writer.add_directory("blobs/").unwrap();
        let size = if trickle {
            writer.add_file("blobs/noise", Trickle { rest: &noise, interrupt: false }).unwrap()
        } else {
            writer.add_file("blobs/noise", &noise[..]).unwrap()
        };
        assert_eq!(size, noise.len() as u64);
        writer.add_file("manifest.json", &b"{}"[..]).unwrap();
        writer.add_file("ä..b/.keep", io::empty()).unwrap();
        writer.finish().unwrap();
        path
    };
    let path = write("one.zip", false);
    let tree = read(&path, Rules::Strict).unwrap();
    assert_eq!(tree.len(), 4);
    assert_eq!(tree["blobs/noise"], noise);
    assert_eq!(tree["ä..b/.keep"], b"");
    assert_eq!(fs::read(&path).unwrap(), fs::read(write("two.zip", true)).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o133, 0);
}

/// Yields one odd piece at a time, with interruptions.
struct Trickle<'a> {
    rest: &'a [u8],
    interrupt: bool,
}

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(io::ErrorKind::Interrupted.into());
        }
        (&mut self.rest).take(1013).read(out)
    }
}

#[test]
fn nothing_is_left_of_what_was_not_finished() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("a.zip");
    let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
    writer.add_file("a", &b"x"[..]).unwrap();
    let temporary = fs::read_dir(home.path()).unwrap().next().unwrap().unwrap();
    assert_eq!(temporary.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    drop(writer);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_failed_entry_spoils_the_archive() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk on fire"))
        }
    }
    let home = TempDir::new().unwrap();
    let path = home.path().join("a.zip");
    let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
    assert_eq!(code(&writer.add_file("a", Failing)), "zip_io");
    assert_eq!(code(&writer.add_file("b", io::empty())), "zip_writer_broken");
    assert_eq!(code(&writer.add_directory("c")), "zip_writer_broken");
    assert_eq!(code(&writer.finish()), "zip_writer_broken");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn names_the_reader_refuses_are_refused() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("a.zip");
    let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
    writer.add_file("a/b", io::empty()).unwrap();
    for (name, refusal) in [
        ("../up", "zip_path_traversal"),
        ("/abs", "zip_absolute_name"),
        ("a:b", "zip_absolute_name"),
        ("file/", "zip_name_empty_component"),
        ("a/b", "zip_duplicate_name"),
        ("A/b", "zip_name_clash"),
        ("a", "zip_file_and_directory"),
        ("\u{fffd}", "zip_name_encoding"),
        (&"x".repeat(2000), "zip_name_too_long"),
    ] {
        assert_eq!(code(&writer.add_file(name, io::empty())), refusal, "{name}");
    }
    assert_eq!(code(&writer.add_directory("/")), "zip_absolute_name");
    assert_eq!(code(&writer.add_directory("a/b")), "zip_file_and_directory");
    // None of that spoiled it.
    writer.finish().unwrap();
    assert_eq!(read(&path, Rules::Strict).unwrap().len(), 1);
}

#[test]
fn a_target_is_replaced_only_on_request() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("a.zip");
    File::create(&path).unwrap();
    assert_eq!(code(&ArchiveWriter::create(&path, Overwrite::No).map(|_| ())), "zip_target_exists");

    // Appears while the archive is being written.
    let late = home.path().join("late.zip");
    let writer = ArchiveWriter::create(&late, Overwrite::No).unwrap();
    symlink("nowhere", &late).unwrap();
    assert_eq!(code(&writer.finish()), "zip_target_exists");
    assert!(fs::symlink_metadata(&late).unwrap().is_symlink());

    for target in [&path, &late] {
        let mut writer = ArchiveWriter::create(target, Overwrite::Yes).unwrap();
        writer.add_file("a", &b"new"[..]).unwrap();
        writer.finish().unwrap();
        assert!(fs::symlink_metadata(target).unwrap().is_file());
        assert_eq!(read(target, Rules::Strict).unwrap()["a"], b"new");
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}

#[test]
fn many_entries_need_and_get_the_wide_records() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("many.zip");
    let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
    for i in 0..70_000 {
        writer.add_directory(&i.to_string()).unwrap();
    }
    writer.finish().unwrap();
    for rules in [Rules::Strict, Rules::Compat] {
        assert_eq!(Archive::open(&path, rules).unwrap().entries().len(), 70_000);
    }
    crate::archive::interop::assert_sound_to_others(&path);
}

#[test]
fn contents_that_compress_too_well_still_make_a_readable_archive() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("text.zip");
    let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
    let text = b"all work and no play makes jack a dull boy\n".repeat(5_000_000);
    assert!(text.len() as u64 > 3 * RATIO_FREE_BYTES);
    writer.add_file("text", &text[..]).unwrap();
    writer.add_file("after", &b"after"[..]).unwrap();
    writer.finish().unwrap();

    // Read to the end, so the checksum was found right.
    assert!(read(&path, Rules::Strict).unwrap()["text"] == text);
    // And still a small one.
    assert!(fs::metadata(&path).unwrap().len() < text.len() as u64 / 50);
}

#[test]
#[ignore = "compresses and inflates 5 GiB: a minute"]
fn a_file_of_more_than_four_gibibytes_survives() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("big.zip");
    let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
    let size = 5 << 30;
    assert_eq!(writer.add_file("records.jsonl", io::repeat(b'{').take(size)).unwrap(), size);
    writer.finish().unwrap();

    let archive = Archive::open(&path, Rules::Strict).unwrap();
    let entry = archive.entry("records.jsonl").unwrap();
    assert_eq!(entry.size(), size);
    let mut contents = archive.open_entry(entry).unwrap();
    assert_eq!(io::copy(&mut contents, &mut io::sink()).unwrap(), size);
    crate::archive::interop::assert_sound_to_others(&path);
}
