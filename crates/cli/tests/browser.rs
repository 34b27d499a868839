//! `lazaret ipc` with a browser, as an agent sees it, up to the moment in which the host is killed.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::program::Run as _;

use crate::gate::Session;
use crate::program::lazaret;

const WORDS: &[&str] = &["ipc", "--user", "me", "--agent", "main", "--session", "s", "--stdio"];

fn put(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A home with one user, one agent with this manifest, and these settings.
fn home(settings: &str, manifest: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let hash = "a".repeat(64);
    let users = format!(
        "users:\n  - name: me\n    token_hash: \"{hash}\"\n    agents: \"*\"\n    budget: unlimited\n"
    );
    put(home.path(), "config.yaml", settings);
    put(home.path(), "users.yaml", &users);
    put(home.path(), "agents/main/IDENTITY.md", manifest);
    home
}

/// Processes that descend from this one, by their command lines.
fn browsers_of(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|it| it.parse::<u32>().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let above = stat.rsplit_once(") ").and_then(|(_, it)| it.split(' ').nth(1)?.parse().ok());
        if above == Some(parent) {
            found.push(id);
        }
    }
    found
}

fn profile_of(browser: u32) -> String {
    let line = fs::read(format!("/proc/{browser}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).into_owned();
    let flag = line.split(['\0', ' ']).find_map(|it| it.strip_prefix("--user-data-dir="));
    flag.unwrap().to_owned()
}

fn users_of(profile: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten().filter(|it| {
        let line = fs::read(it.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(profile)
    });
    all.count()
}

#[test]
fn an_agent_drives_a_browser_that_dies_with_its_host() {
    let settings = "providers:\n  browser: container\nbrowser:\n  perSession: 1\n";
    let manifest = "---\nsandbox:\n  allowedDomains: [allowed.example]\n---\n# Main\n";
    let home = home(settings, manifest);
    let mut agent = Session::start(&mut lazaret(home.path(), WORDS));
    let launched = agent.ask(json!({ "action": "browser_launch" }));
    assert_eq!(launched["ok"], true, "{launched}");
    assert_eq!(launched["confinement"]["pagesFiltered"], true, "{launched}");
    let session = &launched["session"];

    for (url, rule) in [
        ("http://127.0.0.1:7/", "net-deny-private"),
        ("http://[::ffff:a9fe:a9fe]/latest/", "net-deny-private"),
        ("https://elsewhere.example/", "net-deny-unlisted"),
        ("file:///etc/passwd", ""),
        ("chrome://settings", ""),
        ("view-source:https://allowed.example/", ""),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
    ] {
        let asked = json!({ "action": "browser_navigate", "session": session, "url": url });
        let answer = agent.ask(asked);
        assert_eq!(answer["ok"], false, "{url}: {answer}");
        assert_eq!(answer["rule"].as_str().unwrap_or_default(), rule, "{url}: {answer}");
    }
    let second = agent.ask(json!({ "action": "browser_launch" }));
    assert!(second["error"].as_str().unwrap().contains("1 browsers open"), "{second}");

    let browser = *browsers_of(agent.child.id()).first().unwrap();
    let profile = profile_of(browser);
    assert!(users_of(&profile) > 3);
    // Killed, and not told to end: nobody is left to end the browser but itself.
    agent.kill();
    let begun = Instant::now();
    while users_of(&profile) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the browser goes on without its host");
        std::thread::sleep(Duration::from_millis(50));
    }
    // What it left is gone with the next start.
    let mut agent = Session::start(&mut lazaret(home.path(), WORDS));
    let answer = agent.ask(json!({ "action": "browser_snapshot", "session": session }));
    assert!(answer["error"].as_str().unwrap().contains("no such browser"), "{answer}");
    assert!(!Path::new(&profile).exists());
    agent.end();
}

#[test]
fn a_program_from_elsewhere_is_no_session() {
    for program in ["/bin/sh", "chromium", "/tmp/chromium"] {
        let settings =
            format!("providers:\n  browser: container\nbrowser:\n  program: {program}\n");
        let home = home(&settings, "# Main\n");
        let ran = lazaret(home.path(), WORDS).run_bytes("");
        ran.fails(2, &["none of the places where a browser may lie"]);
    }
}
