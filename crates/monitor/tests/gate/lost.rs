//! Calls that were let through and never came back.

use model::{RawCall, Source, Taint};
use monitor::{Asked, Output};
use serde_json::json;

use crate::gate::world::{
    Gate, PAGE, World, asks, content, kind, opening, read_page, send_mail, stopped,
};

fn begin(gate: &Gate, who: &model::Caller) -> monitor::Begun {
    let asked = Asked::Tool(RawCall { tool: "list_notes", args: b"{}" });
    let (permit, begun) = gate.monitor.begin(who, &asked).unwrap();
    drop(permit);
    begun
}

#[test]
fn a_call_that_is_dropped_leaves_a_closing_record_and_taints() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    let begun = begin(&gate, &who);
    assert_eq!(gate.taint(&who), Taint::NONE);
    drop(begun);
    let all = gate.records();
    let last = all.last().unwrap();
    assert_eq!((kind(last), content(last, "status")), ("abandoned", &json!("abandoned")));
    assert_eq!(last.pointer("/meta/phase"), Some(&json!("close")));
    assert!(gate.taint(&who).contains(Taint::UNTRUSTED));
    // Who was seen nowhere may have been seen there.
    asks(gate.call(&who, &send_mail("eve@evil.example"), ""));
    let summary = gate.monitor.summary(&who).unwrap();
    assert_eq!(summary.origin, "an output that was never seen");
    gate.close();

    let gate = world.open();
    gate.monitor.open_session(opening(&who)).unwrap();
    assert_eq!(gate.monitor.summary(&who).unwrap(), summary, "a restart forgets nothing");
    asks(gate.call(&who, &send_mail("eve@evil.example"), ""));
}

#[test]
fn a_call_that_was_under_way_when_the_process_died_taints() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    let begun = begin(&gate, &who);
    // As if killed: nothing is dropped.
    std::mem::forget(begun);
    let copy = crate::gate::world::tempdir();
    copy_tree(world.dir(), copy.path());
    drop(gate);
    let gate = crate::gate::world::open(copy.path(), &world.clock, evidence::Durability::Synced);
    let interrupted = gate.records().iter().filter(|it| kind(it) == "interrupted").count();
    assert_eq!(interrupted, 1);
    gate.monitor.open_session(opening(&who)).unwrap();
    assert!(gate.taint(&who).contains(Taint::UNTRUSTED));
    gate.close();
    // And only once.
    let tokens = |gate: &Gate| gate.monitor.summary(&who).unwrap().tainted_tokens;
    let gate = crate::gate::world::open(copy.path(), &world.clock, evidence::Durability::Synced);
    gate.monitor.open_session(opening(&who)).unwrap();
    assert_eq!(tokens(&gate), 1);
}

#[test]
fn a_secret_that_may_have_been_read_is_not_sent_after_it() {
    let world = World::new();
    for restarts in [false, true] {
        let mut gate = world.open();
        let who = gate.begin(&format!("s-{restarts}"));
        let args = br#"{"path":"~/.ssh/id_rsa"}"#;
        let asked = Asked::Tool(RawCall { tool: "read_file", args });
        drop(gate.monitor.begin(&who, &asked).unwrap());
        if restarts {
            gate.close();
            gate = world.open();
            gate.monitor.open_session(opening(&who)).unwrap();
        }
        let verdict = stopped(gate.call(&who, &send_mail("ann@example.org"), ""));
        assert_eq!(verdict.rule, "risk-chain", "restarts: {restarts}");
        gate.close();
    }
}

#[test]
fn a_call_that_came_back_is_not_lost() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    for _ in 0..3 {
        let begun = begin(&gate, &who);
        gate.monitor.finish(begun, Output::text("a note")).unwrap();
    }
    assert_eq!(gate.taint(&who), Taint::NONE);
    gate.close();
    let gate = world.open();
    gate.monitor.open_session(opening(&who)).unwrap();
    assert_eq!(gate.taint(&who), Taint::NONE);
}

#[test]
fn an_output_that_comes_after_the_end_of_its_session_is_not_delivered_and_taints() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    let begun = begin(&gate, &who);
    gate.monitor.end_session(&who).unwrap();
    assert!(gate.monitor.finish(begun, Output::text(PAGE)).is_err());
    let all = gate.records();
    assert_eq!(kind(all.last().unwrap()), "abandoned");
    gate.monitor.open_session(opening(&who)).unwrap();
    assert!(gate.taint(&who).contains(Taint::UNTRUSTED));
    gate.hear(&who, Source::User, "go on").unwrap();
    asks(gate.call(&who, &send_mail("eve@evil.example"), ""));
}

#[test]
fn a_tainted_session_needs_no_mark() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    gate.call(&who, &read_page(), PAGE).unwrap();
    let begun = begin(&gate, &who);
    drop(begun);
    gate.close();
    let gate = world.open();
    gate.monitor.open_session(opening(&who)).unwrap();
    assert!(gate.taint(&who).contains(Taint::UNTRUSTED));
}

pub(crate) fn copy_tree(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
