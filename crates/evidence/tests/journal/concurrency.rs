//! Many producers, readers at the same time, one writing process.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use evidence::{Against, Config, Journal, OpenError, Reader};

use crate::common::{assert_sound, config, fill, numbered, numbers, open, segment};

#[test]
fn sixty_four_producers_get_distinct_receipts_in_order() {
    const PRODUCERS: u64 = 64;
    const EACH: u64 = 50;
    let dir = tempfile::tempdir().unwrap();
    // A short queue, so that producers meet the back-pressure too.
    let (journal, _) = Journal::open(&Config { queue_records: 8, ..config(dir.path()) }).unwrap();
    let mut receipts: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let journal = &journal;
        let threads: Vec<_> = (0..PRODUCERS)
            .map(|producer| {
                scope.spawn(move || {
                    let append = |step| {
                        let number = producer * EACH + step;
                        (journal.append(numbered(number)).unwrap().idx(), number)
                    };
                    let mine: Vec<_> = (0..EACH).map(append).collect();
                    assert!(mine.is_sorted(), "a producer's own records keep their order");
                    mine
                })
            })
            .collect();
        threads.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    let stats = journal.writer_stats();
    assert_eq!(stats.records, PRODUCERS * EACH);
    assert!(stats.syncs < stats.records, "syncs are shared");
    journal.close().unwrap();
    receipts.sort_unstable();
    assert!(receipts.iter().map(|it| it.0).eq(0..PRODUCERS * EACH));
    let stored: Vec<u64> = receipts.iter().map(|it| it.1).collect();
    assert_eq!(numbers(dir.path()), stored);
    assert_sound(dir.path());
}

#[test]
fn readers_see_a_growing_prefix_while_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    journal.append(numbered(0)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (journal, done) = (&journal, &done);
        scope.spawn(move || {
            for number in 1..3000 {
                journal.append(numbered(number)).unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        let reader = Reader::open(dir.path()).unwrap();
        let mut at = reader.start().unwrap();
        let mut next = 0;
        loop {
            let last_look = done.load(Ordering::SeqCst);
            let see = |entry: evidence::Entry<'_>| {
                assert_eq!(entry.idx, next);
                next += 1;
                ControlFlow::<()>::Continue(())
            };
            (at, _) = reader.read(at, see).unwrap();
            let verified = evidence::verify(&reader, &Against::default()).unwrap();
            assert_eq!(verified.damages, []);
            if last_look {
                break;
            }
        }
        assert_eq!(next, 3000);
    });
}

#[test]
fn reading_goes_on_from_between_a_seal_and_the_next_segment() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 400).close().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    let next = segment(dir.path(), 1);
    let aside = dir.path().join("aside");
    let mut seen = 0;
    let mut count = |_: evidence::Entry<'_>| {
        seen += 1;
        ControlFlow::<()>::Continue(())
    };
    // As it is for a moment while the writer makes the next segment.
    std::fs::rename(&next, &aside).unwrap();
    let (at, _) = reader.read(reader.start().unwrap(), &mut count).unwrap();
    std::fs::rename(&aside, &next).unwrap();
    reader.read(at, &mut count).unwrap();
    assert_eq!(seen, 400);
}

#[test]
fn a_second_writer_is_told_who_has_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let error = Journal::open(&config(dir.path())).err().unwrap();
    assert!(matches!(error, OpenError::Locked { .. }));
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    drop(journal);
    drop(open(dir.path()));
}

#[test]
fn what_is_posted_keeps_its_place_and_is_written_with_what_is_waited_for() {
    const PRODUCERS: u64 = 8;
    const EACH: u64 = 60;
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(&Config { queue_records: 8, ..config(dir.path()) }).unwrap();
    std::thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let journal = &journal;
            scope.spawn(move || {
                for step in 0..EACH {
                    let number = producer * EACH + step;
                    match step % 3 {
                        2 => drop(journal.append(numbered(number)).unwrap()),
                        _ => drop(journal.post(numbered(number)).unwrap()),
                    }
                }
            });
        }
    });
    // The last of each was waited for, and so was everything before it.
    let mut stored = numbers(dir.path());
    for producer in 0..PRODUCERS {
        let own = |it: &u64| *it / EACH == producer;
        assert!(stored.iter().copied().filter(own).eq(producer * EACH..(producer + 1) * EACH));
    }
    stored.sort_unstable();
    assert!(stored.into_iter().eq(0..PRODUCERS * EACH));
    assert!(journal.writer_stats().syncs <= PRODUCERS * EACH / 3 + 8);
    journal.close().unwrap();
    assert_sound(dir.path());
}

#[test]
fn what_is_posted_last_is_written_by_itself_or_when_somebody_waits() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    journal.post(numbered(0)).unwrap();
    while numbers(dir.path()).is_empty() {
        std::thread::yield_now();
    }
    journal.post(numbered(1)).unwrap();
    journal.flush().unwrap();
    assert_eq!(numbers(dir.path()), [0, 1]);
    // Content that is kept beside its record can be posted, too.
    let mut long = numbered(2);
    long.content =
        evidence::Content::Bytes { bytes: vec![b'x'; 1 << 20], mime: "text/plain".to_owned() };
    journal.post(long).unwrap();
    journal.close().unwrap();
    let mut records = 0;
    let reader = Reader::open(dir.path()).unwrap();
    let see = |_: evidence::Entry<'_>| {
        records += 1;
        ControlFlow::<()>::Continue(())
    };
    reader.read(reader.start().unwrap(), see).unwrap();
    assert_eq!(records, 3);
    assert_sound(dir.path());
}
