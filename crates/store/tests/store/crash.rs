//! A child appends and reports what was acknowledged; it is killed at random moments; nothing that
//! was acknowledged may be missing.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use model::Profile;
use monitor::State;
use testkit::crash::{Child, From, Killer, promise};

use crate::store::common::{caller, open, summary};

const THREADS: u64 = 4;
const KILLS: u64 = 40;

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Some(Child { dir, round }) = Child::of_this_process() else { return };
    let store = open(&dir);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || work(store, thread, round));
        }
    });
}

/// Adds numbers to one session; every so often all of them are put into one snapshot.
fn work(store: &impl State, thread: u64, round: u64) {
    let who = caller(&format!("s-{thread}"));
    let mut all: Vec<u8> = store.open(&who, Profile::Standard).unwrap().changes.concat();
    for step in 0.. {
        let number = round * 1_000_000 + step;
        let change = number.to_be_bytes();
        all.extend_from_slice(&change);
        if step % 7 == 6 {
            store.compact(&who.session, &all, &summary(step)).unwrap();
        } else {
            store.append(&who.session, &change, &summary(step)).unwrap();
        }
        promise(format_args!("{thread} {number}"));
    }
}

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut killer = Killer::new("store::crash::child", dir.path());
    for round in 0..KILLS {
        let from = if round % 2 == 1 { From::TheFirstPromise } else { From::ItsStart };
        for promised in killer.kill(from, Duration::from_millis(25)) {
            let (thread, number) = promised.split_once(' ').unwrap();
            let of_thread = acknowledged.entry(thread.parse().unwrap()).or_default();
            of_thread.push(number.parse().unwrap());
        }
        check(dir.path(), &acknowledged);
    }
    assert!(acknowledged.values().map(Vec::len).sum::<usize>() as u64 > KILLS);
}

/// Everything acknowledged is there, once and in order.
fn check(dir: &Path, acknowledged: &HashMap<u64, Vec<u64>>) {
    let store = open(dir);
    for (thread, numbers) in acknowledged {
        let opened = store.open(&caller(&format!("s-{thread}")), Profile::Standard).unwrap();
        let all = opened.changes.concat();
        let there: Vec<u64> =
            all.chunks_exact(8).map(|it| u64::from_be_bytes(it.try_into().unwrap())).collect();
        assert!(there.is_sorted_by(|a, b| a < b), "a change is there twice or out of order");
        for number in numbers {
            assert!(there.binary_search(number).is_ok(), "{number} was acknowledged and is gone");
        }
    }
}
