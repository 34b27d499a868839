//! A child appends and reports each receipt; it is killed at random moments; nothing it was told
//! is durable may be missing.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use evidence::{Config, Journal, RealDisk};

use crate::common::{assert_sound, config, numbered, numbers};

const CHILD_DIR: &str = "LAZARET_CRASH_CHILD_DIR";
const CHILD_FIRST: &str = "LAZARET_CRASH_CHILD_FIRST";
/// How often the child is killed; `LAZARET_CRASH_KILLS=1000` for the long run.
const KILLS: &str = "LAZARET_CRASH_KILLS";
const KILLS_DEFAULT: u64 = 200;

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Ok(dir) = std::env::var(CHILD_DIR) else { return };
    let first: u64 = std::env::var(CHILD_FIRST).unwrap().parse().unwrap();
    let disk = Arc::new(RealDisk);
    let config = Config { disk, ..config(Path::new(&dir)) };
    let (journal, _) = Journal::open(&config).unwrap();
    let report = std::sync::Mutex::new(());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (journal, report) = (&journal, &report);
            scope.spawn(move || {
                for step in 0.. {
                    let number = first + thread + 4 * step;
                    journal.append(numbered(number)).unwrap();
                    let _guard = report.lock();
                    report_line(number);
                }
            });
        }
    });
}

#[expect(clippy::print_stdout, reason = "how the child tells the parent what it was promised")]
fn report_line(number: u64) {
    println!("durable {number}");
}

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let kills = std::env::var(KILLS).ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS_DEFAULT);
    let mut dir = tempfile::tempdir().unwrap();
    let mut acknowledged: Vec<u64> = Vec::new();
    let mut total = 0;
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..kills {
        let first = round * 1_000_000;
        let mut child = spawn(dir.path(), first);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut output = BufReader::new(child.stdout.take().unwrap());
        if round % 2 == 1 {
            // Well into the work, however slow the machine is; else from before it is open on.
            acknowledged.extend(first_acknowledged(&mut output));
        }
        std::thread::sleep(Duration::from_micros(random % 25_000));
        child.kill().unwrap();
        for line in output.lines().map_while(Result::ok) {
            acknowledged.extend(acknowledged_in(&line));
        }
        child.wait().unwrap();
        if round % 20 == 19 || round + 1 == kills {
            check(dir.path(), &acknowledged);
            // A start after a crash verifies everything: begin anew before that is most of the work.
            total += acknowledged.len() as u64;
            acknowledged.clear();
            dir = tempfile::tempdir().unwrap();
        }
    }
    assert!(total > kills, "the child hardly got to work");
}

fn acknowledged_in(line: &str) -> Option<u64> {
    line.strip_prefix("durable ")?.parse().ok()
}

/// Waits for the first record that the child was told is durable.
fn first_acknowledged(output: &mut impl BufRead) -> Option<u64> {
    output.lines().map_while(Result::ok).find_map(|line| acknowledged_in(&line))
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

#[expect(clippy::disallowed_methods, reason = "the test kills a process, so it must start one")]
fn spawn(dir: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["crash::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_DIR, dir)
        .env(CHILD_FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
