//! Children, restarts, and what is kept.

use model::EffectKind;
use monitor::risk::{Classes, Level, Opener, Risk, Signal, Tuning};
use serde_json::json;

use crate::risk::support::{decision, flagged, go, plain, read, send};

#[test]
fn a_child_is_no_way_to_be_forgotten() {
    let mut parent = Risk::default();
    go(&mut parent, read());
    parent.report(Signal::VigilHigh);
    let mut child = parent.child();
    child.begin_turn(Opener::Other);
    assert_eq!((child.score(), child.level()), (parent.score(), parent.level()));
    assert!(decision(&child, &send()).is_some(), "what the parent read, the child may know");
    parent.adopt(&mut child);
    assert_eq!(child.score(), parent.score(), "what the parent knew is not told back");

    // The other way round: the child reads, the parent would send.
    let mut parent = Risk::default();
    let mut child = parent.child();
    go(&mut child, read());
    child.report(Signal::OutOfScope);
    parent.adopt(&mut child);
    parent.adopt(&mut child);
    assert!((parent.score() - 1.5).abs() < 1e-9, "told once");
    assert!(decision(&parent, &send()).is_some());
    parent.begin_turn(Opener::Person);
    parent.adopt(&mut child);
    assert_eq!(decision(&parent, &send()), None, "a chain never spans turns");
    // Nor by way of a child that was begun in the turn before.
    go(&mut parent, read());
    let mut child = parent.child();
    parent.begin_turn(Opener::Person);
    parent.adopt(&mut child);
    assert_eq!(decision(&parent, &send()), None);
}

#[test]
fn a_child_s_calls_complete_no_chain_of_its_parent() {
    let mut parent = Risk::default();
    let mut child = parent.child();
    go(&mut child, plain(EffectKind::ToolWrite, Classes::SCOPE_CHANGE));
    go(&mut child, send());
    parent.adopt(&mut child);
    assert_eq!(go(&mut parent, plain(EffectKind::ToolWrite, Classes::SCOPE_CHANGE)), None);
}

#[test]
fn what_gives_orders_to_a_child_counts_for_its_parent() {
    let mut parent = Risk::default();
    let mut child = parent.child();
    go(&mut parent, flagged(1));
    go(&mut child, flagged(1));
    parent.adopt(&mut child);
    assert!(!parent.injection_confirmed(), "both have read the same");
    go(&mut child, flagged(2));
    parent.adopt(&mut child);
    assert!(parent.injection_confirmed());
}

#[test]
fn a_snapshot_is_not_believed_to_be_of_a_sane_size() {
    let restored = |seen: Vec<u64>| {
        let mut snapshot = serde_json::to_value(Risk::default().snapshot()).unwrap();
        snapshot["correlator"] = json!(seen);
        Risk::restore(Tuning::default(), serde_json::from_value(snapshot).unwrap())
    };
    assert!(!restored(vec![7; 1000]).injection_confirmed(), "one output is one");
    let many = restored((0..1000).collect());
    assert!(many.injection_confirmed());
    assert!(serde_json::to_vec(many.snapshot()).unwrap().len() < 400);
    let mut snapshot = serde_json::to_value(many.snapshot()).unwrap();
    let turn = json!({ "tenths": u32::MAX, "calls": 0, "reads": 0, "flags": 0 });
    snapshot["sentinel"]["past"] = json!(vec![turn; 1000]);
    let long = Risk::restore(Tuning::default(), serde_json::from_value(snapshot).unwrap());
    assert!(serde_json::to_vec(long.snapshot()).unwrap().len() < 4096);
    assert!(long.score() < 1e6, "{}", long.score());
}

#[test]
fn a_child_that_was_forgiven_still_tells_its_parent() {
    let mut parent = Risk::default();
    let mut child = parent.child();
    let forgiven = (0..100).any(|_| {
        (0..6).for_each(|_| child.report(Signal::VigilHigh));
        child.begin_turn(Opener::Person)
    });
    assert!(forgiven && child.level() == Level::Calm);
    parent.adopt(&mut child);
    assert_eq!(parent.level(), Level::Critical);
}

#[test]
fn as_many_turns_are_kept_as_count() {
    let mut risk = Risk::new(Tuning::new(32, 1.0, 1000).unwrap());
    for _ in 0..100 {
        risk.report(Signal::ToolFailure);
        risk.begin_turn(Opener::Person);
    }
    assert!((risk.score() - 31.0 * 0.3).abs() < 1e-9, "{}", risk.score());
    let again = Risk::restore(Tuning::new(32, 1.0, 1000).unwrap(), risk.snapshot().clone());
    assert_eq!(again, risk);
}

#[test]
fn a_restart_resets_nothing_and_memory_is_bounded() {
    let mut risk = Risk::default();
    for turn in 0..1000 {
        for content in 0..20 {
            go(&mut risk, flagged(turn * 100 + content));
        }
        go(&mut risk, read());
        go(&mut risk, send());
        if turn < 999 {
            risk.begin_turn(Opener::Person);
        }
    }
    let stored = serde_json::to_vec(risk.snapshot()).unwrap();
    assert!(stored.len() < 4096, "{} bytes", stored.len());
    let again = Risk::restore(Tuning::default(), serde_json::from_slice(&stored).unwrap());
    assert_eq!(again, risk);
    assert_eq!(again.objections(&send()), risk.objections(&send()));
    assert!(!again.objections(&send()).is_empty());
}
