//! A worker that lies in every field of every message: what it says is read as it is meant, refused, or ends the worker; and
//! whatever it says, the parent counts and tells what it did itself.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use agent::{Frame, ToWorker, TurnErrorCode};
use serde_json::{Value, json};

use super::MALFORMED_MAX;
use super::tests::{House, ask, hear, house, result, say};

/// One honest message of each type that a worker has.
fn honest() -> Vec<Value> {
    let call = json!({"action": "memory_list", "scope": "a"});
    vec![
        json!({"type": "ready"}),
        json!({"type": "frame", "frame": {"type": "token", "id": 5, "text": "t"}}),
        json!({"type": "frame", "frame": {"type": "tool_result", "id": 6, "toolId": "t", "content": "c"}}),
        json!({"type": "session_id", "sessionId": "s1", "firstMessage": "x"}),
        json!({"type": "tool_approval_request", "toolId": "t", "toolName": "memory_list", "toolInput": {"scope": "a"}}),
        json!({"type": "error", "code": "model", "message": "m"}),
        json!({"type": "call", "id": 7, "message": call}),
        ask(8),
        result("s1"),
    ]
}

/// What stands in the place of a value.
fn lies() -> Vec<Value> {
    vec![
        Value::Null,
        json!(-1),
        json!(u64::MAX),
        json!(format!("\u{1b}[2J\u{202e}{}", "x".repeat(2000))),
        json!([[[{"a": {}}]]]),
        json!({"action": "shell_exec", "command": "id", "_userId": "root"}),
    ]
}

/// What is said at once, in one turn, before the worker does its work: each message with each of its fields, however deep, in
/// turn said as each of the lies, and left out. What may end a turn stands with few others.
fn lied() -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    for message in honest() {
        let may_end = ["session_id", "error", "result"].iter().any(|it| message["type"] == *it);
        let at_once = if may_end { MALFORMED_MAX / 2 } else { MALFORMED_MAX };
        all.extend(lies_about(&message).chunks(at_once).map(<[_]>::to_vec));
    }
    all
}

fn lies_about(message: &Value) -> Vec<Value> {
    let (mut all, mut places) = (Vec::new(), Vec::new());
    pointers(message, &mut String::new(), &mut places);
    for place in &places {
        for lie in lies() {
            let mut message = message.clone();
            *message.pointer_mut(place).unwrap() = lie;
            all.push(message);
        }
        let (above, name) = place.rsplit_once('/').unwrap();
        let mut message = message.clone();
        if let Some(Value::Object(fields)) = message.pointer_mut(above) {
            fields.remove(name);
            all.push(message);
        }
    }
    let mut more = message.clone();
    more["user"] = json!("root");
    all.extend([more, json!([message])]);
    all
}

fn pointers(value: &Value, at: &mut String, all: &mut Vec<String>) {
    let mut below = |name: &str, it: &Value| {
        let length = at.len();
        at.push('/');
        at.push_str(name);
        all.push(at.clone());
        pointers(it, at, all);
        at.truncate(length);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, it)| below(name, it)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, it)| below(&at.to_string(), it));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Says some lies in each turn, and does its work as if there had been none; a turn that a lie has ended is over.
fn play(mut socket: UnixStream, lies: &Receiver<Vec<Value>>) {
    let mut turn = 1000;
    while let Some(said) = hear(&mut socket) {
        match said {
            ToWorker::Message { .. } => {
                let Ok(lies) = lies.recv() else { return };
                turn += 1;
                lies.iter().for_each(|it| say(&mut socket, it));
                say(&mut socket, &ask(turn));
            }
            ToWorker::Answer { id, .. } | ToWorker::NoAnswer { id, .. } if id == turn => {
                say(&mut socket, &result("s1"));
            }
            ToWorker::Shutdown {} => return,
            ToWorker::Init { .. }
            | ToWorker::Interrupt {}
            | ToWorker::ToolApprovalResponse { .. }
            | ToWorker::Piece { .. }
            | ToWorker::Answer { .. }
            | ToWorker::NoAnswer { .. }
            | ToWorker::Called { .. } => {}
        }
    }
}

/// What the parent makes of a turn: only what it has seen itself.
fn turn(house: &House, lies: &[Value]) {
    let lie = json!(lies);
    let asked = || house.model.asked.lock().unwrap().len();
    let (before, mut frames) = (asked(), Vec::new());
    let done = house.turn(&mut frames);
    let asked = u64::try_from(asked() - before).unwrap();
    let (usage, calls) = match &done {
        Ok(seen) => {
            assert!(["the true answer", ""].contains(&seen.reply.content.as_str()), "{lie}");
            (seen.reply.usage, seen.reply.tool_calls.clone())
        }
        Err(error) => {
            assert_eq!(error.code, TurnErrorCode::WorkerError, "{lie}: {error}");
            assert!(!error.message.contains(['\u{1b}', '\u{202e}']), "{error}");
            (error.usage, Vec::new())
        }
    };
    assert_eq!((usage.input_tokens, usage.output_tokens), (7 * asked, 3 * asked), "{lie}");
    // Whatever it wanted to have called: the one call that it may make, or one that was refused.
    for (name, fate) in &calls {
        assert!(name == "memory_list" || fate != "ran", "{lie}: {name} {fate}");
    }
    let shown = format!("{frames:?}");
    assert!(!shown.contains("\\u{1b}") && !shown.contains("root"), "{lie}: {shown}");
    assert!(frames.iter().all(|it| !matches!(it, Frame::SubagentDone { .. })), "{lie}");
}

#[test]
fn a_lie_in_any_field_of_any_message_changes_nothing_that_counts() {
    let all = lied();
    assert!(all.iter().map(Vec::len).sum::<usize>() > 300);
    let mut rest = all.into_iter().peekable();
    // A worker that says too much that is no message is ended: then there is another one.
    while rest.peek().is_some() {
        let home = tempfile::tempdir().unwrap();
        let (to, lies) = channel();
        let house = house(home.path(), move |socket| play(socket, &lies));
        let mut said = 0;
        while let Some(lies) = rest.next_if(|it| said + it.len() <= MALFORMED_MAX) {
            said += lies.len();
            to.send(lies.clone()).unwrap();
            turn(&house, &lies);
            if house.worker.is_over() {
                break;
            }
        }
        for request in house.model.asked.lock().unwrap().iter() {
            let is_ours = request.model == "default" && request.system.contains("Your tools:");
            let is_summary = request.model == "fast" && request.tools.is_empty();
            assert!(is_ours || is_summary, "{}: {}", request.model, request.system);
        }
        drop(to);
        house.worker.end().unwrap();
        Arc::into_inner(house.gate).unwrap().close().unwrap();
    }
}
