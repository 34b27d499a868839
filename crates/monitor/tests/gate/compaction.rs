//! When the changes of a session have grown, one is put in place of all, and nothing is lost by it.

use aegx::Digest;
use model::{Caller, Profile, RawCall, Source, Taint};
use monitor::{Asked, Opening, State as _};
use serde_json::json;

use crate::gate::world::{
    Gate, PAGE, World, asks, content, hex, opening, read_page, send_mail, stopped, who,
};

/// Texts of some 20 kB, of which each change is at least as long.
const TEXTS: usize = 40;

fn talk(gate: &Gate, who: &Caller, source: Source) {
    for number in 0..TEXTS {
        gate.hear(who, source, &names(number)).unwrap();
    }
}

fn names(number: usize) -> String {
    (0..700).map(|it| format!("bob{it}.{number}@example.org, {it}{number}\n")).collect()
}

/// Talks until one change stands in place of all; the record of what was said last.
fn talk_until_compacted(world: &World, gate: &Gate, who: &Caller) -> Digest {
    let mut before = changes_kept(world, who);
    for number in 0..10 * TEXTS {
        let heard = gate.hear(who, Source::User, &names(number)).unwrap();
        let kept = changes_kept(world, who);
        if kept < before {
            assert_eq!(kept, 1);
            return heard.record;
        }
        before = kept;
    }
    panic!("it was never compacted");
}

fn changes_kept(world: &World, who: &Caller) -> usize {
    let store = store::SqliteStore::open(&world.dir().join("store.sqlite")).unwrap();
    store.open(who, Profile::Standard).unwrap().changes.len()
}

#[test]
fn a_session_is_the_same_after_it_was_compacted() {
    let world = World::new();
    let gate = world.open_unsynced();
    let who = gate.begin("s");
    gate.call(&who, &read_page(), PAGE).unwrap();
    let verdict = asks(gate.call(&who, &send_mail("eve@evil.example"), ""));
    gate.monitor.confirm_call(&who, verdict.effect, verdict.action).unwrap();
    talk(&gate, &who, Source::User);
    let before = gate.monitor.summary(&who).unwrap();
    gate.close();
    let kept = changes_kept(&world, &who);
    assert!(kept < TEXTS, "it was compacted");
    assert!(kept > 1, "and not with every change");

    let gate = world.open_unsynced();
    gate.monitor.open_session(opening(&who)).unwrap();
    assert_eq!(gate.monitor.summary(&who).unwrap(), before);
    gate.call(&who, &send_mail("bob3.7@example.org"), "").unwrap();
    gate.call(&who, &send_mail("eve@evil.example"), "").unwrap();
    asks(gate.call(&who, &send_mail("eve@evil.example"), ""));
}

#[test]
fn a_call_that_is_under_way_is_not_compacted_away() {
    let world = World::new();
    let gate = world.open_unsynced();
    let who = gate.begin("s");
    let asked = Asked::Tool(RawCall { tool: "list_notes", args: b"{}" });
    let begun = gate.monitor.begin(&who, &asked).unwrap();
    talk(&gate, &who, Source::User);
    assert_eq!(gate.taint(&who), Taint::NONE);
    // As if killed: nothing is dropped, and what stands in the store is all there is.
    std::mem::forget(begun);
    drop(gate);
    let other = World::new();
    crate::gate::lost::copy_tree(world.dir(), other.dir());
    let gate = other.open_unsynced();
    gate.monitor.open_session(opening(&who)).unwrap();
    assert!(gate.taint(&who).contains(Taint::UNTRUSTED));
}

#[test]
fn a_child_still_has_its_risk_and_its_parent_after_it_was_compacted() {
    let world = World::new();
    let gate = world.open_unsynced();
    let (parent, child) = (gate.begin("parent"), who("child"));
    let of_parent = Opening { parent: Some(parent.session.clone()), ..opening(&child) };
    gate.monitor.open_session(of_parent).unwrap();
    gate.call(&child, &("read_file", json!({ "path": "/srv/app/.env" })), "A=1").unwrap();
    let said_last = talk_until_compacted(&world, &gate, &child);
    gate.close();

    let gate = world.open_unsynced();
    gate.monitor.open_session(opening(&parent)).unwrap();
    gate.monitor.open_session(opening(&child)).unwrap();
    let verdict = stopped(gate.call(&child, &send_mail("bob3.0@example.org"), ""));
    assert_eq!(verdict.rule, "risk-chain");
    gate.call(&child, &read_page(), PAGE).unwrap();
    assert!(gate.taint(&parent).contains(Taint::UNTRUSTED));
    gate.close();
    let all = world.records();
    let decision = all.iter().find(|it| content(it, "rule") == "risk-chain").unwrap();
    assert!(decision["parents"].as_array().unwrap().contains(&json!(hex(said_last))));
}
