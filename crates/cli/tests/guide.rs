//! The guide to one way out: its commands do what it says, and its rule sets are what they seem.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::program::lazaret;

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/egress-proxy.md");
    fs::read_to_string(path).unwrap()
}

/// The blocks of one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in text.split("```").skip(1).step_by(2) {
        if let Some(rest) = block.strip_prefix(language).and_then(|it| it.strip_prefix('\n')) {
            found.push(rest.to_owned());
        }
    }
    found
}

/// Commands with the exit codes that they are said to end with; none for any.
fn commands() -> Vec<(Vec<String>, Option<i32>)> {
    let mut found: Vec<(Vec<String>, Option<i32>)> = Vec::new();
    for line in blocks(&guide(), "console").iter().flat_map(|it| it.lines()) {
        if let Some(command) = line.strip_prefix("$ lazaret ") {
            found.push((command.split_whitespace().map(str::to_owned).collect(), Some(0)));
        } else if let Some(code) = line.strip_prefix("# exit ") {
            found.last_mut().unwrap().1 = code.parse().ok();
        } else {
            panic!("neither a command nor its exit code: {line}");
        }
    }
    found
}

#[test]
fn every_command_of_the_guide_ends_as_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let commands = commands();
    assert!(commands.len() >= 5, "{commands:?}");
    for (words, code) in commands.iter().filter(|it| it.0[0] != "proxy") {
        let output = lazaret(dir.path().join("home"), &[]).args(words).output().unwrap();
        let ended = output.status.code();
        assert!(code.is_none() || ended == *code, "{words:?}: {ended:?} and not {code:?}");
        assert!(ended.is_some_and(|it| it < 2), "{words:?}: {output:?}");
    }
}

#[test]
fn the_proxy_of_the_guide_starts_and_says_how_it_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let commands = commands();
    let (words, _) = commands.iter().find(|it| it.0[0] == "proxy").unwrap();
    let mut proxy = lazaret(dir.path().join("home"), &[]);
    let mut proxy = proxy.args(words).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(proxy.stdout.take().unwrap()).lines();
    let said: Vec<String> = lines.by_ref().take(2).map(Result::unwrap).collect();
    let id = Pid::from_raw(i32::try_from(proxy.id()).unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    assert!(proxy.wait().unwrap().success());
    assert!(said[1].contains("export HTTPS_PROXY=http://skill:"), "{said:?}");
}

#[test]
fn the_rule_sets_refuse_at_their_end() {
    let guide = guide();
    let nft = blocks(&guide, "nft").concat();
    assert_eq!(nft.matches('{').count(), nft.matches('}').count());
    let rules: Vec<&str> = nft.lines().map(str::trim).filter(|it| it.starts_with("meta")).collect();
    assert!(rules.last().unwrap().ends_with("reject"), "{rules:?}");
    assert!(rules.iter().all(|it| it.contains("skuid \"agent\"")), "nobody else is cut off");
}

/// The guide says that a relay is needed, because nothing but loopback is taken.
#[test]
fn the_proxy_listens_on_loopback_alone() {
    let dir = tempfile::tempdir().unwrap();
    let relay = blocks(&guide(), "sh").concat();
    let inner = relay.split_once("bind=").and_then(|it| it.1.split_once(',')).unwrap().0;
    assert!(relay.trim_end().ends_with("TCP:127.0.0.1:7718"), "where the proxy is: {relay}");
    for address in [inner, "0.0.0.0", "[::]"] {
        let listen = ["proxy", "--agent", "skill", "--listen", &format!("{address}:7718")];
        let ended = lazaret(dir.path().join("home"), &listen).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{address}: {ended:?}");
    }
}
