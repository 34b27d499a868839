//! What is known of tools becomes something else while sessions are open.

use aegx::RecordType;
use evidence::NewRecord;
use model::{Kind, Taint};
use monitor::provenance::Catalogue;
use serde_json::json;

use crate::gate::world::World;

const NOTES: (&str, &str) = ("list_notes", "Milk, bread.");

#[test]
fn what_the_operator_says_of_tools_counts_from_the_next_call_on_in_open_sessions_too() {
    let world = World::new();
    let gate = world.open_unsynced();
    let (who, other) = (gate.begin("open"), gate.begin("other"));
    let list = |who| gate.call(who, &(NOTES.0, json!({})), NOTES.1).unwrap();
    list(&who);
    assert_eq!(gate.taint(&who), Taint::NONE);
    let text = r#"{"tools": {"list_notes":
        {"effect": "read", "output": "untrusted", "egress": false, "destructive": false, "args": {}}}}"#;
    let known = (*gate.monitor.catalogue()).clone().beneath(Catalogue::parse(text).unwrap());
    let record = json!({ "changes": "list_notes" });
    let kind = Kind::of_static("policy_reloaded");
    let record = NewRecord::of_host(RecordType::GuardDecision, kind, record);
    let receipt = gate.journal.append(record).unwrap();
    gate.monitor.know_tools_by(known, &receipt);
    assert_eq!(gate.taint(&who), Taint::NONE, "what was read before stays what it was");
    list(&who);
    assert_ne!(gate.taint(&who), Taint::NONE);
    // Sessions with the same tools share them, and what is not spoken of stays as it was.
    list(&other);
    assert_ne!(gate.taint(&other), Taint::NONE);
    let new = gate.begin("new");
    gate.call(&new, &("recall", json!({ "topic": "milk" })), "Two litres.").unwrap();
    assert_eq!(gate.taint(&new), Taint::NONE);
    gate.close();
}
