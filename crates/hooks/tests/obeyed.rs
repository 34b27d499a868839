//! An oracle of the hosts: what each was seen to do with an answer, written down apart from the dialects.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests"
)]

use crate::world::{captured, made, replies, tool};
use hooks::{Answer, Event, Host, Kind, Reply, Seen, answer, dialect, read};
use serde_json::{Value, json};

/// What a host does with a call, a prompt or a result after an answer.
#[derive(Debug, PartialEq)]
enum Outcome {
    Open,
    Blocked(String),
    Asked(String),
    Rewritten(Value),
    Replaced(Value),
    Stopped(String),
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).filter(|it| !it.is_empty())
}

/// What becomes of a call, by the table of measurements.
fn call(host: Host, event: &str, answer: &Answer) -> Outcome {
    let stderr = String::from_utf8(answer.stderr.clone()).unwrap();
    if answer.exit == 2 {
        let is_told = !stderr.trim().is_empty();
        return if is_told { Outcome::Blocked(stderr) } else { Outcome::Open };
    }
    let Ok(said) = serde_json::from_slice::<Value>(&answer.stdout) else {
        // With `failClosed` set, Cursor blocks what says nothing; our plugin for OpenCode does as well.
        let closed = matches!(host, Host::Cursor | Host::OpenCode);
        return if closed { Outcome::Blocked(String::new()) } else { Outcome::Open };
    };
    match host {
        Host::Claude => nested(&said, event, true),
        Host::Codex if !is_strictly_known(&said) => Outcome::Open,
        Host::Codex => match nested(&said, event, false) {
            // Asking fails, and rewriting alone as well.
            Outcome::Asked(_) => Outcome::Open,
            Outcome::Rewritten(_) if !is_allowed(&said) => Outcome::Open,
            other => other,
        },
        Host::Gemini => match (said["decision"].as_str(), text(&said["reason"])) {
            (Some("deny" | "block"), Some(reason)) => Outcome::Blocked(reason),
            (Some("ask"), _) => Outcome::Stopped("the run ends".into()),
            _ => match &said["hookSpecificOutput"]["tool_input"] {
                Value::Null => Outcome::Open,
                args => Outcome::Rewritten(args.clone()),
            },
        },
        Host::Copilot if event.starts_with('P') => nested(&said, event, false),
        Host::Copilot => {
            match (said["permissionDecision"].as_str(), text(&said["permissionDecisionReason"])) {
                (Some("deny"), Some(reason)) => Outcome::Blocked(reason),
                (Some("ask"), Some(reason)) => Outcome::Asked(reason),
                _ if !said["modifiedArgs"].is_null() => {
                    Outcome::Rewritten(said["modifiedArgs"].clone())
                }
                _ => Outcome::Open,
            }
        }
        Host::Cursor => match (said["permission"].as_str(), text(&said["user_message"])) {
            (Some("deny"), Some(reason)) => Outcome::Blocked(reason),
            (Some("allow"), _) if !said["updated_input"].is_null() => {
                Outcome::Rewritten(said["updated_input"].clone())
            }
            (Some("allow"), _) => Outcome::Open,
            _ => Outcome::Blocked(String::new()),
        },
        Host::OpenCode => match (said["decision"].as_str(), text(&said["reason"])) {
            (Some("deny"), Some(reason)) => Outcome::Blocked(reason),
            (Some("allow"), _) if !said["args"].is_null() => {
                Outcome::Rewritten(said["args"].clone())
            }
            (Some("allow"), _) => Outcome::Open,
            _ => Outcome::Blocked(String::new()),
        },
    }
}

/// Claude Code's form. With the wrong name of the event, Claude Code itself ignores all of it.
fn nested(said: &Value, event: &str, by_name: bool) -> Outcome {
    let inner = &said["hookSpecificOutput"];
    if by_name && inner["hookEventName"] != event {
        return Outcome::Open;
    }
    match (inner["permissionDecision"].as_str(), text(&inner["permissionDecisionReason"])) {
        (Some("deny"), Some(reason)) => Outcome::Blocked(reason),
        (Some("ask"), Some(reason)) => Outcome::Asked(reason),
        _ if !inner["updatedInput"].is_null() => Outcome::Rewritten(inner["updatedInput"].clone()),
        _ => Outcome::Open,
    }
}

fn is_allowed(said: &Value) -> bool {
    said["hookSpecificOutput"]["permissionDecision"] == "allow"
}

/// Codex drops an answer with a field that it does not know.
fn is_strictly_known(said: &Value) -> bool {
    const OUTER: [&str; 4] = ["hookSpecificOutput", "systemMessage", "decision", "reason"];
    const INNER: [&str; 6] = [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "additionalContext",
        "decision",
    ];
    let known = |value: &Value, names: &[&str]| {
        value.as_object().is_none_or(|it| it.keys().all(|key| names.contains(&key.as_str())))
    };
    known(said, &OUTER)
        && known(&said["hookSpecificOutput"], &INNER)
        && known(&said["hookSpecificOutput"]["decision"], &["behavior", "message"])
}

/// What becomes of a result.
fn result(host: Host, event: &str, answer: &Answer, is_mcp: bool) -> Outcome {
    let said: Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
    let blocked = |word: &str| {
        let is_blocked = said["decision"] == word;
        text(&said["reason"]).filter(|_| is_blocked).map(|it| Outcome::Replaced(json!(it)))
    };
    let replaced = match host {
        Host::Claude if said["continue"] == false => {
            text(&said["stopReason"]).map(Outcome::Stopped)
        }
        Host::Claude if said["hookSpecificOutput"]["hookEventName"] == event => {
            let output = &said["hookSpecificOutput"]["updatedToolOutput"];
            Some(output).filter(|it| !it.is_null()).map(|it| Outcome::Replaced(it.clone()))
        }
        Host::Codex if is_strictly_known(&said) => blocked("block"),
        Host::Gemini => blocked("deny"),
        Host::Copilot => blocked("block").or_else(|| {
            let is_whole = said["modifiedResult"]["resultType"] == "success";
            let told = said["modifiedResult"]["textResultForLlm"].clone();
            Some(Outcome::Replaced(told)).filter(|_| is_whole)
        }),
        Host::Cursor if is_mcp => {
            let output = &said["updated_mcp_tool_output"]["content"][0]["text"];
            Some(output).filter(|it| it.is_string()).map(|it| Outcome::Replaced(it.clone()))
        }
        Host::OpenCode => Some(&said["output"])
            .filter(|it| it.is_string())
            .map(|it| Outcome::Replaced(it.clone())),
        Host::Claude | Host::Codex | Host::Cursor => None,
    };
    replaced.unwrap_or(Outcome::Open)
}

const REASON: &str = "Not \"this\" one.\nNext step: `lazaret approve 7`.";

fn each_kind(kind: Kind) -> impl Iterator<Item = (Host, &'static str)> {
    Host::ALL.into_iter().flat_map(move |host| {
        let dialect = dialect(host);
        dialect.events().filter(move |it| dialect.kind(it) == Some(kind)).map(move |it| (host, it))
    })
}

fn before() -> Seen {
    made(Event::Before(tool("Bash", json!({"command": "rm x"}), None)))
}

#[test]
fn every_host_blocks_a_call_that_is_denied() {
    let seen = before();
    for (host, event) in each_kind(Kind::Before) {
        for seen in [None, Some(&seen)] {
            let said = answer(host, event, seen, &Reply::Deny { reason: REASON.into() });
            assert_eq!(call(host, event, &said), Outcome::Blocked(REASON.into()), "{host} {event}");
        }
    }
}

#[test]
fn a_denial_without_a_reason_has_one() {
    for (host, event) in each_kind(Kind::Before) {
        for reason in ["", "  \n"] {
            let said = answer(host, event, None, &Reply::Deny { reason: reason.into() });
            let Outcome::Blocked(told) = call(host, event, &said) else { panic!("{host} {event}") };
            assert!(told.starts_with("Lazaret refused this."), "{host} {event}: {told}");
        }
    }
}

#[test]
fn asking_asks_or_blocks_and_never_lets_it_run() {
    let seen = before();
    for (host, event) in each_kind(Kind::Before) {
        let said = answer(host, event, Some(&seen), &Reply::Ask { reason: REASON.into() });
        let asks = (host, event) == (Host::Claude, "PreToolUse")
            || (host, event) == (Host::Copilot, "preToolUse");
        let expected =
            if asks { Outcome::Asked(REASON.into()) } else { Outcome::Blocked(REASON.into()) };
        assert_eq!(call(host, event, &said), expected, "{host} {event}");
    }
}

#[test]
fn passing_and_telling_let_the_hosts_own_rules_go_on() {
    let seen = before();
    for (host, event) in each_kind(Kind::Before) {
        for reply in [Reply::Pass, Reply::Context { text: "Note.".into() }] {
            let said = answer(host, event, Some(&seen), &reply);
            assert_eq!(call(host, event, &said), Outcome::Open, "{host} {event} {reply:?}");
            // No host but those that need a word is told `allow`.
            let told = String::from_utf8(said.stdout).unwrap();
            let needs = matches!(host, Host::Cursor | Host::OpenCode);
            assert_eq!(told.contains("\"allow\""), needs, "{host} {event}");
        }
    }
}

#[test]
fn every_result_that_can_be_withheld_is() {
    for it in captured() {
        if dialect(it.host).kind(&it.event) != Some(Kind::After) {
            continue;
        }
        let seen = read(it.host, &it.event, &it.bytes).unwrap();
        let is_mcp = seen.event.tool().unwrap().mcp.is_some();
        // Cursor has no way to keep what its own tools gave, nor at its granular events.
        let can = it.host != Host::Cursor || (is_mcp && it.event == "postToolUse");
        for (name, reply) in replies() {
            let said = answer(it.host, &it.event, Some(&seen), &reply);
            let outcome = result(it.host, &it.event, &said, is_mcp);
            let replaces = can && !["pass", "context"].contains(&name);
            let is_replaced = matches!(&outcome, Outcome::Replaced(_));
            assert_eq!(is_replaced, replaces, "{} {name}: {outcome:?}", it.name);
            if let Outcome::Replaced(shape) = outcome {
                let told = if name == "replace" { "Clean." } else { "" };
                assert!(shape.to_string().contains(told), "{} {name}: {shape}", it.name);
                assert!(!shape.to_string().contains("ORIGINAL"), "{} {name}: {shape}", it.name);
            }
        }
    }
}

#[test]
fn a_result_that_could_not_be_read_is_withheld_or_the_session_stops() {
    for (host, event) in each_kind(Kind::After) {
        let said = answer(host, event, None, &Reply::Deny { reason: REASON.into() });
        match result(host, event, &said, true) {
            Outcome::Replaced(told) => assert_eq!(told, REASON, "{host} {event}"),
            Outcome::Stopped(told) => assert_eq!((host, told.as_str()), (Host::Claude, REASON)),
            other => assert!(host == Host::Cursor && event != "postToolUse", "{event} {other:?}"),
        }
    }
}

#[test]
fn every_prompt_and_every_permission_can_be_refused() {
    for (host, event) in each_kind(Kind::Prompt) {
        let said = answer(host, event, None, &Reply::Deny { reason: REASON.into() });
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        let (is_blocked, told) = match host {
            Host::Claude | Host::Codex | Host::Copilot => {
                (said["decision"] == "block", &said["reason"])
            }
            Host::Gemini | Host::OpenCode => (said["decision"] == "deny", &said["reason"]),
            Host::Cursor => (said["continue"] == false, &said["user_message"]),
        };
        assert!(is_blocked && told == REASON, "{host} {event}: {said}");
    }
    for (host, event) in each_kind(Kind::Permission) {
        let said = answer(host, event, None, &Reply::Deny { reason: REASON.into() });
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        let nested = &said["hookSpecificOutput"]["decision"];
        let decision = if host == Host::Copilot { &said } else { nested };
        assert_eq!((&decision["behavior"], &decision["message"]), (&json!("deny"), &json!(REASON)));
    }
}

#[test]
fn every_answer_of_every_event_is_well_formed_and_denials_are_never_silent() {
    let reasons =
        ["", "plain", "\"\\\n\r\t\u{0}\u{1f}\u{2028}é🦀$text$event{}", &"long ".repeat(9_000)];
    for host in Host::ALL {
        for event in dialect(host).events().chain(["NoSuchEvent"]) {
            for reason in reasons {
                for reply in [
                    Reply::Deny { reason: reason.to_owned() },
                    Reply::Withhold { reason: reason.to_owned() },
                    Reply::Ask { reason: reason.to_owned() },
                    Reply::Replace { text: reason.to_owned() },
                    Reply::Context { text: reason.to_owned() },
                ] {
                    let said = answer(host, event, None, &reply);
                    assert!(!(said.stdout.is_empty() && said.stderr.is_empty()), "{host} {event}");
                    if !said.stdout.is_empty() {
                        let json: Value = serde_json::from_slice(&said.stdout).unwrap();
                        assert!(json.is_object(), "{host} {event}");
                        assert!(host != Host::Codex || is_strictly_known(&json), "{event} {json}");
                    }
                    let most = 40 + hooks::TEXT_CHARS_MAX * 2;
                    assert!(said.stdout.len() < 4 * most, "{host} {event} {}", said.stdout.len());
                    assert!(said.exit == 0 || (said.exit == 2 && !said.stderr.is_empty()));
                }
            }
        }
    }
}
