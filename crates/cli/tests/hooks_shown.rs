//! What `lazaret status` says of the hooks of agents, and `lazaret init` of servers that it does not guard.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::doors::State;
use crate::program::{LAZARET, copied};

/// A copy of the program, with the one beside it that hosts start; here that does nothing.
fn program(state: &State) -> std::path::PathBuf {
    let program = state.dir.path().join("lazaret");
    fs::copy(LAZARET, &program).unwrap();
    fs::copy("/bin/true", state.dir.path().join("lazaret-hook")).unwrap();
    fs::create_dir_all(state.dir.path().join("user/.claude")).unwrap();
    program
}

fn by(state: &State, program: &Path, words: &[&str]) -> Command {
    let mut command = copied(program, state.path(), words);
    command.env("HOME", state.dir.path().join("user")).env_remove("XDG_CONFIG_HOME");
    command.env("USER", "ann").env("PATH", "/usr/bin:/bin");
    command
}

fn hooks(state: &State, program: &Path) -> Vec<Value> {
    let status = by(state, program, &["status", "--json"]).run().object();
    status["hooks"].as_array().unwrap().clone()
}

#[test]
fn status_says_whose_hooks_are_wired_and_when_each_called_last() {
    let state = State::new();
    let program = program(&state);
    assert_eq!(hooks(&state, &program), Vec::<Value>::new());
    by(&state, &program, &["init", "--agent", "claude", "--no-mcp", "--yes"]).run();
    let [claude] = &hooks(&state, &program)[..] else { panic!("one agent is wired") };
    let told = ["agent", "wired", "has_called", "last_called"].map(|it| claude[it].clone());
    assert_eq!(told, [json!("claude"), json!(true), json!(false), Value::Null]);
    assert!(by(&state, &program, &["status"]).run().out.contains("Claude Code: wired; it has not"));
    state.hook("SessionStart", json!({ "source": "startup" }));
    let claude = hooks(&state, &program).remove(0);
    assert!(claude["last_called"].as_i64().unwrap() > 0, "{claude}");
    assert!(by(&state, &program, &["status"]).run().out.contains("it called "));
    // Somebody takes it out.
    let settings = state.dir.path().join("user/.claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap().replace("PreToolUse", "PreToolOther");
    files::private::replace(&settings, text.as_bytes()).unwrap();
    let claude = hooks(&state, &program).remove(0);
    assert_eq!(claude["wired"], false);
    assert!(claude["why"].as_str().unwrap().contains("PreToolUse"), "{claude}");
}

#[test]
fn init_tells_of_servers_of_programs_that_it_does_not_wire() {
    let state = State::new();
    let program = program(&state);
    let folder = state.dir.path().join("user/.config/zed");
    fs::create_dir_all(&folder).unwrap();
    let servers = json!({ "context_servers": { "tickets": { "command": "npx", "args": ["t"] } } });
    files::private::replace(&folder.join("settings.json"), servers.to_string().as_bytes()).unwrap();
    let words = ["init", "--agent", "claude", "--dry-run"];
    let ran = by(&state, &program, &words).run();
    assert!(
        ran.err.contains("Zed reaches MCP servers that no gate guards: tickets"),
        "{}",
        ran.err
    );
    let told = by(&state, &program, &[&words[..], &["--json"]].concat()).run().object();
    assert_eq!(told["not_guarded"][0]["program"], "Zed");
    assert_eq!(told["not_guarded"][0]["servers"], json!(["tickets"]));
}
