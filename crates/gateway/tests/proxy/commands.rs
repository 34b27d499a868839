//! Commands of agents: what one may cost in all, and what is on record of what was cut off.

use std::sync::Arc;

use aegx::Digest;
use gateway::proxy::{Budget, Command, Turned};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::origin::{Origin, Says};
use crate::support::{Rig, Setting, refused, request, rest, until};

/// A proxy before a command that may cost so much.
async fn rig(origins: &[&Origin], budget: Budget) -> (Rig, Arc<Command>) {
    let command = Command::new(Digest::of(b"the call"), budget);
    let mut setting = Setting::to(origins);
    setting.command = Some(Arc::clone(&command));
    (setting.start().await, command)
}

fn was_cut(event: &Value, command: &Command) {
    let said = (&event["decision"], &event["rule"], &event["status"]);
    assert_eq!(said, (&json!("deny"), &json!("egress-spent"), &Value::Null), "{event}");
    let turned =
        Turned { host: Some("origin.example".to_owned()), rule: "egress-spent".to_owned() };
    assert_eq!(command.refused(), [turned]);
    assert_eq!(command.reached(), ["origin.example"], "it came so far");
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_recorded_as_such_with_how_far_it_came() {
    let origin = Origin::plain(Says::Big(1 << 20)).await;
    let budget = Budget { received_bytes: 300_000, ..Budget::default() };
    let (rig, command) = rig(&[&origin], budget).await;
    let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), "").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{}", answer.len());
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let events = rig.events(1).await;
    was_cut(&events[0], &command);
    let came = events[0]["received_bytes"].as_u64().unwrap();
    assert!((1..=300_000).contains(&came) && body.len() as u64 <= came, "{came} {}", body.len());
}

#[tokio::test]
async fn a_tunnel_that_is_cut_off_is_recorded_as_such_with_how_far_it_came() {
    let origin = Origin::plain(Says::Big(1 << 20)).await;
    let ask = |length: usize| format!("POST / HTTP/1.1\r\ncontent-length: {length}\r\n\r\n");
    for (budget, length, name) in [
        (Budget { sent_bytes: 300_000, ..Budget::default() }, 1 << 20, "sent_bytes"),
        (Budget { received_bytes: 300_000, ..Budget::default() }, 0, "received_bytes"),
    ] {
        let (rig, command) = rig(&[&origin], budget).await;
        let mut tunnel = rig.tunnel(&format!("origin.example:{}", origin.port)).await;
        tunnel.write_all(ask(length).as_bytes()).await.unwrap();
        let _cut = tunnel.write_all(&vec![b'y'; length]).await;
        let answer = rest(&mut tunnel).await;
        let events = rig.events(1).await;
        was_cut(&events[0], &command);
        let came = events[0][name].as_u64().unwrap();
        assert!((1..=300_000).contains(&came) && answer.len() <= 300_000, "{came}");
    }
}

#[tokio::test]
async fn a_body_that_is_longer_than_what_is_left_is_cut_off_and_nothing_of_it_is_given_back() {
    let origin = Origin::plain(Says::Echo).await;
    let (rig, command) = rig(&[&origin], Budget { sent_bytes: 5000, ..Budget::default() }).await;
    let line = format!("POST http://origin.example:{}/", origin.port);
    let announced = request(&line, "content-length: 6000\r\n") + &"x".repeat(6000);
    assert_eq!(refused(&rig.raw(announced).await, 403), "egress-spent");
    assert!(origin.seen().is_empty(), "refused before anybody was dialled");
    let chunk = format!("7d0\r\n{}\r\n", "y".repeat(2000));
    let chunked = request(&line, "transfer-encoding: chunked\r\n");
    let answer = rig.raw(format!("{chunked}{chunk}{chunk}{chunk}0\r\n\r\n")).await;
    assert_eq!(refused(&answer, 403), "egress-spent");
    let events = rig.events(2).await;
    let sent = events[1]["sent_bytes"].as_u64().unwrap();
    // What went out may still be on its way.
    until(|| origin.only().matches('y').count() as u64 == sent).await;
    let seen = origin.only();
    assert!(!seen.contains("\r\n0\r\n") && seen.matches('y').count() <= 4000, "{seen}");
    assert!(events.iter().all(|it| it["rule"] == "egress-spent"), "{events:?}");
    // What went out is gone, and the rest is still there.
    let body = "z".repeat(3000);
    let again = request(&line, "content-length: 3000\r\n") + &body;
    assert_eq!(refused(&rig.raw(again).await, 403), "egress-spent");
    assert!(command.reached().is_empty(), "nobody has answered");
}

#[tokio::test]
async fn a_body_of_which_nobody_says_how_long_it_is_keeps_no_other_request_waiting() {
    let origin = Origin::plain(Says::Echo).await;
    let (rig, _command) = rig(&[&origin], Budget::default()).await;
    let line = format!("POST http://origin.example:{}/", origin.port);
    let mut slow = rig.connect().await;
    let head = request(&line, "transfer-encoding: chunked\r\n") + "3\r\nabc\r\n";
    slow.write_all(head.as_bytes()).await.unwrap();
    until(|| origin.seen().iter().any(|it| it.contains("abc"))).await;
    let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), "").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    slow.write_all(b"0\r\n\r\n").await.unwrap();
    assert!(rest(&mut slow).await.contains("3 bytes"));
}
