//! The program of the daemon, or its settings, become others while calls are under way: none is lost, and none is an alarm.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use host::doors::client::{self, Connection};
use host::doors::mcp;
use serde_json::{Value, json};

use crate::doors::State;
use crate::program::LAZARET;

/// How long a daemon may take to see that it is another program's turn.
const GOES_WITHIN: Duration = Duration::from_secs(60);

/// A copy of the program, which can be replaced.
fn installed(state: &State) -> std::path::PathBuf {
    let at = state.dir.path().join("bin/lazaret");
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::hard_link(LAZARET, &at).or_else(|_| fs::copy(LAZARET, &at).map(drop)).unwrap();
    at
}

/// Puts the program there anew, as an upgrade does.
fn replace(at: &Path) {
    let new = at.with_extension("new");
    fs::copy(LAZARET, &new).unwrap();
    fs::rename(new, at).unwrap();
}

/// Starts the daemon of this program.
#[expect(clippy::disallowed_methods, reason = "the program itself is tested")]
fn start(program: &Path, state: &State) -> u64 {
    let mut command = std::process::Command::new(program);
    command.args(["daemon", "start", "--home"]).arg(state.path());
    assert!(command.status().unwrap().success());
    state.status()["pid"].as_u64().unwrap()
}

/// Waits until this daemon has gone.
fn gone(state: &State, pid: u64) {
    let until = Instant::now() + GOES_WITHIN;
    let is_there = || {
        let said = client::status(state.path()).ok().flatten();
        said.and_then(|it| it.get("pid")?.as_u64()) == Some(pid)
    };
    while is_there() {
        assert!(Instant::now() < until, "the daemon of the old program is still there");
        thread::sleep(Duration::from_millis(20));
    }
}

fn ask(connection: &mut Connection, question: &Value) -> Value {
    connection.say(question.to_string().as_bytes()).unwrap();
    connection.hear().unwrap()
}

#[test]
fn an_upgrade_waits_for_a_call_and_not_for_a_client() {
    let state = State::new();
    let program = installed(&state);
    let pid = start(&program, &state);
    let door = mcp::door(&mcp::new_name().unwrap(), false);
    let mut client = Connection::open(state.path(), &door, &[]).unwrap().unwrap();
    let tool = json!({ "name": "look", "description": "Looks.", "annotations": { "readOnlyHint": true }, "inputSchema": { "type": "object" } });
    ask(&mut client, &json!({ "op": "tools", "server": "s", "tools": [tool] }));
    let begin =
        json!({ "op": "begin", "server": "s", "kind": "tool", "name": "look", "arguments": {} });
    let begun = ask(&mut client, &begin);
    let ticket = begun["allowed"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    replace(&program);
    // It is seen within a second, and tried at once: the call under way keeps the daemon.
    thread::sleep(Duration::from_secs(2));
    let finish =
        json!({ "op": "finish", "ticket": ticket, "text": "Nine o'clock.", "failed": false });
    assert_eq!(ask(&mut client, &finish)["as_it_came"], true);
    // The client stays connected, and keeps it no longer.
    gone(&state, pid);
    assert_ne!(start(&program, &state), pid);
}

#[test]
fn a_result_that_comes_after_a_restart_is_no_alarm() {
    let state = State::new();
    let folder = state.work().display().to_string();
    assert_eq!(state.run(&["trust", &folder, "--by", "me"]).code, 0);
    state.hook("UserPromptSubmit", json!({ "prompt": "run the tests" }));
    assert_eq!(state.before("t1", "cargo test"), "");
    assert_eq!(state.before("t2", "cat /tmp/of-somebody"), "");
    assert_eq!(state.run(&["daemon", "restart"]).code, 0);
    assert_eq!(state.after("t1", "cargo test", "ok"), "");
    assert_eq!(state.after("t2", "cat /tmp/of-somebody", "text"), "");
    assert_eq!(
        (state.count("door_missed"), state.status()["hooks"]["missed"].as_u64()),
        (0, Some(0))
    );
    // Each once, and nothing that nobody asked for.
    state.after("t1", "cargo test", "ok");
    state.after("t9", "ls", "a b");
    assert_eq!(state.count("door_missed"), 2);
    assert_eq!(state.run(&["evidence", "verify"]).code, 0);
}
