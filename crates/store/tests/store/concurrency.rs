//! Many producers at once, readers beside them, two processes on one store.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use model::Profile;
use monitor::State;
use store::{Durability, Oversight, SqliteStore};

use crate::store::common::{caller, database, open, summary};

const PRODUCERS: usize = 64;

/// Every producer appends its numbers to its own session; answers how many appends a second.
fn append_all(store: &SqliteStore, each: u32) -> f64 {
    let callers: Vec<_> = (0..PRODUCERS).map(|it| caller(&format!("s-{it}"))).collect();
    for who in &callers {
        store.open(who, Profile::Standard).unwrap();
    }
    let start = Instant::now();
    std::thread::scope(|scope| {
        for who in &callers {
            scope.spawn(move || {
                for step in 0..each {
                    let mut change = [0; 120];
                    change[..4].copy_from_slice(&step.to_be_bytes());
                    store.append(&who.session, &change, &summary(u64::from(step))).unwrap();
                }
            });
        }
    });
    f64::from(each) * PRODUCERS as f64 / start.elapsed().as_secs_f64()
}

#[test]
fn sixty_four_producers_keep_their_order() {
    const EACH: u32 = 50;
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    append_all(&store, EACH);
    drop(store);
    let store = open(dir.path());
    for producer in 0..PRODUCERS {
        let opened = store.open(&caller(&format!("s-{producer}")), Profile::Standard).unwrap();
        let steps: Vec<_> = opened.changes.iter().map(|it| it[..4].to_vec()).collect();
        let expected: Vec<_> = (0..EACH).map(|it| it.to_be_bytes().to_vec()).collect();
        assert_eq!(steps, expected);
    }
}

#[test]
fn readers_see_whole_batches_and_nobody_waits_for_them() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (store, done) = (&store, &done);
        let readers: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(move || {
                    let mut looks = 0;
                    while !done.load(Ordering::SeqCst) || looks == 0 {
                        let rows = store.sessions(100).unwrap();
                        assert!(rows.len() <= PRODUCERS);
                        looks += 1;
                    }
                })
            })
            .collect();
        append_all(store, 20);
        done.store(true, Ordering::SeqCst);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn two_stores_on_one_file_see_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (open(dir.path()), open(dir.path()));
    let who = caller("s");
    one.open(&who, Profile::Standard).unwrap();
    std::thread::scope(|scope| {
        for store in [&one, &two] {
            let who = &who;
            scope.spawn(move || {
                for _ in 0..100 {
                    store.append(&who.session, b"x", &summary(1)).unwrap();
                }
            });
        }
    });
    assert_eq!(one.open(&who, Profile::Standard).unwrap().changes.len(), 200);
}

#[test]
#[ignore = "a measurement: wants an optimised build and a machine that does nothing else"]
fn sixty_four_producers_reach_twenty_thousand_appends_a_second() {
    for durability in [Durability::Synced, Durability::DangerouslyUnsynced] {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open_with(&database(dir.path()), durability).unwrap();
        let rate = append_all(&store, 1000);
        assert!(rate >= 20_000.0, "{durability:?}: {rate:.0} appends a second");
    }
}
