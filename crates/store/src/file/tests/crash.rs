//! A child writes, deletes and reports; it is killed at random moments; what was acknowledged is there,
//! and no row is there without its label.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::{FileMemory, SqliteStore, memory, page, user};
use crate::memory::Rows as _;

const CHILD_DIR: &str = "LAZARET_MEMORY_CRASH_CHILD_DIR";
const CHILD_ROUND: &str = "LAZARET_MEMORY_CRASH_CHILD_ROUND";
const KILLS: u64 = 30;

fn open(dir: &Path) -> FileMemory {
    let sqlite = Arc::new(SqliteStore::open(&dir.join("store.sqlite")).unwrap());
    FileMemory::open(&dir.join("memory"), sqlite).unwrap()
}

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Ok(dir) = std::env::var(CHILD_DIR) else { return };
    let round: u64 = std::env::var(CHILD_ROUND).unwrap().parse().unwrap();
    let file = open(Path::new(&dir));
    for step in 0.. {
        let number = round * 1_000_000 + step;
        let tag = (step % 2 == 0).then(page);
        let id = file.keep(memory("alice", &format!("note{number}"), tag)).unwrap().id;
        report("kept", number);
        if step % 5 == 4 {
            file.delete_row(&user("alice"), id).unwrap();
            report("gone", number);
        }
    }
}

#[expect(clippy::print_stdout, reason = "how the child tells the parent what it was promised")]
fn report(what: &str, number: u64) {
    println!("{what} {number}");
}

#[test]
fn what_was_acknowledged_survives_every_kill_with_its_label() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut kept = 0;
    for round in 0..KILLS {
        let mut child = spawn(dir.path(), round);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        if round % 2 == 1 {
            let mut line = String::new();
            while !line.starts_with("kept ") {
                line.clear();
                assert!(output.read_line(&mut line).unwrap() > 0);
            }
            lines.push(line.trim().to_owned());
        }
        std::thread::sleep(Duration::from_micros(random % 25_000));
        child.kill().unwrap();
        lines.extend(output.lines().map_while(Result::ok));
        child.wait().unwrap();
        kept += check(dir.path(), &lines);
    }
    // However slow the machine: every other child had written something when it was killed.
    assert!(kept >= KILLS / 2, "{kept}");
}

fn check(dir: &Path, lines: &[String]) -> u64 {
    let file = open(dir);
    let mut kept = 0;
    for line in lines {
        let Some((what, number)) = line.split_once(' ') else { continue };
        let Ok(number) = number.parse::<u64>() else { continue };
        let rows = file.find(&user("alice"), "notes", &format!("note{number}"), 10).unwrap();
        let row = rows.iter().find(|it| it.content == format!("note{number}"));
        let step = number % 1_000_000;
        match what {
            "gone" => assert!(row.is_none(), "{number} was deleted and is back"),
            // The next step may have deleted it before it was killed.
            "kept" if step % 5 == 4 && row.is_none() => {}
            "kept" => {
                assert_eq!(row.unwrap().tag, (step % 2 == 0).then(page), "{number}");
                kept += 1;
            }
            _ => {}
        }
    }
    kept
}

#[expect(clippy::disallowed_methods, reason = "the test kills a process, so it must start one")]
fn spawn(dir: &Path, round: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["file::tests::crash::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_DIR, dir)
        .env(CHILD_ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
