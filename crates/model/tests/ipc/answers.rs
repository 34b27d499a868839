//! The answers, to the byte.

use model::ipc::{self, ActionName, Answer, ISSUES_MAX, IpcError, Next, Uuid};
use model::{Decision, Fix};
use serde_json::{Map, Value, json};

fn refusal(message: &str) -> Value {
    Answer::from(ipc::parse(message.as_bytes()).unwrap_err()).to_value()
}

#[test]
fn bytes_that_are_no_json_get_no_more_than_that() {
    let expected = json!({"ok": false, "error": "Invalid JSON"});
    for message in ["not json", "}{bad", "", r#"{"action":"skill_list","action":"skill_list"}"#] {
        assert_eq!(refusal(message), expected, "{message}");
    }
}

#[test]
fn an_unknown_action_is_named_without_obeying_it() {
    let answer = refusal("{\"action\":\"rm\\u001b[2J\"}");
    let details = json!([r"there is no action `rm\u{1b}[2J`"]);
    assert_eq!(
        answer,
        json!({"ok": false, "error": "Unknown or missing action", "details": details})
    );
    assert_eq!(refusal("[]")["details"], json!(["a message is an object"]));
    assert_eq!(refusal("{}")["details"], json!(["`action` is missing"]));
    assert_eq!(refusal(r#"{"action":7}"#)["details"], json!(["`action` must be a string"]));
}

#[test]
fn a_validation_failure_lists_every_issue_with_its_path() {
    let message = json!({
        "action": "llm_call",
        "messages": [{"role": "user", "content": "a"}, {"role": "root", "content": null, "x": 1}],
        "temperature": 3,
        "maxTokens": 1.5,
        "evil": true,
    });
    let expected = json!({
        "ok": false,
        "error": "Validation failed for action \"llm_call\"",
        "details": [
            {"path": "provider", "message": "required"},
            {"path": "messages.1.role", "message": "must be one of user, assistant, system"},
            {"path": "messages.1.content", "message": "must be a string, not null"},
            {"path": "messages.1", "message": "unknown field `x`"},
            {"path": "temperature", "message": "must be a number from 0 to 2"},
            {"path": "maxTokens", "message": "must be a whole number from 1 to 200000"},
            {"path": "", "message": "unknown field `evil`"},
        ],
    });
    assert_eq!(refusal(&message.to_string()), expected);
}

#[test]
fn an_answer_stays_short_however_much_is_wrong() {
    let mut message = Map::from_iter([("action".to_owned(), json!("skill_list"))]);
    message.extend((0..1000).map(|it| (format!("{it}{}", "x".repeat(1000)), Value::Null)));
    let answer = refusal(&Value::Object(message).to_string());
    assert_eq!(answer["details"].as_array().unwrap().len(), ISSUES_MAX);
    assert!(answer.to_string().len() < 4096);
}

#[test]
fn the_other_answers_have_the_shapes_of_the_issue() {
    let done = Answer::Done(Map::from_iter([
        ("id".to_owned(), json!(1)),
        ("ok".to_owned(), json!(false)),
    ]));
    assert_eq!(done.to_value(), json!({"ok": true, "id": 1}));
    let blocked = Answer::TaintBlocked {
        action: ActionName::OauthCall,
        reason: "why".to_owned(),
        approval: None,
        next: Next::default(),
    };
    let expected =
        json!({"ok": false, "error": "why", "taintBlocked": true, "action": "oauth_call"});
    assert_eq!(blocked.to_value(), expected);
    let stopped = Answer::Stopped {
        action: ActionName::WebFetch,
        decision: Decision::StepUp,
        rule: "net-ask-tunnel".to_owned(),
        reason: "why".to_owned(),
        approval: Uuid::parse("123e4567-e89b-42d3-a456-426614174000"),
        next: Next {
            remedy: Some("ask the user".to_owned()),
            fix: Some(Fix { reason: "it loses work".into(), alternative: "rm -rI".into() }),
        },
    };
    let expected = json!({
        "approval": "123e4567-e89b-42d3-a456-426614174000",
        "ok": false,
        "error": "why",
        "action": "web_fetch",
        "decision": "step_up",
        "rule": "net-ask-tunnel",
        "remedy": "ask the user",
        "fix": { "reason": "it loses work", "alternative": "rm -rI" },
    });
    assert_eq!(stopped.to_value(), expected);
    let failed = Answer::Failed { message: "disk full".to_owned() };
    assert_eq!(failed.to_value(), json!({"ok": false, "error": "Handler error: disk full"}));
}

#[test]
fn whatever_order_a_message_was_written_in_the_answer_is_the_same_to_the_byte() {
    let texts = [
        r#"{"z":1,"action":"skill_read","y":{"d":1,"c":2},"x":3}"#,
        r#"{"x":3,"y":{"c":2,"d":1},"z":1,"action":"skill_read"}"#,
    ];
    let unknown = |name| json!({"path": "", "message": format!("unknown field `{name}`")});
    for text in texts {
        let answer = refusal(text);
        let details = answer["details"].as_array().unwrap();
        let rest = details.get(details.len() - 3..).unwrap();
        assert_eq!(rest, [unknown("x"), unknown("y"), unknown("z")]);
        let printed = answer.to_string();
        assert!(printed.starts_with(r#"{"details":[{"message":"required","path":""#), "{printed}");
        assert!(
            printed.ends_with(
                r#"],"error":"Validation failed for action \"skill_read\"","ok":false}"#
            )
        );
    }
    let message = r#"{"query":"b","action":"web_search"}"#;
    let action = ipc::parse(message.as_bytes()).unwrap();
    assert_eq!(action.to_value().to_string(), r#"{"action":"web_search","query":"b"}"#);
}

#[test]
fn the_evidence_learns_what_the_sender_does_not() {
    let error = ipc::parse(br#"{"a":1,"a":2}"#).unwrap_err();
    assert!(matches!(&error, IpcError::Malformed(it) if it.to_string().contains("stands twice")));
    assert_eq!(error.action(), None);
}
