//! The power goes at every moment: a disk that then forgets what was not synced.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use evidence::{Config, Disk, Journal, NewRecord, Reader, RealDisk, append_passing};
use serde_json::json;

use crate::common::{assert_sound, config, copy_tree, numbered, numbers, record};

/// Writes go to the file at once, where readers see them, and are taken back if they were not synced
/// when the power goes.
struct LossyDisk {
    /// Operations until the power goes.
    left: AtomicI64,
    unsynced: Mutex<Vec<Unsynced>>,
}

struct Unsynced {
    file: File,
    inode: u64,
    offset: u64,
    before: Vec<u8>,
}

impl LossyDisk {
    fn new(left: i64) -> Arc<Self> {
        Arc::new(Self { left: AtomicI64::new(left), unsynced: Mutex::default() })
    }

    /// One operation more; none after the power went.
    fn step(&self) -> io::Result<()> {
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        if left > 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(5)) }
    }

    fn is_off(&self) -> bool {
        self.left.load(Ordering::SeqCst) < 0
    }

    /// The power is gone: what was not synced is as it was before.
    fn forget(&self) {
        for lost in self.unsynced.lock().unwrap().drain(..).rev() {
            lost.file.write_all_at(&lost.before, lost.offset).unwrap();
        }
    }

    fn settle(&self, file: &File) -> io::Result<()> {
        self.step()?;
        let inode = file.metadata()?.ino();
        self.unsynced.lock().unwrap().retain(|it| it.inode != inode);
        Ok(())
    }
}

impl Disk for LossyDisk {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.step()?;
        let mut before = vec![0; bytes.len()];
        let _beyond_the_end_are_zeros = file.read_at(&mut before, offset)?;
        let inode = file.metadata()?.ino();
        let lost = Unsynced { file: file.try_clone()?, inode, offset, before };
        self.unsynced.lock().unwrap().push(lost);
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.settle(file)
    }

    fn sync_all(&self, file: &File) -> io::Result<()> {
        self.settle(file)
    }

    fn sync_room(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    fn append_line(&self, path: &Path, line: &[u8]) -> io::Result<()> {
        self.step()?;
        RealDisk.append_line(path, line)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealDisk.remove(path)
    }
}

/// So long that a segment holds four of them.
fn long(number: u64) -> NewRecord {
    let mut long = record("s", json!({ "n": number }));
    long.meta.insert("t".to_owned(), json!("x".repeat(240_000)));
    long
}

#[test]
fn whenever_the_power_goes_what_was_acknowledged_is_there() {
    const RECORDS: u64 = 10;
    let dir = tempfile::tempdir().unwrap();
    let mut cuts = 0;
    loop {
        let home = dir.path().join(cuts.to_string());
        let disk = LossyDisk::new(i64::MAX);
        let trial = Config { disk: disk.clone(), ..config(&home) };
        let (journal, _) = Journal::open(&trial).unwrap();
        disk.left.store(cuts, Ordering::SeqCst);
        let acknowledged: Vec<u64> =
            (0..RECORDS).take_while(|number| journal.append(long(*number)).is_ok()).collect();
        let all = acknowledged.len() as u64 == RECORDS;
        // Nothing more can be written, whatever its end tries.
        disk.left.store(0, Ordering::SeqCst);
        drop(journal);
        disk.forget();
        let _noted = std::fs::remove_file(home.join("clean.json"));

        let (journal, _) = Journal::open(&config(&home))
            .unwrap_or_else(|error| panic!("the power went at {cuts}: {error}"));
        drop(journal);
        assert!(numbers(&home).starts_with(&acknowledged), "the power went at {cuts}");
        assert_sound(&home);
        std::fs::remove_dir_all(&home).unwrap();
        if all {
            break;
        }
        cuts += 1;
    }
    // Two of each record, and five for each of the two segments that were begun on the way.
    assert!(cuts >= 30, "{cuts}");
}

#[test]
fn whenever_the_power_goes_at_a_start_what_was_signed_stays_signed() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let (journal, _) = Journal::open(&config(&home)).unwrap();
    journal.append(numbered(0)).unwrap();
    journal.close().unwrap();
    // Signed in the note alone.
    append_passing(&config(&home), numbered(1)).unwrap();
    let signed =
        |home: &Path| Reader::open(home).unwrap().checkpoints().unwrap().last().unwrap().size;
    assert_eq!(signed(&home), 2);
    assert_eq!(std::fs::read_to_string(home.join("checkpoints.jsonl")).unwrap().lines().count(), 1);
    let mut cuts = 0;
    loop {
        let trial = dir.path().join(cuts.to_string());
        copy_tree(&home, &trial);
        std::fs::set_permissions(
            trial.join("checkpoint.key"),
            std::os::unix::fs::PermissionsExt::from_mode(0o600),
        )
        .unwrap();
        let disk = LossyDisk::new(cuts);
        let opened = Journal::open(&Config { disk: disk.clone(), ..config(&trial) });
        let done = opened.is_ok();
        assert_eq!(done, !disk.is_off());
        disk.left.store(0, Ordering::SeqCst);
        drop(opened);
        disk.forget();
        assert_eq!(signed(&trial), 2, "the power went at {cuts}");
        drop(Journal::open(&config(&trial)).unwrap());
        assert_sound(&trial);
        if done {
            break;
        }
        cuts += 1;
    }
    assert!(cuts >= 2, "{cuts}");
}
