//! When the changes of a session have grown, one is put in place of all, and nothing is lost by it.

use model::{Caller, Profile, RawCall, Source, Taint};
use monitor::{Asked, State as _};

use crate::world::{Gate, PAGE, World, asks, opening, read_page, send_mail};

/// Texts of some 20 kB, of which each change is at least as long.
const TEXTS: usize = 40;

fn talk(gate: &Gate, who: &Caller, source: Source) {
    for text in 0..TEXTS {
        let names: String =
            (0..700).map(|it| format!("bob{it}.{text}@example.org, {it}{text}\n")).collect();
        gate.hear(who, source, &names).unwrap();
    }
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
    assert!(changes_kept(&world, &who) < TEXTS, "it was compacted");

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
    crate::lost::copy_tree(world.dir(), other.dir());
    let gate = other.open_unsynced();
    gate.monitor.open_session(opening(&who)).unwrap();
    assert!(gate.taint(&who).contains(Taint::UNTRUSTED));
}
