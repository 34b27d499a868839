//! Programs of the person at the machine, beside agents of our own: making an agent shuts no door on them.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;

use serde_json::json;
use testkit::program::Run as _;

use crate::doors::State;
use crate::mcp::{Client, server_file};
use crate::program::lazaret;

/// A state directory in which a person has made an agent of their own.
fn with_an_agent() -> State {
    let state = State::new();
    state.run(&["agents", "create", "helper"]).good();
    state
}

fn put(state: &State, name: &str, text: &str) {
    files::private::replace(&state.path().join(name), text.as_bytes()).unwrap();
}

fn users(state: &State, entry: &str) {
    put(state, "users.yaml", &format!("users:\n  - {entry}\n"));
}

#[test]
fn hooks_and_clients_of_servers_go_on_as_before() {
    let state = with_an_agent();
    assert_eq!(state.hook("UserPromptSubmit", json!({ "prompt": "fix the tests" })), "");
    assert_eq!(state.before("t1", "cargo test"), "");
    assert_eq!(state.after("t1", "cargo test", "ok"), "");
    assert!(state.before("t2", "rm -rf --no-preserve-root /").contains("\"deny\""));
    let codex = json!({
        "session_id": "s", "turn_id": "t", "cwd": state.work(), "hook_event_name": "PreToolUse",
        "model": "m", "permission_mode": "default", "transcript_path": null,
        "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "x",
    });
    assert_eq!(state.hook_of("codex", "PreToolUse", &codex).trim().trim_matches(['{', '}']), "");
    let server = server_file("server.py");
    let words = ["mcp", "--name", "notes", "--no-cage", "--", "python3", "-B", server.as_str()];
    let mut client = Client::of(state.path(), &words);
    client.tools();
    let said = client.call("look", json!({ "name": "plain" }));
    assert_eq!(said, (false, "The meeting is at nine.".to_owned()));
    client.end();
}

#[test]
fn the_list_of_agents_is_of_those_that_the_host_runs_and_denied_tools_stay_denied() {
    let state = with_an_agent();
    users(&state, "{name: me, agents: [helper], budget: unlimited, tools_deny: [WebFetch]}");
    assert_eq!(state.before("t1", "cargo test"), "");
    let fetch = json!({
        "tool_name": "WebFetch", "tool_use_id": "w",
        "tool_input": { "url": "https://a.example/", "prompt": "p" },
    });
    let said = state.hook("PreToolUse", fetch);
    assert!(said.contains("\"deny\"") && said.contains("denied to the user"), "{said}");
}

#[test]
fn who_is_not_named_has_no_session_and_what_is_not_understood_is_nothing() {
    let state = with_an_agent();
    users(&state, "{name: ann, agents: \"*\", budget: unlimited}");
    let said = state.before("t1", "cargo test");
    assert!(said.contains("\"deny\"") && said.contains("no user `me`"), "{said}");
    put(&state, "users.yaml", "users: nobody\n");
    assert!(state.before("t2", "cargo test").contains("\"deny\""));
}

#[test]
fn a_name_of_an_agent_of_the_host_is_not_had_without_its_manifest() {
    let state = with_an_agent();
    let proxy = |agent| ["proxy", "--agent", agent, "--listen", "127.0.0.1:0", "--json"];
    let (mut child, line) = lazaret(state.path(), &proxy("tools")).start_and_hear();
    testkit::program::end(&mut child);
    assert!(line.contains("proxy"), "a program of the person's: {line}");
    put(&state, "agents/helper/IDENTITY.md", "---\naccess: private\n---\nPrivate.\n");
    state.run(&proxy("helper")).fails(1, &["may not use the agent `helper`"]);
    // A folder without its file is an agent whose file is lost, and no program.
    fs::create_dir_all(state.path().join("agents/claude")).unwrap();
    let said = state.before("t1", "cargo test");
    assert!(said.contains("\"deny\"") && said.contains("is missing"), "{said}");
}

#[test]
fn a_program_in_a_cage_has_its_way_out() {
    let place = crate::exec::Place::new();
    let made = place.state(&["agents", "create", "helper"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let (code, out, err) = place.run(&["--network", "--", "sh", "-c", "echo ran"]);
    assert_eq!((code, out.as_str()), (0, "ran\n"), "{err}");
}
