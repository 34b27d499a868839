//! Calls of a worker: each goes through the door in a thread of its own, and is answered when it was.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use agent::{Fate, Outcome, PARALLEL_CALLS_MAX, ToWorker, ToolEvent};
use model::Decision;
use model::ipc::{ActionName, Uuid};
use serde_json::{Value, json};

use super::CALLS_PER_TURN_MAX;
use super::questions::digest;
use super::shared::Shared;
use super::start::Inner;

/// Carries out a message of the worker, beside others.
pub(super) fn call(worker: &Arc<Inner>, shared: &Arc<Shared>, id: u64, message: Value) {
    let message = agent::tools::settled(message, |it| worker.door().has_tool(it));
    let refuse = |why: &str| {
        let answer = json!({ "ok": false, "error": why });
        // A worker that does not listen is closed; the turn notices.
        let _ = worker.link.say(&ToWorker::Called { id, answer });
    };
    // A worker that was told to end need not listen.
    if shared.is_over() {
        return refuse("the turn is over");
    }
    let action = message.get("action").and_then(Value::as_str);
    if action.and_then(ActionName::parse) == Some(ActionName::LlmCall) {
        return refuse("models are asked by the loop itself");
    }
    if !shared.may_call(CALLS_PER_TURN_MAX) {
        return refuse("this turn has called as many tools as one may");
    }
    // One place is for the model.
    let Some(at_work) = shared.work(PARALLEL_CALLS_MAX + 1) else {
        return refuse("too many calls at once");
    };
    let (its, of_turn) = (Arc::clone(worker), Arc::clone(shared));
    let carried = thread::Builder::new().name("call".to_owned()).spawn(move || {
        let answer = answer(&its, &of_turn, &message);
        let _ = its.link.say(&ToWorker::Called { id, answer });
        // If the worker has ended meanwhile, nobody is left to hear that its session could not be ended in order.
        let _ = its.let_go();
        drop(at_work);
    });
    if carried.is_err() {
        refuse("the system has no thread left");
    }
}

fn answer(worker: &Inner, shared: &Shared, message: &Value) -> Value {
    let bytes = message.to_string();
    let name = message.get("action").and_then(Value::as_str).unwrap_or("?");
    let own = || ActionName::parse(name).map_or("?", ActionName::as_str);
    let name = if worker.door().has_tool(name) { name } else { own() };
    worker.watched.tool(&worker.who, name, ToolEvent::Called);
    let begun = Instant::now();
    let (mut answer, remedy) = match agent::tools::server_call(message) {
        Some((tool, args)) => worker.door().call_tool(&worker.who, &tool, args),
        None => {
            let answered = worker.door().answer_and_remedy(&worker.who, bytes.as_bytes());
            (answered.0.to_value(), answered.1)
        }
    };
    help(&mut answer, remedy, message);
    let mut turn = shared.of_turn();
    let said = |key: &str| answer.get(key).and_then(Value::as_str);
    if let Some(call) = digest(bytes.as_bytes()) {
        let lifts = said("decision") == Some(Decision::StepUp.as_str())
            || answer.get("taintBlocked").is_some();
        match lifts {
            true => {
                shared.is_asked();
                turn.open.insert(call)
            }
            false => turn.open.remove(&call),
        };
        if let Some(id) = said("approval").and_then(Uuid::parse) {
            turn.stopped.insert(call, id);
        }
    }
    let fate = Outcome::of(&answer).fate;
    let rule = said("rule").unwrap_or("taint-budget");
    if fate == Fate::Denied {
        turn.denied.push(format!("{name}: {rule}"));
    }
    turn.calls.push((name.to_owned(), fate.as_str().to_owned()));
    drop(turn);
    let decision = said("decision").unwrap_or(Decision::Deny.as_str());
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let event = match fate {
        Fate::Denied => ToolEvent::Denied { decision, rule },
        Fate::Ran | Fate::Failed => ToolEvent::Completed { well: fate == Fate::Ran, ms },
    };
    worker.watched.tool(&worker.who, name, event);
    if let Some(log) = &worker.tool_log {
        log.note(&worker.who, name, fate.as_str());
    }
    answer
}

/// Adds what would help: what the one who objects says, and a safer form of a command. Nobody but the model is told.
fn help(answer: &mut Value, remedy: Option<String>, message: &Value) {
    let Value::Object(fields) = answer else { return };
    if fields.get("ok") == Some(&Value::Bool(true)) {
        return;
    }
    if let Some(remedy) = remedy {
        fields.insert("remedy".to_owned(), remedy.into());
    }
    let command = message.get("command").and_then(Value::as_str);
    let is_command = message.get("action").and_then(Value::as_str) == Some("shell_exec");
    if let Some(fix) = command.filter(|_| is_command).and_then(|it| shell::read(it).fix) {
        let fix = json!({ "alternative": fix.alternative, "reason": fix.reason });
        fields.insert("fix".to_owned(), fix);
    }
}
