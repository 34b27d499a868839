//! What somebody tries who has a socket, a token, or neither: to use up what others need, and to have back what is gone.

use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use agent::{Estimate, TurnErrorCode};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{self, Message};

use crate::world::{ANN, BOB, ROOT, WIDE, World, hash, users, write};

#[test]
fn whoever_guesses_tickets_is_stopped_and_fills_no_log() {
    let world = World::with("serve: {}\n", &users("unlimited"));
    for _ in 0..40 {
        assert_eq!(world.socket_with("/ws?ticket=00ff", &[]).unwrap().closed(), 4001);
    }
    // Neither a ticket nor a token is looked at any more.
    assert_eq!(world.get("/api/agents", Some(ANN)).status, 429);
    assert!(world.log.has("auth.failure"));
    let mut world = world;
    world.end();
    let failures: Vec<Value> =
        world.log.events().into_iter().filter(|it| it["event"] == "auth.failure").collect();
    assert_eq!(failures.len(), 11, "{failures:?}");
    assert_eq!(failures[10]["details"]["why"], "limited");
}

#[test]
fn one_user_does_not_use_up_the_tickets_of_others() {
    let world = World::wide();
    let ticket = |token: &str| {
        let made = world.post("/api/tickets", Some(token), "");
        assert_eq!(made.status, 200, "{}", made.body);
        made.json()["ticket"].as_str().unwrap().to_owned()
    };
    let bobs = ticket(BOB);
    let first = ticket(ANN);
    let many: Vec<String> = (0..1000).map(|_| ticket(ANN)).collect();
    let last = many.last().unwrap();
    let opens = |it: &str| {
        let mut client = world.socket_with(&format!("/ws?ticket={it}"), &[]).unwrap();
        matches!(client.next(), crate::socket::Next::Frame(it) if it["type"] == "connected")
    };
    assert!(opens(&bobs) && opens(last) && !opens(&first));
    // Once is enough.
    assert!(!opens(&bobs));
}

#[test]
fn the_deep_look_is_had_once_however_many_ask() {
    let world = World::wide();
    let looks = thread::scope(|scope| {
        let ask = || world.get("/health/deep", Some(ROOT)).json();
        let all: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(looks.iter().all(|it| *it == looks[0]), "{looks:?}");
    assert_eq!(world.records().matches("serve_health").count(), 1);
}

#[test]
fn a_flood_of_pings_ends_the_socket_and_no_other() {
    let world = World::wide();
    let mut other = world.socket(BOB);
    let mut client = world.socket(ANN);
    for _ in 0..2000 {
        if client.0.send(Message::Ping(vec![1; 100].into())).is_err() {
            break;
        }
    }
    // With a word, or without where more was on its way; that nothing comes any more is neither.
    let ended = loop {
        match client.0.read() {
            Ok(Message::Close(frame)) => break frame.map(|it| u16::from(it.code)),
            Ok(_) => {}
            Err(tungstenite::Error::Io(error)) => {
                assert_ne!(error.kind(), ErrorKind::WouldBlock, "it is still open");
                break None;
            }
            Err(_) => break None,
        }
    };
    assert!(matches!(ended, Some(1002) | None), "{ended:?}");
    other.say(&json!({ "type": "ping" }));
    other.until("pong");
}

#[test]
fn what_is_deleted_is_not_there_again_because_a_turn_was_about_to_begin() {
    let world = World::wide();
    // A turn runs: the session stays.
    let (mut client, id) = world.subscribed(ANN, "main");
    client.message("sleep 60000");
    client.until("status");
    let path = format!("/api/sessions/{id}");
    assert_eq!(world.delete(&path, Some(ANN)).status, 409);
    // The account goes, and the turn ends before anything is deleted.
    let gone = world.delete("/api/users/ann/data", Some(ROOT));
    assert_eq!((gone.status, &gone.json()["sessions"]), (200, &1.into()), "{}", gone.body);
    assert!(world.desk.forgotten().contains(&id));
    client.message("am I still there?");
    // What was agreed to has gone with the rest.
    assert_eq!(client.until("error")["code"], "consent_required");
    // Many messages and one deletion at once: whatever was first, nothing is kept of a session that is gone.
    for _ in 0..20 {
        let (mut client, id) = world.subscribed(BOB, "main");
        let path = format!("/api/sessions/{id}");
        let deleted = thread::scope(|scope| {
            let deleting = scope.spawn(|| world.delete(&path, Some(BOB)).status);
            client.message("hello");
            deleting.join().unwrap()
        });
        let there = world.get(&format!("{path}/messages"), Some(BOB)).status;
        assert!(matches!((deleted, there), (204, 404) | (409, 200)), "{deleted} {there}");
    }
}

#[test]
fn whoever_keeps_messages_waiting_is_deleted_all_the_same() {
    let world = World::wide();
    let (mut client, _) = world.subscribed(ANN, "main");
    for _ in 0..6 {
        client.message("sleep 60000");
    }
    client.until("status");
    let gone = world.delete("/api/users/ann/data", Some(ROOT));
    assert_eq!(gone.status, 200, "{}", gone.body);
    // None of those that waited began.
    assert_eq!(world.desk.turns().len(), 1);
    assert_eq!(world.get("/api/sessions", Some(ANN)).json()["sessions"], json!([]));
}

#[test]
fn what_runs_for_a_user_beside_the_server_ends_before_they_are_deleted() {
    let world = World::wide();
    let began = || world.handle.purse("ann", "main", "of-a-job");
    let purse = began().unwrap().unwrap();
    let question = Estimate { input_tokens: 1, output_tokens: 1, price: None };
    let aside = purse.before(&question).unwrap();
    purse.after(aside, &llm::Usage::default(), None);
    thread::scope(|scope| {
        let deleting = scope.spawn(|| world.delete("/api/users/ann/data", Some(ROOT)));
        // Its next question is not asked, and no other turn begins.
        let patience = Instant::now() + Duration::from_secs(15);
        while purse.before(&question).is_ok() {
            assert!(Instant::now() < patience, "nobody told it");
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(began().err().unwrap().code, TurnErrorCode::AccessDenied);
        assert!(!deleting.is_finished());
        drop(purse);
        assert_eq!(deleting.join().unwrap().status, 200);
    });
}

#[test]
fn nobody_reads_ends_or_answers_in_sessions_of_others_by_their_ids() {
    let world = World::wide();
    let (mut bob, id) = world.subscribed(BOB, "main");
    bob.message("ask t9");
    let asked = bob.until("tool_approval");
    let (mut ann, _) = world.subscribed(ANN, "main");
    for (method, path) in [
        ("GET", format!("/api/sessions/{id}/messages")),
        ("GET", format!("/api/sessions/{id}/events")),
        ("DELETE", format!("/api/sessions/{id}")),
        ("GET", "/api/users/bob/data".to_owned()),
    ] {
        assert_eq!(world.request((method, &path), Some(ANN), &[], "").status, 404, "{path}");
    }
    let body = format!(
        "{{\"model\":\"main\",\"session_id\":\"{id}\",\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}}]}}"
    );
    assert_eq!(world.post("/v1/chat/completions", Some(ANN), &body).status, 404);
    ann.say(&json!({
        "type": "tool_approval", "toolId": asked["toolId"], "approved": true,
    }));
    ann.until("tool_approval_rejected");
    ann.say(&json!({
        "type": "subscribe", "agentId": "main", "sessionId": id, "lastMessageId": 0,
    }));
    assert_eq!(ann.until("error")["code"], "session_not_found");
    ann.say(&json!({ "type": "interrupt" }));
    // Bob's question is still his to answer.
    bob.say(&json!({
        "type": "tool_approval", "toolId": asked["toolId"], "approved": false,
    }));
    assert_eq!(bob.until("assistant_message")["content"], "answered false");
}

#[test]
fn whoever_loses_their_token_is_given_no_answer_that_was_asked_for_before() {
    let world = World::wide();
    let ask = |stream: bool| {
        json!({
            "model": "main", "stream": stream,
            "messages": [{ "role": "user", "content": "sleep 60000" }],
        })
        .to_string()
    };
    let (whole, streamed) = thread::scope(|scope| {
        let asked = [false, true].map(|stream| {
            let body = ask(stream);
            let world = &world;
            scope.spawn(move || world.post("/v1/chat/completions", Some(ANN), &body))
        });
        while world.desk.turns().len() < 2 {
            thread::sleep(std::time::Duration::from_millis(20));
        }
        let other = users("unlimited").replace(&hash(ANN), &hash("another"));
        write(&world.home().join("users.yaml"), &other);
        let [whole, streamed] = asked.map(|it| it.join().unwrap());
        (whole, streamed)
    });
    assert_eq!((whole.status, whole.code().as_str()), (401, "token_revoked"));
    assert!(!streamed.body.contains("slept") && !streamed.body.contains("[DONE]"), "{streamed:?}");
}

#[test]
fn whoever_hangs_up_while_they_wait_ends_nobody_elses_turn_and_leaves_none() {
    let world = World::wide();
    let (mut client, id) = world.subscribed(ANN, "main");
    client.message("sleep 3000");
    client.until("status");
    for stream in [false, true] {
        let body = json!({
            "model": "main", "session_id": id, "stream": stream,
            "messages": [{ "role": "user", "content": "nobody waits for this" }],
        })
        .to_string();
        let mut connection = TcpStream::connect(world.address).unwrap();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ANN}\r\nContent-Length: {}\r\n\r\n{body}",
            world.address,
            body.len()
        );
        connection.write_all(head.as_bytes()).unwrap();
        // It has its place in the queue by then, and is gone.
        thread::sleep(std::time::Duration::from_millis(500));
    }
    let result = client.until("result");
    assert_eq!(result["interrupted"], false, "{result}");
    // What comes later has its turn, after those that were given up.
    client.message("hello");
    assert_eq!(client.until("assistant_message")["content"], "you said: hello");
    let said: Vec<String> = world.desk.turns().into_iter().map(|it| it.content).collect();
    assert_eq!(said, ["sleep 3000", "hello"]);
}

#[test]
fn messages_that_are_refused_leave_no_sessions_behind() {
    let config = WIDE.replace("rateLimits:\n", "rateLimits:\n    maxMessageLength: 5\n");
    let world = World::with(&config, &users("unlimited")).agree();
    let say = |content: &str, stream: bool| {
        let messages = json!([{ "role": "user", "content": content }]);
        let body = json!({ "model": "main", "stream": stream, "messages": messages }).to_string();
        world.post("/v1/chat/completions", Some(ANN), &body)
    };
    let count = || {
        let found = world.get("/api/sessions", Some(ANN)).json();
        found["sessions"].as_array().unwrap().len()
    };
    assert_eq!(say("far too long", false).status, 413);
    assert!(say("far too long", true).body.contains("message_too_large"));
    assert_eq!(count(), 0);
    assert_eq!(say("short", false).status, 200);
    assert_eq!(count(), 1);
    // What was said and came to nothing is kept: it was said.
    assert_eq!(say("fail", false).status, 502);
    assert_eq!(count(), 2);
}
