//! What the tests share: a state directory, the program, and an agent that speaks with it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::frames;
use testkit::program::Run as _;

use crate::program;

pub(crate) fn put(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A home with one user, one agent and these settings.
pub(crate) fn home(settings: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let hash = "a".repeat(64);
    let users = format!(
        "users:\n  - name: me\n    token_hash: \"{hash}\"\n    agents: \"*\"\n    budget: unlimited\n"
    );
    put(home.path(), "config.yaml", settings);
    put(home.path(), "users.yaml", &users);
    put(home.path(), "agents/main/IDENTITY.md", "# Main\n");
    home
}

fn lazaret(home: &Path, args: &[&str]) -> Command {
    let mut command = program::lazaret(home, args);
    command.env("USER", "me");
    command
}

pub(crate) fn run(home: &Path, args: &[&str]) -> (i32, String, String) {
    lazaret(home, args).run().told()
}

pub(crate) fn good(home: &Path, args: &[&str]) -> Vec<Value> {
    lazaret(home, args).arg("--json").run().good().objects()
}

/// What an agent is answered to these messages.
pub(crate) fn agent(home: &Path, session: &str, messages: &[Value]) -> Vec<Value> {
    let mut input = Vec::new();
    for message in messages {
        input.extend(frames::frame(message.to_string().as_bytes()));
    }
    let args = ["ipc", "--user", "me", "--agent", "main", "--session", session, "--stdio"];
    frames::answers(&lazaret(home, &args).run_bytes(input).good().out)
}

pub(crate) fn kinds(home: &Path) -> Vec<String> {
    let lines = good(home, &["evidence", "query"]);
    let kind = |it: &Value| it["record"]["meta"]["kind"].as_str().unwrap_or_default().to_owned();
    lines.iter().map(kind).collect()
}
