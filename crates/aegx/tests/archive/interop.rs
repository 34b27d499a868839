//! What other programs make of our archives.

use std::path::Path;
use std::process::{Command, Output};

use aegx::archive::{ArchiveWriter, Overwrite};
use tempfile::TempDir;

/// Runs `program`; nothing if it is not installed.
fn run(program: &str, arguments: &[&str], path: &Path) -> Option<Output> {
    #[expect(clippy::disallowed_methods, reason = "other programs must read our archives")]
    let mut command = Command::new(program);
    command.args(arguments).arg(path).output().ok()
}

#[test]
fn others_read_what_we_write() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("ours.aegx.zip");
    let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
    writer.add_file("audit-log.jsonl", "{}\n".repeat(10_000).as_bytes()).unwrap();
    writer.add_directory("blobs").unwrap();
    writer.add_file("blobs/ä", &b"blob"[..]).unwrap();
    writer.add_file("zeros", std::io::Read::take(std::io::repeat(0), 80 << 20)).unwrap();
    writer.finish().unwrap();

    assert_sound_to_others(&path);
    if let Some(output) = run("python3", &["-c", PYTHON], &path) {
        assert!(output.status.success(), "{output:?}");
    }
}

/// Checksums and all.
pub(crate) fn assert_sound_to_others(path: &Path) {
    for (program, arguments) in [("unzip", &["-tqq"][..]), ("python3", &["-m", "zipfile", "-t"])] {
        if let Some(output) = run(program, arguments, path) {
            assert!(output.status.success(), "{program}: {output:?}");
            assert!(!String::from_utf8_lossy(&output.stdout).contains("corrupted"), "{output:?}");
        }
    }
}

const PYTHON: &str = r#"
import sys, zipfile
zip = zipfile.ZipFile(sys.argv[1])
infos = zip.infolist()
assert [i.filename for i in infos] == ["audit-log.jsonl", "blobs/", "blobs/ä", "zeros"]
assert [i.external_attr >> 16 for i in infos] == [0o100644, 0o40755, 0o100644, 0o100644]
assert all(i.date_time == (1980, 1, 1, 0, 0, 0) and i.create_system == 3 for i in infos)
assert zip.read("audit-log.jsonl") == b"{}\n" * 10000
"#;
