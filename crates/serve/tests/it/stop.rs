//! The end: in order, and at once if it is said twice.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::{ANN, BOB, World};

#[test]
fn what_runs_ends_and_nothing_new_begins() {
    let mut world = World::wide();
    let (mut ann, session) = world.subscribed(ANN, "main");
    let (mut bob, _) = world.subscribed(BOB, "main");
    ann.message("sleep 1500");
    ann.until("status");
    world.handle.stop();
    std::thread::sleep(Duration::from_millis(300));
    let health = world.get("/health", None);
    assert_eq!((health.status, health.json()["status"].as_str()), (503, Some("shutting_down")));
    bob.message("hello");
    assert_eq!(bob.until("error")["code"], "shutting_down");
    bob.say(&json!({ "type": "subscribe", "agentId": "bobs" }));
    assert_eq!(bob.until("error")["code"], "shutting_down");
    assert_eq!(ann.until("assistant_message")["content"], "slept");
    assert_eq!((ann.closed(), bob.closed()), (1001, 1001));
    world.end();
    assert!(world.log.text().contains("server.shutdown"));
    // Nothing that was acknowledged is lost.
    let world = world.restart();
    let kept = world.get(&format!("/api/sessions/{session}/messages"), Some(ANN)).json();
    assert_eq!(kept["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn said_twice_it_ends_at_once() {
    let mut world = World::wide();
    let (mut ann, _) = world.subscribed(ANN, "main");
    ann.message("sleep 20000");
    ann.until("status");
    let began = Instant::now();
    world.handle.stop();
    world.handle.stop();
    assert_eq!(ann.closed(), 1001);
    world.end();
    assert!(began.elapsed() < Duration::from_secs(15));
}
