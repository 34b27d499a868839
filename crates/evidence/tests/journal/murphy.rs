//! What can go wrong goes wrong: clocks, half-done steps, threads that die, pens that slip.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evidence::{
    Against, AppendError, Config, Disk, Filter, Journal, OpenError, ReadError, Reader, RealDisk,
    RecordError, SEGMENT_BYTES_MIN, Tree,
};
use serde_json::{Value, json};

use crate::common::{
    TestClock, assert_sound, config, copy_tree, damages, fill, for_each_of, lines, numbered,
    numbers, open, overwrite, record, segment,
};

#[test]
fn a_clock_that_stands_still_or_goes_back_makes_no_record_twice() {
    let dir = tempfile::tempdir().unwrap();
    for seconds in [2_000_000, 2_000_000, 1_000_000, 3_000_000] {
        let clock = TestClock::at(seconds);
        let (journal, _) = Journal::open(&Config { clock, ..config(dir.path()) }).unwrap();
        for _ in 0..3 {
            journal.append(numbered(7)).unwrap();
        }
        journal.close().unwrap();
    }
    let stored = lines(dir.path());
    let all = |pointer: &str| {
        let mut all: Vec<_> =
            stored.iter().map(|it| it.pointer(pointer).unwrap().to_string()).collect();
        all.sort();
        all.dedup();
        all.len()
    };
    assert_eq!((stored.len(), all("/recordId"), all("/meta/seq")), (12, 12, 12));
    let seqs: Vec<_> = stored.iter().map(|it| it["meta"]["seq"].as_u64().unwrap()).collect();
    assert!(seqs.is_sorted(), "{seqs:?}");
}

#[test]
fn a_time_that_no_record_can_hold_is_refused_and_does_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let clock = TestClock::at(253_402_300_799);
    let (journal, _) =
        Journal::open(&Config { clock: clock.clone(), ..config(dir.path()) }).unwrap();
    journal.append(numbered(1)).unwrap();
    clock.advance(1);
    let error = journal.append(numbered(2)).unwrap_err();
    assert!(matches!(error, AppendError::Record(RecordError::Time { .. })), "{error}");
    drop(journal);
    drop(open(dir.path()));
    assert_eq!(numbers(dir.path()), [1]);
    assert_sound(dir.path());
}

#[test]
fn a_batch_longer_than_a_segment_gets_one_of_its_own() {
    const EACH: u64 = 8;
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    // Entries that stay open make every header long.
    let open_entries: Vec<_> = (0..1500)
        .map(|_| journal.open_entry(record(&"s".repeat(128), Value::Null)).unwrap())
        .collect();
    std::thread::scope(|scope| {
        for producer in 0..16 {
            let journal = &journal;
            scope.spawn(move || {
                for step in 0..EACH {
                    let mut long = numbered(producer * EACH + step);
                    long.meta.insert("text".to_owned(), "x".repeat(255 << 10).into());
                    journal.append(long).unwrap();
                }
            });
        }
    });
    drop(open_entries);
    journal.close().unwrap();
    assert_eq!(numbers(dir.path()).len() as u64, 16 * EACH);
    assert_sound(dir.path());
    let mut longest = 0;
    for number in Reader::open(dir.path()).unwrap().segments().unwrap() {
        let bytes = std::fs::read(segment(dir.path(), number)).unwrap();
        longest = longest.max(bytes.len() as u64);
        assert!(memchr::memmem::find(&bytes, b"{\"recordId\"").is_some(), "{number} is empty");
    }
    assert!(longest > SEGMENT_BYTES_MIN, "no batch was longer than a segment");
    drop(open(dir.path()));
}

/// A disk whose driver falls over.
struct Falling(AtomicBool);

impl Disk for Falling {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        assert!(!self.0.load(Ordering::SeqCst), "this panic is part of the test");
        RealDisk.sync(file)
    }
}

#[test]
fn nobody_waits_for_a_writer_that_died() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(Falling(AtomicBool::new(false)));
    let (journal, _) = Journal::open(&Config { disk: disk.clone(), ..config(dir.path()) }).unwrap();
    journal.append(numbered(1)).unwrap();
    disk.0.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        for number in 0..16 {
            let journal = &journal;
            scope.spawn(move || assert!(journal.append(numbered(number)).is_err()));
        }
    });
    assert!(journal.append(numbered(2)).is_err());
    assert!(journal.checkpoint().is_err());
    assert!(journal.close().is_err());
    assert!(!dir.path().join("clean.json").exists());
    drop(open(dir.path()));
    assert_sound(dir.path());
}

#[test]
fn a_closed_journal_leaves_no_thread_and_no_room_behind() {
    let dir = tempfile::tempdir().unwrap();
    // More than half of a segment, so that room for the next is being made.
    let journal = fill(dir.path(), 200);
    journal.close().unwrap();
    let room = dir.path().join("segments/000000000001.new");
    assert!(!room.exists());
    overwrite(&room, b"left by a crash");
    drop(open(dir.path()));
    assert!(!room.exists());
}

#[test]
fn room_that_somebody_still_holds_is_not_written_into() {
    let dir = tempfile::tempdir().unwrap();
    drop(fill(dir.path(), 100));
    let room = dir.path().join("segments/000000000001.new");
    overwrite(&room, b"");
    // A thread of an earlier run that has not noticed its end.
    let straggler = std::fs::OpenOptions::new().write(true).open(&room).unwrap();
    let journal = open(dir.path());
    for number in 0..300 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    assert!(segment(dir.path(), 1).exists());
    RealDisk.write_at(&straggler, &[0; 4096], 0).unwrap();
    journal.close().unwrap();
    assert_sound(dir.path());
}

#[test]
fn removing_the_lock_file_lets_no_second_writer_in() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    std::fs::remove_file(dir.path().join("journal.lock")).unwrap();
    let error = Journal::open(&config(dir.path())).err().unwrap();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    journal.append(numbered(1)).unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "only a child that is being started inherits locks")]
fn a_child_that_is_just_being_started_does_not_keep_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                assert!(std::process::Command::new("true").status().unwrap().success());
            }
        });
        for _ in 0..300 {
            let opened = Journal::open(&config(dir.path()));
            done.store(opened.is_err(), Ordering::SeqCst);
            opened.unwrap().0.close().unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
}

#[test]
fn damage_before_a_seal_is_no_torn_tail() {
    let dir = tempfile::tempdir().unwrap();
    let live = dir.path().join("live");
    drop(fill(&live, 900));
    // The crash came between the seal and the next segment, and something else came later.
    let dead = dir.path().join("dead");
    std::fs::create_dir_all(dead.join("segments")).unwrap();
    let mut bytes = std::fs::read(segment(&live, 0)).unwrap();
    let last_batch = memchr::memmem::rfind(&bytes, b"{\"batch\":").unwrap();
    let at = last_batch + memchr::memmem::find(&bytes[last_batch..], b"xxx").unwrap();
    bytes[at] = b'y';
    overwrite(&segment(&dead, 0), &bytes);
    let error = Journal::open(&config(&dead)).err();
    assert!(matches!(error, Some(OpenError::Damaged(_))), "{error:?}");
    assert_eq!(std::fs::read(segment(&dead, 0)).unwrap(), bytes);
    assert!(!dead.join("checkpoint.key").exists(), "nothing was made either");
}

#[test]
fn readers_do_not_take_damage_for_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fill(dir.path(), 900);
    journal.close().unwrap();
    let path = segment(dir.path(), 0);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = memchr::memmem::find(&bytes, b"{\"recordId\"").unwrap();
    bytes[at] = b'?';
    overwrite(&path, &bytes);
    let reader = Reader::open(dir.path()).unwrap();
    let see = |_: evidence::Entry<'_>| std::ops::ControlFlow::<()>::Continue(());
    let error = reader.read(reader.start().unwrap(), see).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { segment: 0, .. }), "{error}");
    assert!(evidence::count(&reader, &Filter::default()).is_err());
    assert!(Tree::open(&reader).is_err());
}

#[test]
fn what_the_disk_lost_is_lost_to_the_tree_too() {
    let dir = tempfile::tempdir().unwrap();
    let (live, dead) = (dir.path().join("live"), dir.path().join("dead"));
    let journal = fill(&live, 320);
    // What is on the disk…
    copy_tree(&live, &dead);
    for number in 0..10 {
        journal.append(numbered(number)).unwrap();
    }
    // …and what a reader saw before the power went.
    let reader = Reader::open(&live).unwrap();
    assert_eq!(Tree::open(&reader).unwrap().size(), 330);
    drop(journal);
    copy_tree(&live.join("tree"), &dead.join("tree"));

    assert!(damages(&dead, &Against::default()).iter().any(|it| it.contains("knows of 330")));
    let (journal, recovery) = Journal::open(&config(&dead)).unwrap();
    assert_eq!(recovery.unknown, 10);
    assert_sound(&dead);
    for number in 0..20 {
        journal.append(record("after", json!({ "n": number, "longer": "than before" }))).unwrap();
    }
    let kept = journal.checkpoint().unwrap();
    let reader = Reader::open(&dead).unwrap();
    assert_eq!(evidence::count(&reader, &Filter::default()).unwrap(), 340);
    let tree = Tree::open(&reader).unwrap();
    assert_eq!(tree.size(), 340);
    assert_eq!(tree.root(340).unwrap(), reader.signed_root(&kept).unwrap());
}

#[test]
fn a_tree_that_holds_nonsense_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fill(dir.path(), 900);
    let kept = journal.checkpoint().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    drop(Tree::open(&reader).unwrap());
    let path = dir.path().join("tree/level-0");
    let good = std::fs::read(&path).unwrap();
    let rotten = |at: usize| {
        let mut bytes = good.clone();
        bytes[at..at + 64].fill(0);
        bytes
    };
    for bad in [rotten(good.len() - 64), vec![7; good.len()], [&good[..], &good[..]].concat()] {
        overwrite(&path, &bad);
        let tree = Tree::open(&reader).unwrap();
        assert_eq!(tree.size(), 900);
        assert_eq!(tree.root(900).unwrap(), reader.signed_root(&kept).unwrap());
    }
}

#[test]
fn a_journal_without_its_segments_is_not_taken_for_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 5).close().unwrap();
    std::fs::remove_file(segment(dir.path(), 0)).unwrap();
    let found = damages(dir.path(), &Against::default());
    assert!(found.iter().any(|it| it.contains("5 records were signed, 0 are left")), "{found:?}");
    assert!(matches!(Reader::open(&dir.path().join("no")), Err(ReadError::NoJournal { .. })));
}

#[test]
fn side_files_torn_at_any_byte_do_not_stop_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let origin = dir.path().join("origin");
    fill(&origin, 3).close().unwrap();
    fill(&origin, 3).close().unwrap();
    for name in ["clean.json", "checkpoints.jsonl", "checkpoint.pub", "journal.lock"] {
        let whole = std::fs::read(origin.join(name)).unwrap();
        // Behind the text of a note come blanks, of which it matters little how many are left.
        let text = whole.trim_ascii_end().len();
        let ends = (0..text).step_by(7).chain((text..whole.len()).step_by(1021));
        for_each_of(&ends.collect::<Vec<_>>(), |end| {
            let copy = dir.path().join(format!("{name}-{end}"));
            copy_tree(&origin, &copy);
            overwrite(&copy.join(name), &whole[..*end]);
            let journal = match Journal::open(&config(&copy)) {
                Ok((journal, _)) => journal,
                Err(error) => panic!("{name} torn at {end}: {error}"),
            };
            journal.append(numbered(9)).unwrap();
            journal.close().unwrap();
            assert_sound(&copy);
            std::fs::remove_dir_all(&copy).unwrap();
        });
    }
}

#[test]
fn what_an_idle_journal_holds_is_signed_without_another_record() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config { checkpoint_seconds: 1, ..config(dir.path()) };
    let (journal, _) = Journal::open(&config).unwrap();
    journal.append(numbered(1)).unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    let signed = |_: &u32| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        reader.checkpoints().unwrap().last().is_some_and(|it| it.size == 1)
    };
    assert!((0..200).any(|look| signed(&look)));
    let kept = reader.checkpoints().unwrap().len();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(reader.checkpoints().unwrap().len(), kept, "the same is not signed again");
}
