//! The disk fails at append n, for every n: nothing acknowledged is lost, nothing more is taken.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use evidence::{AppendError, Config, Disk, Journal, RealDisk};

use crate::common::{QuickDisk, assert_sound, config, numbered, numbers};

/// How the disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Some of the bytes are written, then no more.
    ShortWrite,
    /// Nothing is written.
    Eio,
    /// Some of the bytes are written, then the disk is full.
    Enospc,
    /// Everything is written but may not be durable.
    FailedSync,
}

const FAULTS: [Fault; 4] = [Fault::ShortWrite, Fault::Eio, Fault::Enospc, Fault::FailedSync];

/// The real disk until append `at`, then a broken one, for once only: nothing may depend on the
/// fault lasting.
struct FaultyDisk {
    fault: Fault,
    at: u64,
    writes: AtomicU64,
    syncs: AtomicU64,
    short: AtomicU64,
    armed: AtomicBool,
}

impl FaultyDisk {
    fn new(fault: Fault, at: u64) -> Self {
        let armed = AtomicBool::new(false);
        Self { fault, at, writes: 0.into(), syncs: 0.into(), short: 0.into(), armed }
    }

    /// From now on it counts: what a start writes does not.
    fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }
}

impl Disk for FaultyDisk {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if !self.armed.load(Ordering::SeqCst) {
            return RealDisk.write_at(file, bytes, offset);
        }
        if self.short.swap(0, Ordering::SeqCst) == 1 {
            let enospc = self.fault == Fault::Enospc;
            return if enospc { Err(io::Error::from_raw_os_error(28)) } else { Ok(0) };
        }
        if self.writes.fetch_add(1, Ordering::SeqCst) != self.at {
            return RealDisk.write_at(file, bytes, offset);
        }
        match self.fault {
            Fault::ShortWrite | Fault::Enospc => {
                self.short.store(1, Ordering::SeqCst);
                RealDisk.write_at(file, &bytes[..bytes.len() / 2], offset)
            }
            Fault::Eio => Err(io::Error::from_raw_os_error(5)),
            Fault::FailedSync => RealDisk.write_at(file, bytes, offset),
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let armed = self.armed.load(Ordering::SeqCst);
        let mine = armed && self.syncs.fetch_add(1, Ordering::SeqCst) == self.at;
        if mine && self.fault == Fault::FailedSync {
            return Err(io::Error::from_raw_os_error(5));
        }
        QuickDisk.sync(file)
    }

    fn sync_all(&self, file: &File) -> io::Result<()> {
        QuickDisk.sync_all(file)
    }

    fn sync_room(&self, file: &File) -> io::Result<()> {
        QuickDisk.sync_room(file)
    }
}

#[test]
fn the_disk_fails_at_append_n_for_every_n() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for fault in FAULTS {
            let dir = dir.path();
            scope.spawn(move || {
                for round in 0..2 {
                    fail_at_each(&dir.join(format!("{fault:?}-{round}")), fault);
                }
            });
        }
    });
}

/// One journal that grows from failure to failure: two records, then one that fails, then a start
/// that goes on with the next. So each place of it is where the disk failed once.
fn fail_at_each(dir: &Path, fault: Fault) {
    const FAILURES: u64 = 100;
    let mut expected = Vec::new();
    for failure in 0..FAILURES {
        let disk = Arc::new(FaultyDisk::new(fault, failure % 3));
        let (journal, _) = Journal::open(&Config { disk: disk.clone(), ..config(dir) }).unwrap();
        disk.arm();
        for _ in 0..failure % 3 {
            let number = expected.len() as u64;
            journal.append(numbered(number)).unwrap();
            expected.push(number);
        }
        for _ in 0..3 {
            let error = journal.append(numbered(FAILED)).unwrap_err();
            let poisoned = matches!(error, AppendError::Poisoned { .. });
            assert!(poisoned, "{fault:?}, failure {failure}: {error}");
        }
        assert!(matches!(journal.checkpoint(), Err(AppendError::Poisoned { .. })));
        assert!(journal.close().is_err(), "{fault:?}, failure {failure}");
        assert!(!dir.join("clean.json").exists());
        if failure % 20 == 19 {
            check(dir, &expected);
        }
    }
    check(dir, &expected);
}

/// What is recorded and fails.
const FAILED: u64 = 1_000_000;

fn check(dir: &Path, expected: &[u64]) {
    let (journal, _) = Journal::open(&config(dir)).unwrap();
    journal.close().unwrap();
    let mut there = numbers(dir);
    // A record whose sync failed may be there or not; it was not acknowledged.
    there.retain(|number| *number != FAILED);
    assert_eq!(there, expected);
    assert_sound(dir);
}

#[test]
fn everybody_in_a_failed_batch_hears_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(FaultyDisk::new(Fault::FailedSync, 3));
    let (journal, _) = Journal::open(&Config { disk: disk.clone(), ..config(dir.path()) }).unwrap();
    disk.arm();
    let results: Vec<bool> = std::thread::scope(|scope| {
        let journal = &journal;
        let threads: Vec<_> = (0..32)
            .map(|number| scope.spawn(move || journal.append(numbered(number)).is_ok()))
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let durable: Vec<u64> =
        (0..32_u64).zip(&results).filter(|(_, ok)| **ok).map(|(number, _)| number).collect();
    drop(journal);
    drop(Journal::open(&config(dir.path())).unwrap());
    let there = numbers(dir.path());
    for number in durable {
        assert!(there.contains(&number));
    }
    assert_sound(dir.path());
}

/// A disk that panics once it is told to.
struct PanickingDisk(AtomicBool);

impl Disk for PanickingDisk {
    #[expect(clippy::panic, reason = "a fault of ours, on purpose")]
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if self.0.load(Ordering::SeqCst) {
            panic!("on purpose");
        }
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        QuickDisk.sync(file)
    }
}

#[test]
fn a_fault_of_ours_ends_the_writing_and_no_producer() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(PanickingDisk(AtomicBool::new(false)));
    let (journal, _) = Journal::open(&Config { disk: disk.clone(), ..config(dir.path()) }).unwrap();
    journal.append(numbered(0)).unwrap();
    disk.0.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        assert!(matches!(journal.append(numbered(FAILED)), Err(AppendError::Poisoned { .. })));
    }
    assert!(journal.close().is_err());
    drop(Journal::open(&config(dir.path())).unwrap());
    assert_eq!(numbers(dir.path()), [0]);
    assert_sound(dir.path());
}

#[test]
fn a_blob_that_cannot_be_written_poisons_the_journal_before_its_record_is() {
    let dir = tempfile::tempdir().unwrap();
    let journal = crate::common::open(dir.path());
    journal.append(numbered(1)).unwrap();
    let blobs = dir.path().join("blobs");
    std::fs::remove_dir_all(&blobs).unwrap();
    crate::common::overwrite(&blobs, b"in the way");
    let long = crate::common::record("s", serde_json::json!("x".repeat(10_000)));
    assert!(matches!(journal.append(long), Err(AppendError::Poisoned { .. })));
    assert!(matches!(journal.append(numbered(2)), Err(AppendError::Poisoned { .. })));
    drop(journal);
    std::fs::remove_file(&blobs).unwrap();
    drop(Journal::open(&config(dir.path())).unwrap());
    assert_eq!(numbers(dir.path()), [1]);
    assert_sound(dir.path());
}
