//! A child appends and reports what was acknowledged; it is killed at random moments; nothing that
//! was acknowledged may be missing.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use model::Profile;
use monitor::State;

use crate::store::common::{caller, open, summary};

const CHILD_DIR: &str = "LAZARET_STORE_CRASH_CHILD_DIR";
const CHILD_ROUND: &str = "LAZARET_STORE_CRASH_CHILD_ROUND";
const THREADS: u64 = 4;
const KILLS: u64 = 40;

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Ok(dir) = std::env::var(CHILD_DIR) else { return };
    let round: u64 = std::env::var(CHILD_ROUND).unwrap().parse().unwrap();
    let store = open(Path::new(&dir));
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
        report(thread, number);
    }
}

#[expect(clippy::print_stdout, reason = "how the child tells the parent what it was promised")]
fn report(thread: u64, number: u64) {
    println!("durable {thread} {number}");
}

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..KILLS {
        let mut child = spawn(dir.path(), round);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut note = |line: &str| {
            let Some((thread, number)) = acknowledged_in(line) else { return false };
            acknowledged.entry(thread).or_default().push(number);
            true
        };
        if round % 2 == 1 {
            // Well into the work, however slow the machine is; else from before it is open on.
            let mut lines = output.by_ref().lines().map_while(Result::ok);
            lines.find(|line| note(line));
        }
        std::thread::sleep(Duration::from_micros(random % 25_000));
        child.kill().unwrap();
        for line in output.lines().map_while(Result::ok) {
            note(&line);
        }
        child.wait().unwrap();
        check(dir.path(), &acknowledged);
    }
    assert!(acknowledged.values().map(Vec::len).sum::<usize>() as u64 > KILLS);
}

fn acknowledged_in(line: &str) -> Option<(u64, u64)> {
    let (thread, number) = line.strip_prefix("durable ")?.split_once(' ')?;
    Some((thread.parse().ok()?, number.parse().ok()?))
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

#[expect(clippy::disallowed_methods, reason = "the test kills a process, so it must start one")]
fn spawn(dir: &Path, round: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["store::crash::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_DIR, dir)
        .env(CHILD_ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
