//! The host's own actions, seen like any other tool. What they do, and which fields decide where to, stands in the table of
//! [`model::ipc`].

use std::sync::{Arc, LazyLock};

use model::ipc::{Action, ActionName};
use model::{Call, CallError, Flow, ToolCall, ToolName};
use serde_json::Value;

use crate::provenance::Act;

/// What is known of one action.
struct Known {
    flow: Arc<Flow>,
    act: Act,
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let known = |name: &ActionName| {
        let act = Act::named(name.as_str()).showing(name.shows());
        Known { flow: Arc::new(name.flow()), act }
    };
    ActionName::ALL.iter().map(known).collect()
});

/// The action as a call of a tool.
pub(crate) fn as_call(action: &Action) -> Result<ToolCall, CallError> {
    let Value::Object(mut fields) = action.to_value() else { return Err(CallError::NoObject) };
    // The name is no argument.
    fields.remove("action");
    // They were read from a message, strictly.
    let call = Call::of(ToolName::parse(action.name().as_str())?, fields);
    let known = KNOWN.get(action.name() as usize);
    let flow = known.map_or_else(|| Arc::new(Flow::unknown()), |it| Arc::clone(&it.flow));
    Ok(ToolCall { call, flow })
}

/// What the action does, in the words of intent.
pub(crate) fn act(name: ActionName) -> Act {
    KNOWN.get(name as usize).map_or_else(Act::default, |it| it.act.clone())
}
