//! `lazaret verify` and `lazaret status`: what is wired, what is not, and what only looks as if it were.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "test helpers and files of the test's own"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::program::{Ran, Run as _};

use crate::program::LAZARET;

/// A person's machine: programs, a home with Claude Code in it, and a state directory whose daemon ends with it.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { dir: tempfile::tempdir().unwrap() };
        for folder in ["bin", "home/.claude"] {
            fs::create_dir_all(machine.at(folder)).unwrap();
        }
        // By another process: what this one has open to write while it starts others cannot be run.
        let programs = ["lazaret", "lazaret-hook"].map(|it| Path::new(LAZARET).with_file_name(it));
        assert!(
            Command::new("cp").args(programs).arg(machine.at("bin")).status().unwrap().success()
        );
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        files::resolved(self.dir.path()).unwrap().join(path)
    }

    fn run(&self, words: &[&str]) -> Ran<String> {
        self.run_in(&self.at("home"), words)
    }

    fn run_in(&self, folder: &Path, words: &[&str]) -> Ran<String> {
        let mut command = Command::new(self.at("bin/lazaret"));
        command
            .current_dir(folder)
            .args(words)
            .env("HOME", self.at("home"))
            .env("LAZARET_HOME", self.at("state"));
        command.env_remove("CLAUDE_CONFIG_DIR").env_remove("XDG_CONFIG_HOME");
        command.run()
    }

    fn init(&self) {
        self.run(&["init", "--agent", "claude", "--yes", "--by", "me"]).good();
    }

    fn verify(&self) -> Value {
        self.run(&["verify", "--agent", "claude", "--json"]).objects().remove(0)
    }

    fn servers(&self, servers: &Value) {
        let config = json!({ "mcpServers": servers }).to_string();
        fs::write(self.at("home/.claude.json"), config).unwrap();
    }

    /// Claude Code calls its hook.
    fn calls(&self) {
        let input = json!({
            "session_id": "s1", "cwd": self.at("home"), "hook_event_name": "UserPromptSubmit",
            "prompt": "hello",
        });
        crate::doors::hook(&self.at("state"), "claude", "UserPromptSubmit", &input);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.run(&["daemon", "stop"]);
    }
}

fn named(row: &Value) -> Vec<(String, String)> {
    let all = row.get("past_gateway").and_then(Value::as_array).unwrap();
    let text = |it: &Value, name: &str| it.get(name).and_then(Value::as_str).unwrap().to_owned();
    all.iter().map(|it| (text(it, "server"), text(it, "why"))).collect()
}

#[test]
fn a_server_that_was_added_later_and_a_gateway_that_is_gone_are_named() {
    let machine = Machine::new();
    machine.servers(&json!({ "notes": { "command": "srv", "args": [] } }));
    machine.init();
    assert_eq!(named(&machine.verify()), []);
    let text = fs::read_to_string(machine.at("home/.claude.json")).unwrap();
    let config: Value = serde_json::from_str(&text).unwrap();
    let notes = config.pointer("/mcpServers/notes").unwrap().clone();
    let mut gone = notes.clone();
    gone.as_object_mut().unwrap().insert("command".to_owned(), json!("/gone/lazaret"));
    machine.servers(&json!({
        "notes": notes, "gone": gone, "later": { "command": "srv" },
        "old": { "type": "sse", "url": "https://e.example/" },
        "off": { "command": "srv", "disabled": true },
    }));
    let found = named(&machine.verify());
    let names: Vec<&str> = found.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, ["gone", "later", "old"]);
    assert!(found[0].1.contains("`/gone/lazaret` is not there"), "{found:?}");
    assert!(found[1].1.ends_with("next step: `lazaret init`"), "{found:?}");
    assert!(found[2].1.contains("the transport `sse`"), "{found:?}");
    for command in [["verify", "--agent=claude"].as_slice(), &["status"]] {
        let said = machine.run(command).good().out;
        assert!(said.contains("`later`") && !said.contains("`notes`"), "{said}");
    }
}

#[test]
fn a_server_that_a_project_brings_is_named_to_whoever_stands_in_it() {
    let machine = Machine::new();
    machine.init();
    let project = machine.at("project");
    fs::create_dir_all(&project).unwrap();
    let config = json!({ "mcpServers": { "brought": { "command": "./srv" } } }).to_string();
    fs::write(project.join(".mcp.json"), config).unwrap();
    assert_eq!(named(&machine.verify()), []);
    for command in [["verify", "--agent=claude"].as_slice(), &["status"]] {
        let said = machine.run_in(&project, command).good().out;
        assert!(said.contains("`brought`") && said.contains("init --project ."), "{said}");
    }
    machine.run_in(&project, &["init", "--project", ".", "--yes", "--by", "me"]).good();
    let said = machine.run_in(&project, &["verify", "--agent=claude"]).good().out;
    assert!(!said.contains("`brought`"), "{said}");
    // Our own proof that calls are denied is no alarm.
    let told = machine.run(&["notifications"]).good();
    assert!(!told.out.contains("shell-erase-root"), "{}", told.out);
    let hook = ["evidence", "query", "--session", "claude:lazaret-verify", "--json"];
    assert!(machine.run(&hook).good().out.contains("shell-erase-root"), "it is on record");
}

#[test]
fn a_proxy_beside_agents_that_are_wired_leaves_them_the_gate_and_says_when_it_is_lost() {
    let machine = Machine::new();
    machine.init();
    machine.run(&["daemon", "stop"]).good();
    let mut proxy = Command::new(machine.at("bin/lazaret"));
    proxy.args(["proxy", "--agent", "tools", "--listen", "127.0.0.1:0", "--json"]);
    proxy.env("HOME", machine.at("home")).env("LAZARET_HOME", machine.at("state"));
    let (mut child, line) = proxy.start_and_hear();
    assert!(line.contains("proxy"), "{line}");
    assert_eq!(machine.verify()["state"], "adapter only", "hooks are answered meanwhile");
    machine.run(&["daemon", "stop"]).good();
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn an_agent_is_verified_by_what_it_called_since_its_hook_was_changed() {
    let machine = Machine::new();
    machine.init();
    assert_eq!(machine.verify()["state"], "adapter only", "nobody but us has called");
    machine.calls();
    let row = machine.verify();
    assert_eq!(row["state"], "verified", "{row}");
    assert!(row["why"].as_str().unwrap().ends_with("ago"), "{row}");
    machine.run(&["daemon", "stop"]).good();
    assert_eq!(machine.verify()["state"], "verified", "also when the daemon has ended");
    let later = std::time::SystemTime::now() + Duration::from_secs(60);
    let settings = fs::File::options().append(true).open(machine.at("home/.claude/settings.json"));
    settings.unwrap().set_modified(later).unwrap();
    let row = machine.verify();
    assert_eq!(row["state"], "adapter only", "{row}");
    assert!(row["last_called"].is_i64(), "{row}");
}

#[test]
fn a_hook_that_hangs_is_not_verified_and_nobody_waits_for_it() {
    let machine = Machine::new();
    machine.init();
    let hook = machine.at("bin/lazaret-hook");
    fs::remove_file(&hook).unwrap();
    let hanging = "printf '#!/bin/sh\\nsleep 300\\n' >\"$0\" && chmod 755 \"$0\"";
    assert!(Command::new("sh").args(["-c", hanging]).arg(&hook).status().unwrap().success());
    let begun = Instant::now();
    let row = machine.verify();
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(row["state"], "not verified");
    assert!(row["why"].as_str().unwrap().contains("did not answer within"), "{row}");
}
