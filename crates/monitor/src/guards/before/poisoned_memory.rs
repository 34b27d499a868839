//! Objects to remembering a text that gives orders, or that loads something from elsewhere, once others had their say.
//!
//! Threat: what outside content says today is obeyed tomorrow, as if the user had said it.

use std::borrow::Cow;

use model::ipc::Action;
use model::{Decision, Effect, Objection, Reach, ToolCall};
use scan::text::{Author, Verdict};
use serde_json::Value;

use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;
use crate::taint;

pub(crate) struct PoisonedMemory;

impl Guard<Proposed> for PoisonedMemory {
    fn id(&self) -> Rule {
        Rule::PoisonedMemory
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        if !taint::is_outside(proposed.taint()) {
            return Vec::new();
        }
        let Some(text) = remembered(&proposed.understood().effect) else { return Vec::new() };
        let orders = scan::text::read(&text, Author::Outsider).verdict() == Verdict::Injection;
        let loads = scan::exfiltration::leaving(&text).iter().any(|it| it.kind.loads());
        let what = match (orders, loads) {
            (true, _) => "gives orders to whoever reads it",
            (false, true) => "loads something from elsewhere when it is shown",
            (false, false) => return Vec::new(),
        };
        let why = format!("what is to be remembered {what}, and others wrote in this session");
        vec![
            Objection::new(self.id(), Decision::StepUp, "poisoned_memory", why)
                .with_remedy("let the person approve exactly this entry"),
        ]
    }
}

/// What a call would have remembered, if it is one that remembers something.
fn remembered(effect: &Effect) -> Option<Cow<'_, str>> {
    match effect {
        // A note of a session is read by that session alone, which stays as tainted as it is.
        Effect::Action(action) => {
            if let Action::MemoryWrite(write) = &**action {
                Some(write.content.as_str().into())
            } else if let Action::TaskAdd(task) = &**action {
                Some(task.text.as_str().into())
            } else {
                None
            }
        }
        Effect::Tool(call) if remembers(call) => {
            let mut all = String::new();
            call.call.args().values().for_each(|it| gather(it, DEPTH_MAX, &mut all));
            Some(all.into())
        }
        Effect::Tool(_) | Effect::Message(_) | Effect::Host(_) => None,
    }
}

/// Texts inside of lists and objects are followed so deep.
const DEPTH_MAX: usize = 32;
/// Words in the name of a server or a tool that keeps something for later sessions.
const MEMORY: &[&str] = &["memory", "memories", "remember", "memorize", "memorise", "mem0"];

/// Is it a tool of a memory that does more than look?
fn remembers(call: &ToolCall) -> bool {
    let name = call.call.tool().as_str();
    let mut words = name.split(|it: char| !it.is_ascii_alphanumeric());
    // `storeMemory`, too.
    let ends = |word: &str| MEMORY.iter().any(|it| word.to_ascii_lowercase().ends_with(it));
    call.flow.reach != Reach::Read && words.any(ends)
}

fn gather(value: &Value, depth: usize, all: &mut String) {
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(items) if depth > 0 => items.iter().for_each(|it| gather(it, depth - 1, all)),
        Value::Object(fields) if depth > 0 => {
            fields.values().for_each(|it| gather(it, depth - 1, all));
        }
        Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
