//! A child appends and reports each receipt; it is killed at random moments; nothing it was told
//! is durable may be missing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use evidence::{Config, Journal, RealDisk};
use testkit::crash::{Child, From, Killer, kills, promise};

use crate::common::{assert_sound, config, numbered, numbers};

const KILLS: u64 = 200;
/// Kills of one journal. A start after a crash verifies everything: the next begins before that is most of the work.
const KILLS_OF_ONE: u64 = 20;

/// Where the journal of this round lies.
fn place(dir: &Path, round: u64) -> PathBuf {
    dir.join((round / KILLS_OF_ONE).to_string())
}

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Some(Child { dir, round }) = Child::of_this_process() else { return };
    let disk = Arc::new(RealDisk);
    let config = Config { disk, ..config(&place(&dir, round)) };
    let (journal, _) = Journal::open(&config).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journal = &journal;
            scope.spawn(move || {
                for step in 0.. {
                    let number = round * 1_000_000 + thread + 4 * step;
                    journal.append(numbered(number)).unwrap();
                    promise(number);
                }
            });
        }
    });
}

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let kills = kills(KILLS);
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged: Vec<u64> = Vec::new();
    let mut total = 0;
    let mut killer = Killer::new("crash::child", dir.path());
    for round in 0..kills {
        let from = if round % 2 == 1 { From::TheFirstPromise } else { From::ItsStart };
        let promised = killer.kill(from, Duration::from_millis(25));
        acknowledged.extend(promised.iter().map(|it| it.parse::<u64>().unwrap()));
        if round % KILLS_OF_ONE == KILLS_OF_ONE - 1 || round + 1 == kills {
            let place = place(dir.path(), round);
            check(&place, &acknowledged);
            total += acknowledged.len() as u64;
            acknowledged.clear();
            std::fs::remove_dir_all(place).unwrap();
        }
    }
    assert!(total > kills, "the child hardly got to work");
}

/// Everything acknowledged is there once, and the chain verifies.
fn check(dir: &Path, acknowledged: &[u64]) {
    drop(Journal::open(&config(dir)).unwrap());
    let mut there = numbers(dir);
    let count = there.len();
    there.sort_unstable();
    there.dedup();
    assert_eq!(there.len(), count, "a record is there twice");
    for number in acknowledged {
        assert!(
            there.binary_search(number).is_ok(),
            "record {number} was acknowledged and is gone"
        );
    }
    assert_sound(dir);
}
