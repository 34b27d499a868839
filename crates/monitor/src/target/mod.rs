//! What a call touches that rules single out: secret files, memory files, the control plane, hosts that
//! serve to carry data off.
//!
//! Judged from the text of the arguments alone. Whether a path is a link, or where a name resolves to,
//! is looked at where the effect happens.

mod files;
mod hosts;

use model::{Effect, Role, ToolCall};
use policy::Targets;
use serde_json::Value;

use crate::actions;

pub use files::class_of_path;
pub use hosts::class_of_host;

/// The longest text that is looked at as a path or an address. A longer one is content.
const ADDRESS_BYTES_MAX: usize = 4096;

/// Everything of note that the effect touches.
#[must_use]
pub fn of(effect: &Effect) -> Targets {
    match effect {
        Effect::Tool(tool) => of_tool(tool),
        Effect::Action(action) => {
            let mut found = Targets::NONE;
            let message = action.to_value();
            for (field, value) in message.as_object().into_iter().flatten() {
                // What is only said touches nothing.
                if !actions::is_only_said(action.name(), field) {
                    visit(value, &mut |text| found = found.union(class_of(text)));
                }
            }
            found
        }
    }
}

fn of_tool(tool: &ToolCall) -> Targets {
    let mut found = Targets::NONE;
    for (param, value) in tool.call.args() {
        // What is only said touches nothing, and saying `.env` is no crime.
        if tool.flow.roles.get(param) == Some(&Role::Content) {
            continue;
        }
        visit(value, &mut |text| found = found.union(class_of(text)));
    }
    found
}

/// A text may be a path, an address, or a command with several of either.
fn class_of(text: &str) -> Targets {
    if text.len() > ADDRESS_BYTES_MAX {
        return Targets::NONE;
    }
    let whole = class_of_path(text).union(class_of_host(text));
    if !text.contains(char::is_whitespace) {
        return whole;
    }
    let separators = |it: char| it.is_whitespace() || "'\"`()<>|;&,=".contains(it);
    text.split(separators)
        .filter(|it| !it.is_empty())
        .fold(whole, |sum, word| sum.union(class_of_path(word)).union(class_of_host(word)))
}

fn visit(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => see(text),
        Value::Array(items) => items.iter().for_each(|it| visit(it, see)),
        Value::Object(fields) => fields.values().for_each(|it| visit(it, see)),
    }
}
