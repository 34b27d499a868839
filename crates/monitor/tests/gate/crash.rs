//! A child makes calls and says what was delivered to its agent; it is killed at random moments. Whatever
//! was delivered taints the session that the next process finds.

use std::path::Path;
use std::time::Duration;

use evidence::{Durability, Journal};
use model::{RawCall, Source, Taint};
use monitor::{Asked, Output};
use serde_json::json;
use testkit::crash::{Child, From, Killer, promise};

use crate::gate::world::{TASK, asks, clock, kind, open, opening, records, send_mail, who};

const KILLS: u64 = 12;

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Some(Child { dir, round }) = Child::of_this_process() else { return };
    let gate = open(&dir, &clock(), Durability::Synced);
    let who = who(&format!("s-{round}"));
    gate.monitor.open_session(opening(&who)).unwrap();
    gate.hear(&who, Source::User, TASK).unwrap();
    // The first reading loads the rules, which would take all the time until the kill.
    drop(scan::text::read("Number", scan::text::Author::Outsider));
    for step in 0.. {
        let args = json!({ "url": "https://news.example/today" }).to_string();
        let asked = Asked::Tool(RawCall { tool: "read_page", args: args.as_bytes() });
        let body = format!("Number {step} is written by eve{step}.{round}@evil.example.");
        if step % 2 == 0 {
            let (permit, begun) = gate.monitor.begin(&who, &asked).unwrap();
            drop(permit);
            // The effect happens elsewhere: from here on its output may be known.
            promise(format_args!("begun {round} {step}"));
            gate.monitor.finish(begun, Output::text(body)).unwrap();
        } else {
            gate.monitor.run(&who, &asked, &crate::gate::world::Gives(&body)).unwrap();
        }
        promise(format_args!("delivered {round} {step}"));
    }
}

#[test]
fn what_was_delivered_taints_the_session_after_every_kill() {
    let dir = crate::gate::world::tempdir();
    let mut killer = Killer::new("gate::crash::child", dir.path());
    let (mut delivered_in_all, mut interrupted) = (0, 0);
    for round in 0..KILLS {
        // Right after the first call has begun, or later.
        let within = Duration::from_millis(if round % 3 == 0 { 0 } else { 90 });
        let said = killer.kill(From::TheFirstPromise, within);
        let delivered = numbers(&said, "delivered ", round);
        let begun = numbers(&said, "begun ", round);
        delivered_in_all += delivered.len();
        interrupted += check(dir.path(), round, &begun, &delivered);
    }
    assert!(delivered_in_all > 0, "the child hardly got to work");
    assert!(interrupted > 0, "no kill came between a decision and its outcome");
}

fn numbers(said: &[String], word: &str, round: u64) -> Vec<u64> {
    let of = |line: &String| {
        line.trim().strip_prefix(word)?.strip_prefix(&format!("{round} "))?.parse().ok()
    };
    said.iter().filter_map(of).collect()
}

/// Answers how many entries the kill left open.
fn check(dir: &Path, round: u64, begun: &[u64], delivered: &[u64]) -> usize {
    let evidence = dir.join("evidence");
    let before = count(&evidence, "interrupted");
    drop(Journal::open(&evidence::Config::new(&evidence)).unwrap());
    let interrupted = count(&evidence, "interrupted") - before;
    let gate = open(dir, &clock(), Durability::Synced);
    let who = who(&format!("s-{round}"));
    gate.monitor.open_session(opening(&who)).unwrap();
    gate.hear(&who, Source::User, TASK).unwrap();
    if begun.len() + delivered.len() > 0 {
        let taint = gate.taint(&who);
        assert!(taint.contains(Taint::UNTRUSTED), "round {round}: {taint}");
    }
    // The last ones: the earlier are as safe as they are.
    for step in delivered.iter().rev().take(3) {
        asks(gate.call(&who, &send_mail(&format!("eve{step}.{round}@evil.example")), ""));
    }
    let origin = gate.monitor.summary(&who).unwrap().origin;
    assert!(
        delivered.is_empty() || origin.contains("news.example") || origin.contains("never seen"),
        "{origin}"
    );
    gate.close();
    let all = records(&evidence);
    let phase = |word: &str| {
        all.iter().filter(|it| it.pointer("/meta/phase").is_some_and(|it| it == word)).count()
    };
    assert_eq!(phase("open"), phase("close"), "every entry is closed");
    interrupted
}

fn count(evidence: &Path, word: &str) -> usize {
    if !evidence.join("segments").exists() {
        return 0;
    }
    records(evidence).iter().filter(|it| kind(it) == word).count()
}
