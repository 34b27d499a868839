//! What real coding agents said to the hook, said again: the gate answers as it did when they were there.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::Value;
use testkit::program::Run as _;

use crate::program::{LAZARET, lazaret};

/// Cases that need more than what was said: a vault, a person's yes, a server, a daemon that is killed.
const NEED_MORE: &[&str] =
    &["rewritten", "asked-approved", "daemon", "server", "hook-missing", "init", "uninstall"];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/transcripts")
}

/// What an answer decides, whatever its words are.
fn decision(stdout: &str) -> &'static str {
    let decides = |word: &str| stdout.contains(&format!("\"{word}\""));
    match () {
        () if decides("ask") => "ask",
        () if decides("deny") || decides("block") => "deny",
        () => "pass",
    }
}

#[expect(clippy::disallowed_methods, reason = "tests start the program that they test")]
fn hook(home: &Path, exchange: &Value, input: String) -> String {
    let word = |name: &str| exchange[name].as_str().unwrap().to_owned();
    let hook = Path::new(LAZARET).with_file_name("lazaret-hook");
    let mut command = std::process::Command::new(hook);
    command.args([word("host"), word("event")]).env("LAZARET_HOME", home);
    command.env("HOME", home.with_file_name("home"));
    command.run_with(input).out
}

/// Says a transcript again; gives where it was answered otherwise.
fn again(path: &Path, is_trusted: bool) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let root = files::resolved(dir.path()).unwrap();
    let (home, work) = (root.join("state"), root.join("work"));
    fs::create_dir(&work).unwrap();
    if is_trusted {
        let folder = work.display().to_string();
        assert_eq!(lazaret(&home, &["trust", &folder, "--by", "me"]).run().code, 0);
    }
    let mut wrong = Vec::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let exchange: Value = serde_json::from_str(line).unwrap();
        let place = root.display().to_string();
        let input = exchange["input"].to_string().replace("/case/", &format!("{place}/"));
        let said = hook(&home, &exchange, input);
        let before = exchange["stdout"].as_str().unwrap();
        if decision(&said) != decision(before) {
            wrong.push(format!(
                "{}: {}: was {before}, is {said}",
                path.display(),
                exchange["event"]
            ));
        }
    }
    lazaret(&home, &["daemon", "stop"]).run();
    wrong
}

/// All cases of one agent; gives how many, and what was answered otherwise.
fn of_host(host: &str, setup: &Value) -> (usize, Vec<String>) {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for file in fs::read_dir(corpus().join(host)).unwrap() {
        let path = file.unwrap().path();
        let case = path.file_stem().unwrap().to_string_lossy().into_owned();
        if NEED_MORE.iter().any(|it| case.starts_with(it)) {
            continue;
        }
        wrong.extend(again(&path, setup[&case]["trusted"] == true));
        seen += 1;
    }
    (seen, wrong)
}

#[test]
fn real_agents_are_answered_as_they_were() {
    let setup: Value =
        serde_json::from_str(&fs::read_to_string(corpus().join("setup.json")).unwrap()).unwrap();
    let hosts = ["claude", "codex", "gemini", "copilot", "opencode"];
    // Sessions of different agents know nothing of each other; most of the time is spent waiting for the disk.
    let found: Vec<(usize, Vec<String>)> = thread::scope(|scope| {
        let one = |host| {
            let setup = &setup;
            scope.spawn(move || of_host(host, setup))
        };
        let running: Vec<_> = hosts.into_iter().map(one).collect();
        running.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let seen: usize = found.iter().map(|it| it.0).sum();
    let wrong: Vec<String> = found.into_iter().flat_map(|it| it.1).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 40, "{seen}");
}
