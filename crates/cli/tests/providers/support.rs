//! What the tests share: a state directory, the program, and an agent that speaks with it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use assert_cmd::Command;
use serde_json::Value;
use testkit::frames;

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

fn run_with(home: &Path, args: &[&str], stdin: Vec<u8>) -> (i32, Vec<u8>, String) {
    let mut command = Command::cargo_bin("lazaret").unwrap();
    let command = command.env("LAZARET_HOME", home).env("USER", "me").args(args);
    let output = command.write_stdin(stdin).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), output.stdout, stderr)
}

pub(crate) fn run(home: &Path, args: &[&str]) -> (i32, String, String) {
    let (code, stdout, stderr) = run_with(home, args, Vec::new());
    (code, String::from_utf8(stdout).unwrap(), stderr)
}

pub(crate) fn good(home: &Path, args: &[&str]) -> Vec<Value> {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let (code, stdout, stderr) = run(home, &args);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// What an agent is answered to these messages.
pub(crate) fn agent(home: &Path, session: &str, messages: &[Value]) -> Vec<Value> {
    let mut input = Vec::new();
    for message in messages {
        input.extend(frames::frame(message.to_string().as_bytes()));
    }
    let args = ["ipc", "--user", "me", "--agent", "main", "--session", session, "--stdio"];
    let (code, stdout, stderr) = run_with(home, &args, input);
    assert_eq!(code, 0, "{stderr}");
    frames::answers(&stdout)
}

pub(crate) fn kinds(home: &Path) -> Vec<String> {
    let (code, stdout, _) = run(home, &["evidence", "query", "--json"]);
    assert_eq!(code, 0);
    let lines = stdout.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    lines.map(|it| it["record"]["meta"]["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

/// `lazaret ipc` that runs until it is told to end.
pub(crate) struct Gate(Child);

impl Gate {
    #[expect(clippy::disallowed_methods, reason = "the program under test, in the background")]
    pub(crate) fn start(home: &Path) -> Self {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_lazaret"))
            .env("LAZARET_HOME", home)
            .args(["ipc", "--user", "me", "--agent", "main", "--session", "s"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening on "), "{line}");
        Self(child)
    }

    pub(crate) fn end(mut self) {
        let id = self.0.id().to_string();
        Command::new("kill").args(["-TERM", &id]).assert().success();
        assert_eq!(self.0.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // A test that failed leaves none behind; one that ended is gone.
        let _ = self.0.kill();
    }
}
