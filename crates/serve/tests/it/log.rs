//! What is written down: all of the list, by a server that has much to do, and nothing that was said.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};

use crate::world::{ANN, BOB, ROOT, WIDE, World, user, users, write};

/// The events that there are at the usual level, each of which somebody may wait for.
const EVENTS: &[&str] = &[
    "auth.success",
    "auth.failure",
    "auth.deprecated",
    "session.created",
    "session.ended",
    "worker.spawned",
    "worker.ready",
    "worker.exit",
    "worker.error",
    "worker.idle_timeout",
    "worker.ready_timeout",
    "worker.frame_rejected",
    "tool.called",
    "tool.completed",
    "tool.denied",
    "cost.reset",
    "privacy.export",
    "privacy.deletion",
    "access.reloaded",
    "config.reloaded",
    "roster.reloaded",
    "server.started",
    "server.draining",
    "server.shutdown",
    "ws.invalid_message",
];
/// Events beside them that this server has reason for.
const BESIDE: &[&str] = &["turn.ended", "turn.failed", "privacy.retention", "config.refused"];
/// Those of the level `debug` alone.
const DEBUG: &[&str] = &["request.answered", "turn.began", "ws.closed"];
/// The fields of a line.
const FIELDS: &[&str] = &[
    "agentId",
    "category",
    "details",
    "dropped",
    "event",
    "level",
    "sessionId",
    "timestamp",
    "userId",
];

const WORDS: &str = "a-very-private-sentence";

/// Everything that leaves a line, several times and at once.
fn load(world: &World) {
    thread::scope(|scope| {
        for round in 0..4 {
            scope.spawn(move || {
                let token = if round % 2 == 0 { ANN } else { BOB };
                let (mut client, _) = world.subscribed(token, "main");
                client.raw("no JSON");
                client.until("error");
                for content in ["watch", "tool", "fail", WORDS] {
                    client.message(content);
                    while client.until("status")["status"] != "idle" {}
                }
                assert_eq!(world.get("/api/agents", Some("guessed-token-value")).status, 401);
                let body =
                    json!({ "model": "main", "messages": [{ "role": "user", "content": WORDS }] });
                let answer = world.post("/v1/chat/completions", Some(token), &body.to_string());
                assert_eq!(answer.status, 200, "{}", answer.body);
            });
        }
    });
    let mut old = world.socket_with(&format!("/ws?token={ANN}"), &[]).unwrap();
    old.until("warning");
    let made = world.post("/api/sessions", Some(ANN), "{\"agent\":\"main\"}").json();
    let id = made["id"].as_str().unwrap();
    assert_eq!(world.delete(&format!("/api/sessions/{id}"), Some(ANN)).status, 204);
    let reset = world.post("/api/admin/users/ann/budget/reset", Some(ROOT), "{\"scope\":\"all\"}");
    assert_eq!(reset.status, 200, "{}", reset.body);
    assert_eq!(world.get("/api/users/ann/data", Some(ANN)).status, 200);
    let (_, operators) = world.subscribed(ANN, "main");
    world.handle.end_session("ann", "main", &operators).unwrap();
    assert_eq!(world.delete("/api/users/bob/data", Some(ROOT)).status, 200);
    let more = users("unlimited") + &user("cyd", "cyds", "agents: [main]\n    budget: unlimited");
    write(&world.home().join("users.yaml"), &more);
    let config = world.home().join("config.yaml");
    let text =
        std::fs::read_to_string(&config).unwrap().replace("maxWorkers: 64", "maxWorkers: 63");
    write(&config, &text);
    world.handle.reload().unwrap();
}

/// The lines of a server that was busy at this level and has ended.
fn lines(level: &str) -> Vec<Value> {
    let config = format!("{WIDE}  allowQueryToken: true\n  logging: {{level: {level}}}\n");
    let mut world = World::with(&config, &users("unlimited")).agree();
    load(&world);
    world.end();
    world.log.events()
}

fn names(lines: &[Value]) -> BTreeSet<&str> {
    lines.iter().map(|it| it["event"].as_str().unwrap()).collect()
}

#[test]
fn a_busy_server_writes_down_all_of_the_list_and_nothing_else() {
    let lines = lines("info");
    let seen = names(&lines);
    let missing: Vec<&&str> = EVENTS.iter().filter(|it| !seen.contains(**it)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let unknown: Vec<&&str> =
        seen.iter().filter(|it| !EVENTS.contains(it) && !BESIDE.contains(it)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for line in &lines {
        let fields: BTreeSet<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, FIELDS.iter().copied().collect(), "{line}");
        let (category, _) = line["event"].as_str().unwrap().split_once('.').unwrap();
        assert_eq!(line["category"], category, "{line}");
        let text = line.to_string();
        for secret in [WORDS, ANN, BOB, ROOT, "guessed-token-value", "no JSON", "evil.example"] {
            assert!(!text.contains(secret), "{line}");
        }
    }
    let of = |event: &str| lines.iter().filter(|it| it["event"] == event).collect::<Vec<_>>();
    for (event, decision) in [("tool.completed", "allow"), ("tool.denied", "deny")] {
        let line = of(event)[0];
        assert_eq!(
            (&line["details"]["tool"], &line["details"]["decision"]),
            (&json!("file_read"), &json!(decision))
        );
        assert!(line["userId"].is_string() && line["sessionId"].is_string(), "{line}");
    }
    let by: BTreeSet<&str> =
        of("auth.success").iter().map(|it| it["details"]["by"].as_str().unwrap()).collect();
    assert_eq!(by, BTreeSet::from(["http", "socket"]));
    let why: BTreeSet<&str> =
        of("session.ended").iter().map(|it| it["details"]["why"].as_str().unwrap()).collect();
    assert_eq!(why, BTreeSet::from(["account_deleted", "deleted", "once", "operator"]));
}

#[test]
fn debug_tells_more_and_error_tells_less() {
    let lines_of_debug = lines("debug");
    let seen = names(&lines_of_debug);
    assert!(DEBUG.iter().all(|it| seen.contains(it)), "{seen:?}");
    let answered = lines_of_debug.iter().find(|it| it["event"] == "request.answered").unwrap();
    assert!(answered["details"]["status"].is_u64() && answered["level"] == "debug", "{answered}");
    let few = lines("error");
    assert!(few.iter().all(|it| it["level"] == "error"), "{few:?}");
}
