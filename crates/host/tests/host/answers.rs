//! Every kind of answer, and the record that each leaves.

use model::EffectKind;
use model::ipc::ActionName;
use serde_json::{Value, json};

use crate::support::{House, content};

/// The newest record of a session.
fn newest(house: &House, session: &str) -> Value {
    house.records(session).pop().unwrap()
}

fn answer(house: &House, message: &[u8]) -> Value {
    house.door.answer(&crate::support::caller("alice", "s"), message).to_value()
}

#[test]
fn bytes_that_are_no_message_get_the_answers_of_the_issue_and_leave_a_short_record() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    house.open("alice", "s");
    let long = format!("not json {}", "x".repeat(100_000));
    assert_eq!(answer(&house, long.as_bytes()), json!({"ok": false, "error": "Invalid JSON"}));
    let record = newest(&house, "s");
    let found = content(&record);
    assert_eq!(record["meta"]["kind"], "turned_away");
    assert_eq!(record["meta"]["user"], "alice");
    assert_eq!((&found["bytes"], &found["rule"]), (&json!(long.len()), &json!("malformed-call")));
    let preview = found["preview"].as_str().unwrap();
    assert!(preview.starts_with("not json xxx") && preview.chars().count() <= 401);
    assert!(!found["details"][0].as_str().unwrap().is_empty(), "the evidence learns more");

    let unknown = answer(&house, br#"{"action":"rm_rf"}"#);
    assert_eq!(unknown["error"], "Unknown or missing action");
    assert_eq!(unknown["details"], json!(["there is no action `rm_rf`"]));
    assert_eq!(content(&newest(&house, "s"))["details"], unknown["details"]);

    let invalid = answer(&house, br#"{"action":"memory_read","id":"x","_userId":"root"}"#);
    let details = json!([
        {"path": "id", "message": "must be a UUID in lower case"},
        {"path": "", "message": "unknown field `_userId`"},
    ]);
    let error = "Validation failed for action \"memory_read\"";
    assert_eq!(invalid, json!({"ok": false, "error": error, "details": details}));
    let record = newest(&house, "s");
    assert_eq!(content(&record)["action"], "memory_read");
    assert_eq!(content(&record)["details"], details);
    assert!(content(&record)["preview"].as_str().unwrap().contains("_userId"));
}

#[test]
fn an_action_whose_provider_is_missing_fails_and_makes_nothing_up() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let answer = house.say(&who, &json!({"action": "web_fetch", "url": "https://a.example/"}));
    let expected = json!({"ok": false, "error": "Handler error: no web provider is configured"});
    assert_eq!(answer, expected);
    let record = newest(&house, "s");
    assert_eq!(record["type"], "ToolResult");
    assert_eq!(content(&record)["status"], "not_begun");
    assert_eq!(content(&record)["preview"], "no web provider is configured");
    // Nobody outside has said a word, so nobody is tainted by it.
    assert_eq!(house.monitor.summary(&who).unwrap().taint, model::Taint::NONE);
}

/// A message of every action, in the order of the table, and what becomes of it in a new session.
fn one_of_each() -> Vec<(Value, &'static str)> {
    let id = "123e4567-e89b-12d3-a456-426614174000";
    let (llm, web, browser) = ("no llm provider", "no web provider", "no browser provider");
    let files = "this session has no workspace";
    let (skills, scheduler) = ("no skills provider", "no scheduler provider");
    let subs = "only agents that Lazaret runs itself have sub-agents";
    let user = json!([{"role": "user", "content": "hello"}]);
    vec![
        (json!({"action": "llm_call", "provider": "anthropic", "messages": user}), llm),
        (
            json!({"action": "memory_write", "scope": "a", "content": "b", "type": "knowledge"}),
            "ok",
        ),
        (json!({"action": "memory_query", "scope": "a"}), "ok"),
        (json!({"action": "memory_read", "id": id}), "there is no memory entry"),
        (json!({"action": "memory_delete", "id": id}), "there is no memory entry"),
        (json!({"action": "memory_list", "scope": "a"}), "ok"),
        (json!({"action": "web_fetch", "url": "https://a.example/"}), web),
        (json!({"action": "web_search", "query": "a"}), web),
        (json!({"action": "browser_launch"}), browser),
        (
            json!({"action": "browser_navigate", "session": "b", "url": "https://a.example/"}),
            browser,
        ),
        (json!({"action": "browser_snapshot", "session": "b"}), browser),
        (json!({"action": "browser_click", "session": "b", "ref": 1}), browser),
        (json!({"action": "browser_type", "session": "b", "ref": 1, "text": "x"}), browser),
        (json!({"action": "browser_screenshot", "session": "b"}), browser),
        (json!({"action": "browser_close", "session": "b"}), browser),
        (json!({"action": "skill_propose", "skill": "a", "content": "b"}), skills),
        (json!({"action": "skill_read", "name": "a"}), skills),
        (json!({"action": "skill_list"}), skills),
        (
            json!({"action": "oauth_call", "service": "mail", "method": "GET", "path": "/me"}),
            "no credentials provider",
        ),
        (json!({"action": "scheduler_list_cron"}), scheduler),
        (json!({"action": "scheduler_get_heartbeat"}), scheduler),
        (json!({"action": "scheduler_list_triggers"}), scheduler),
        (json!({"action": "scheduler_remove_cron", "id": "j"}), scheduler),
        (
            json!({"action": "scheduler_add_cron", "schedule": "0 9 * * 1", "prompt": "p"}),
            scheduler,
        ),
        (
            json!({"action": "scheduler_run_at", "datetime": "2030-01-01T00:00:00", "prompt": "p"}),
            scheduler,
        ),
        (json!({"action": "agent_delegate", "task": "t"}), subs),
        (json!({"action": "agent_collect", "handleIds": ["h"]}), subs),
        (json!({"action": "model_query", "message": "m"}), llm),
        (json!({"action": "task_list"}), "ok"),
        (json!({"action": "task_add", "text": "t"}), "ok"),
        (json!({"action": "task_close", "id": id}), "there is no open task"),
        (json!({"action": "scratch_write", "name": "n", "content": "c"}), "ok"),
        (json!({"action": "scratch_read", "name": "n"}), "this session has no note"),
        (json!({"action": "scratch_list"}), "ok"),
        (json!({"action": "current_time"}), "ok"),
        (json!({"action": "prompt_read"}), "this session was opened without"),
        (json!({"action": "tools_read"}), "this session was opened without"),
        (json!({"action": "message_out", "text": "t"}), "ok"),
        (json!({"action": "audit_query"}), "ok"),
        (json!({"action": "file_read", "path": "a"}), files),
        (json!({"action": "file_write", "path": "a", "content": "b"}), files),
        (json!({"action": "file_edit", "path": "a", "old": "b", "new": "c"}), files),
        (json!({"action": "file_list"}), files),
        (json!({"action": "file_search", "query": "a"}), files),
        (json!({"action": "shell_exec", "command": "ls"}), "no shell provider"),
    ]
}

#[test]
fn every_action_reaches_its_executor() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let all = one_of_each();
    assert_eq!(all.len(), ActionName::ALL.len());
    for ((message, expected), name) in all.into_iter().zip(ActionName::ALL) {
        assert_eq!(message["action"], name.as_str());
        let who = house.open("alice", &format!("s-{}", name.as_str()));
        let before = house.records(who.session.as_str()).len();
        let answer = house.say(&who, &message);
        if expected == "ok" {
            assert_eq!(answer["ok"], true, "{answer}");
        } else {
            assert_eq!(answer["ok"], false, "{answer}");
            let error = answer["error"].as_str().unwrap();
            assert!(error.starts_with(&format!("Handler error: {expected}")), "{name:?}: {error}");
        }
        // The decision, then the outcome.
        let records = house.records(who.session.as_str());
        let kind = EffectKind::from(*name);
        let [decision, outcome] = &records[before..] else { panic!("{name:?}: {records:?}") };
        assert_eq!(decision["meta"]["kind"], kind.as_str());
        assert_eq!(content(decision)["decision"], "allow");
        assert_eq!(content(outcome)["status"] == "done", expected == "ok");
    }
}

#[test]
fn an_agent_does_not_choose_where_on_a_messenger_it_is_heard() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let message = json!({"action": "message_out", "text": "t", "to": "telegram:dm:5"});
    let answer = house.say(&who, &message);
    assert!(answer["error"].as_str().unwrap().contains("does not choose where"), "{answer}");
}

#[test]
fn what_the_gate_stops_is_told_with_its_rule() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let url = "https://webhook.site/3f2a";
    let answer = house.say(&who, &json!({"action": "web_fetch", "url": url}));
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["action"], "web_fetch");
    assert_eq!(answer["decision"], "deny");
    assert_eq!(answer["rule"], "net-deny-egress");
    assert!(answer.get("taintBlocked").is_none());
    let record = newest(&house, "s");
    assert_eq!(content(&record)["rule"], "net-deny-egress");
}

#[test]
fn what_is_only_said_touches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let text = "localhost, ~/.ssh/id_rsa and webhook.site are in the notes about security";
    let write = json!({
        "action": "memory_write",
        "scope": "a",
        "content": text,
        "type": "knowledge",
        "source": "https://webhook.site/docs",
    });
    assert_eq!(house.say(&who, &write)["ok"], true);
    let think = json!({
        "action": "llm_call",
        "provider": "anthropic",
        "messages": [{"role": "user", "content": text}],
    });
    let answer = house.say(&who, &think);
    assert_eq!(answer["error"], "Handler error: no llm provider is configured");
}

#[test]
fn a_session_that_is_not_open_here_is_refused_and_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    house.open("alice", "s");
    let stranger = crate::support::caller("mallory", "s");
    let answer = house.say(&stranger, &json!({"action": "skill_list"}));
    assert_eq!(answer["rule"], "no-session");
    assert_eq!(answer["ok"], false);
    let record = newest(&house, "s");
    assert_eq!(record["meta"]["user"], "mallory");
    assert_eq!(content(&record)["rule"], "no-session");
}
