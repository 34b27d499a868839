//! A conversation on a socket, from the first frame to the last.

use serde_json::{Value, json};

use crate::desk::KEY;
use crate::socket::Next;
use crate::world::{ANN, BOB, World, users, write};

fn types(frames: &[Value]) -> Vec<&str> {
    frames.iter().map(|it| it["type"].as_str().unwrap()).collect()
}

#[test]
fn a_turn_in_its_order() {
    let world = World::wide();
    let mut client = world.socket(ANN);
    client.message("too early");
    assert_eq!(client.until("error")["code"], "not_subscribed");
    client.say(&json!({ "type": "subscribe", "agentId": "main" }));
    let subscribed = client.until("subscribed");
    assert_eq!(subscribed["agentName"], "The main");
    client.message("tool");
    let frames = client.all_until("result");
    let order = [
        "status",
        "tool_use_start",
        "tool_use_input",
        "tool_use_end",
        "tool_result",
        "token",
        "assistant_message",
        "result",
    ];
    assert_eq!(types(&frames), order);
    assert_eq!(frames[3]["input"], "{\"path\":\"a.txt\"}");
    assert_eq!(frames[7]["sessionId"], subscribed["sessionId"]);
    assert_eq!(client.until("status")["status"], "idle");
    // Whoever comes over the network is remote.
    assert!(world.desk.turns().iter().all(|it| !it.local && it.user == "ann"));
    let ids: Vec<u64> = frames.iter().filter_map(|it| it["id"].as_u64()).collect();
    assert!(ids.windows(2).all(|it| it[0] < it[1]), "{ids:?}");
}

#[test]
fn whoever_comes_back_hears_what_was_missed() {
    let world = World::wide();
    let (mut client, session) = world.subscribed(ANN, "main");
    client.message("hello");
    let last = client.until("assistant_message")["id"].as_u64().unwrap();
    client.until("result");
    client.message("sleep 300");
    client.until("status");
    drop(client);
    std::thread::sleep(std::time::Duration::from_millis(600));
    let mut again = world.socket(ANN);
    let subscribe = json!({
        "type": "subscribe", "agentId": "main", "sessionId": session, "lastMessageId": last,
    });
    again.say(&subscribe);
    let replay = again.until("replay");
    let missed = replay["messages"].as_array().unwrap();
    let said = missed.iter().find(|it| it["type"] == "assistant_message").unwrap();
    assert_eq!(said["content"], "slept");
    assert!(said["id"].as_u64().unwrap() > last);
    // Numbers go on increasing after a restart.
    drop(again);
    let world = world.restart();
    let mut later = world.socket(ANN);
    later.say(&json!({ "type": "subscribe", "agentId": "main", "sessionId": session }));
    later.until("subscribed");
    later.message("hello");
    let id = later.until("assistant_message")["id"].as_u64().unwrap();
    assert!(id > said["id"].as_u64().unwrap());
}

#[test]
fn questions_have_one_answer() {
    let world = World::wide();
    let (mut client, session) = world.subscribed(ANN, "main");
    let mut other = world.socket(ANN);
    other.say(&json!({ "type": "subscribe", "agentId": "main", "sessionId": session }));
    other.until("subscribed");
    let (mut stranger, _) = world.subscribed(BOB, "main");
    client.message("ask q1");
    let asked = client.until("tool_approval");
    assert_eq!((&asked["toolId"], &asked["toolName"]), (&json!("q1"), &json!("shell_exec")));
    assert_eq!(asked["question"], "rm -r build");
    let yes = json!({ "type": "tool_approval", "toolId": "q1", "approved": true });
    let no = json!({ "type": "tool_approval", "toolId": "q1", "approved": false });
    stranger.say(&yes);
    stranger.until("tool_approval_rejected");
    other.until("tool_approval");
    client.say(&yes);
    assert_eq!(client.until("assistant_message")["content"], "answered true");
    other.say(&no);
    other.until("tool_approval_rejected");
}

#[test]
fn an_interrupt_ends_the_turn_and_a_second_subscription_waits_for_it() {
    let world = World::wide();
    let (mut client, session) = world.subscribed(ANN, "main");
    client.message("sleep 60000");
    client.until("status");
    client.say(&json!({ "type": "subscribe", "agentId": "anns" }));
    assert_eq!(client.until("error")["code"], "query_in_progress");
    client.say(&json!({ "type": "interrupt" }));
    assert_eq!(client.until("result")["interrupted"], true);
    client.say(&json!({ "type": "subscribe", "agentId": "anns" }));
    client.until("subscribed");
    assert_eq!(world.desk.closed(), [session]);
}

#[test]
fn a_worker_that_breaks_or_lies_leaves_the_session_usable() {
    let world = World::wide();
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message("panic");
    assert_eq!(client.until("error")["code"], "worker_error");
    assert_eq!(client.until("status")["status"], "idle");
    client.message("fail");
    let error = client.until("error");
    assert_eq!(client.until("status")["status"], "idle", "whoever listens hears that it has ended");
    assert_eq!(error["code"], "worker_error");
    let message = error["message"].as_str().unwrap();
    assert!(message.chars().count() <= 1000 && !message.contains('\u{1b}'));
    client.message("hello");
    client.until("assistant_message");
}

#[test]
fn what_changes_in_the_files_reaches_open_sockets() {
    let world = World::wide();
    let (mut ann, _) = world.subscribed(ANN, "main");
    let (mut bob, _) = world.subscribed(BOB, "bobs");
    // A file that is not understood changes nothing.
    write(&world.home().join("users.yaml"), "users: nobody\n");
    assert!(world.handle.reload().is_err());
    assert_eq!(world.desk.reloads(), 0);
    ann.message("hello");
    ann.until("assistant_message");
    // Bob's agent is closed to him; Ann's token is gone.
    let fewer = users("unlimited").replace("agents: [main, bobs]", "agents: [main]");
    let fewer = fewer.replace(&crate::world::hash(ANN), &crate::world::hash("another"));
    write(&world.home().join("users.yaml"), &fewer);
    // By itself, without being told.
    assert_eq!(ann.closed(), 4003);
    let roster = bob.until("roster_updated");
    // Workers that were started by the old files hear of it.
    assert!(world.desk.reloads() > 0);
    let ids: Vec<&str> =
        roster["agents"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["main"]);
    bob.message("hello");
    assert_eq!(bob.until("error")["code"], "access_denied");
    assert!(world.log.has("config.refused"));
}

#[test]
fn weaker_settings_and_broken_files_are_on_record_and_a_broken_agent_stays() {
    let world = World::wide();
    let home = world.home().to_owned();
    // Nothing changed: it is on record, and nobody is alarmed.
    world.handle.reload().unwrap();
    let records = world.records();
    assert!(records.contains("settings_reloaded") && !records.contains("may protect less"));
    write(&home.join("agents/main/IDENTITY.md"), "---\nnonsense: [\n---\n");
    world.handle.reload().unwrap();
    assert!(world.records().contains("settings_refused"));
    let agents = world.get("/api/agents", Some(ANN)).json().to_string();
    assert!(agents.contains("main"), "{agents}");
    let more = users("unlimited").replace("agents: [main, bobs]", "agents: \"*\"");
    write(&home.join("users.yaml"), &more);
    world.handle.reload().unwrap();
    let records = world.records();
    assert!(records.contains("may protect less") && records.contains("may use more agents"));
}

#[test]
fn who_agreed_to_nothing_is_asked_first() {
    let world = World::new();
    let mut client = world.socket(ANN);
    client.say(&json!({ "type": "subscribe", "agentId": "main" }));
    assert_eq!(client.until("consent_required")["policyVersion"], "1.0");
    client.say(&json!({ "type": "consent_granted", "policyVersion": "1.0" }));
    client.say(&json!({ "type": "subscribe", "agentId": "main" }));
    client.until("subscribed");
}

#[test]
fn secrets_do_not_leave_while_the_agent_writes() {
    let world = World::wide();
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message(&format!("letters the key is {KEY} see"));
    let frames = client.all_until("result");
    let tokens: String = frames.iter().filter_map(|it| it["text"].as_str()).collect();
    assert!(tokens.starts_with("the key is [REDACTED"), "{tokens}");
    assert!(!format!("{frames:?}").contains("aB3dE5fG7h"));
    client.message("ask leak");
    let asked = client.until("tool_approval");
    assert_eq!(asked["toolInput"]["shown"][0], "rm -r build");
    assert!(!asked.to_string().contains("aB3dE5fG7h"), "{asked}");
    client.say(&json!({ "type": "tool_approval", "toolId": "leak", "approved": false }));
    client.until("result");
}

#[test]
fn a_ticket_opens_one_socket_once() {
    let world = World::wide();
    let ticket = world.post("/api/tickets", Some(ANN), "").json()["ticket"].clone();
    let path = format!("/ws?ticket={}", ticket.as_str().unwrap());
    let mut client = world.socket_with(&path, &[]).unwrap();
    assert!(matches!(client.next(), Next::Frame(it) if it["type"] == "connected"));
    assert_eq!(world.socket_with(&path, &[]).unwrap().closed(), 4001);
}
