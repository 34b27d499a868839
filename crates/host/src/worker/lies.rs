//! A worker that lies in every field of every message: what it says is read as it is meant, refused, or ends the worker; and
//! whatever it says, the parent counts and tells what it did itself.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use agent::{Frame, FromWorker, ToWorker, TurnErrorCode};
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

/// Lies that are said at once, in one turn.
const AT_ONCE: usize = 50;

/// What is said in each turn, before the worker does its work: each message with each of its fields, however deep, in turn said
/// as each of the lies, and left out. What may end a turn stands alone. What cannot be read is refused before anybody looks
/// at it, and a worker may say little of it: a few of each kind stand for all.
fn lied() -> Vec<Vec<Value>> {
    let is_read = |it: &Value| FromWorker::read(it.to_string().as_bytes()).is_ok();
    let (mut all, mut spoilt) = (Vec::new(), Vec::new());
    for message in honest() {
        let may_end = ["session_id", "error", "result"].iter().any(|it| message["type"] == *it);
        let (read, unread): (Vec<_>, Vec<_>) = lies_about(&message).into_iter().partition(is_read);
        all.extend(read.chunks(if may_end { 1 } else { AT_ONCE }).map(<[_]>::to_vec));
        spoilt.extend(unread.into_iter().take(MALFORMED_MAX / honest().len()));
    }
    assert!(all.iter().map(Vec::len).sum::<usize>() > 100 && spoilt.len() <= MALFORMED_MAX);
    all.push(spoilt);
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
    let home = tempfile::tempdir().unwrap();
    let (to, lies) = channel();
    let house = house(home.path(), move |socket| play(socket, &lies));
    for lies in lied() {
        to.send(lies.clone()).unwrap();
        turn(&house, &lies);
        assert!(!house.worker.is_over(), "{}", json!(lies));
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

/// How often each answer came, by the number that the worker gave its question or call.
fn answers(socket: &mut UnixStream, wanted: usize) -> Vec<String> {
    let mut all = Vec::new();
    while all.len() < wanted {
        match hear(socket) {
            Some(ToWorker::Answer { id, .. }) => all.push(format!("answer {id}")),
            Some(ToWorker::NoAnswer { id, .. }) => all.push(format!("no answer {id}")),
            Some(ToWorker::Called { id, .. }) => all.push(format!("called {id}")),
            Some(ToWorker::ToolApprovalResponse { tool_id, approved }) => {
                all.push(format!("approval {tool_id} {approved}"));
            }
            Some(
                ToWorker::Init { .. }
                | ToWorker::Message { .. }
                | ToWorker::Interrupt {}
                | ToWorker::Shutdown {}
                | ToWorker::Piece { .. },
            ) => {}
            None => break,
        }
    }
    all.sort();
    all
}

#[test]
fn what_is_said_twice_out_of_order_or_of_a_call_that_is_settled_is_answered_once_each() {
    let home = tempfile::tempdir().unwrap();
    let (tell, told) = channel();
    let house = house(home.path(), move |mut socket| {
        hear(&mut socket);
        let call = json!({"action": "memory_list", "scope": "a"});
        let called = json!({"type": "call", "id": 7, "message": call});
        let input = json!({"scope": "a"});
        let again = json!({"type": "tool_approval_request", "toolId": "c", "toolName": "memory_list", "toolInput": input});
        // The same number for two calls and a question, a question beside a question, and a call that was never stopped.
        for message in [&called, &called, &ask(7), &ask(8), &again, &again] {
            say(&mut socket, message);
        }
        tell.send(answers(&mut socket, 5)).unwrap();
        tell.send(answers(&mut socket, 1)).unwrap();
        // The same call is settled: that it waits for a person is believed no more than before.
        for message in [&again, &result("s1"), &result("s1"), &called, &ask(9)] {
            say(&mut socket, message);
        }
        while hear(&mut socket).is_some_and(|it| it != ToWorker::Shutdown {}) {}
    });
    let door = house.model.shut();
    let seen = std::thread::scope(|scope| {
        let turn = scope.spawn(|| house.turn(&mut Vec::new()).unwrap());
        // The first question is not answered yet.
        let no = ["approval c false", "approval c false", "called 7", "called 7", "no answer 8"];
        assert_eq!(told.recv().unwrap(), no);
        drop(door);
        assert_eq!(told.recv().unwrap(), ["answer 7"]);
        turn.join().unwrap()
    });
    assert_eq!(seen.reply.content, "the true answer");
    assert_eq!((seen.reply.usage.input_tokens, seen.reply.usage.output_tokens), (7, 3));
    assert_eq!(seen.reply.tool_calls.len(), 2);
    house.worker.end().unwrap();
    Arc::into_inner(house.gate).unwrap().close().unwrap();
}
