//! `lazaret doctor` as people and programs call it, and what a session says of the surroundings.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::frames;
use testkit::program::Run as _;

use crate::program::{self, LAZARET};

fn lazaret(home: &Path, words: &[&str]) -> Command {
    let mut command = program::lazaret(home, words);
    command.env("NO_COLOR", "1");
    command
}

fn asked(home: &Path) -> (Value, i32) {
    let ran = lazaret(home, &["doctor", "--json"]).run();
    (ran.object(), ran.code)
}

fn check<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let checks = answer["checks"].as_array().unwrap();
    checks.iter().find(|it| it["id"] == id).unwrap()
}

#[test]
fn every_check_that_does_not_hold_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let (answer, code) = asked(&dir.path().join("home"));
    let checks = answer["checks"].as_array().unwrap();
    assert!(checks.len() >= 15, "{answer}");
    for part in ["surroundings", "cage", "kernel", "state", "tools"] {
        assert!(checks.iter().any(|it| it["part"] == part), "{part}");
    }
    for check in checks {
        let holds = check["status"] == "pass";
        assert_eq!(check["advice"].as_str().unwrap().is_empty(), holds, "{check}");
        assert!(!check["what"].as_str().unwrap().is_empty(), "{check}");
    }
    let failed = checks.iter().filter(|it| it["status"] == "fail").count();
    assert_eq!(answer["failed"], failed);
    let works = answer["verdict"]["works"].as_str().unwrap();
    assert_eq!(code, i32::from(works != "ready"), "{answer}");
    assert!(answer["score"].as_u64().unwrap() <= 100);
    assert!(!dir.path().join("home").exists(), "who only looks makes nothing");
}

#[test]
fn people_get_a_table_with_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (answer, _) = asked(dir.path());
    let text = lazaret(dir.path(), &["doctor"]).run().out;
    for check in answer["checks"].as_array().unwrap() {
        assert!(text.contains(check["id"].as_str().unwrap()), "{check}");
        assert!(text.contains(check["advice"].as_str().unwrap()), "{check}");
    }
    assert!(text.contains(answer["compliance"].as_str().unwrap()) && !text.contains('\u{1b}'));
    // Whether and how one can work stands first.
    let verdict = &answer["verdict"];
    let (first, how) = (text.lines().next().unwrap(), verdict["how"].as_str().unwrap());
    assert!(first.contains("ready") && first.ends_with(how), "{first}");
    for next in verdict["next"].as_array().unwrap() {
        assert!(text.contains(next.as_str().unwrap()), "{next}");
    }
}

#[test]
fn a_state_directory_that_others_can_enter_fails() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (answer, code) = asked(dir.path());
    assert_eq!(check(&answer, "directory")["status"], "fail");
    assert_eq!(answer["verdict"]["works"], "not_ready");
    assert!(answer["verdict"]["next"][0].as_str().unwrap().contains("chmod 700"), "{answer}");
    assert!(check(&answer, "directory")["advice"].as_str().unwrap().starts_with("chmod 700"));
    assert_eq!(code, 1);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(check(&asked(dir.path()).0, "directory")["status"], "pass");
}

/// What `lazaret doctor` says within a cage that sees `home`, and cannot change it.
fn asked_in_a_cage(dir: &Path, home: &Path) -> Value {
    let (workspace, state) = (dir.join("ws"), dir.join("state"));
    fs::create_dir(&workspace).unwrap();
    let mut command = lazaret(&state, &["exec", "--read", LAZARET, "--read"]);
    command.current_dir(&workspace).arg(home).args(["--", LAZARET, "doctor", "--json", "--home"]);
    command.arg(home).run().object()
}

#[test]
fn a_state_directory_that_cannot_be_written_to_fails() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    files::private::create_dir(&home).unwrap();
    assert_eq!(check(&asked(&home).0, "directory")["status"], "pass");
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0, "nothing is left of the trial");
    let answer = asked_in_a_cage(dir.path(), &home);
    let found = check(&answer, "directory");
    assert_eq!(found["status"], "fail", "{answer}");
    assert!(found["what"].as_str().unwrap().contains("Read-only file system"), "{found}");
    assert!(found["advice"].as_str().unwrap().contains("LAZARET_HOME"), "{found}");
}

#[test]
fn within_a_cage_it_says_that_it_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    files::private::create_dir(&home).unwrap();
    assert!(!asked(&home).0.to_string().contains("this is a cage"));
    let answer = asked_in_a_cage(dir.path(), &home);
    for id in ["cage", "kernel"] {
        let found = check(&answer, id);
        assert!(found["what"].as_str().unwrap().starts_with("this is a cage"), "{answer}");
        assert_eq!(found["status"], "unknown");
    }
    let text = answer.to_string();
    assert!(!text.contains("sysctl") && !text.contains("apt install"), "{text}");
}

/// A session of agents can be had on a machine that confines nothing: little is in the surroundings, and the verdict
/// does not ask for it, unless it is required.
#[test]
fn the_verdict_is_about_work_and_not_about_the_surroundings() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    files::private::create_dir(&home).unwrap();
    let (answer, code) = asked(&home);
    let works = answer["verdict"]["works"].as_str().unwrap();
    let cage = answer["checks"].as_array().unwrap().iter();
    let cage_failed = cage.clone().any(|it| it["part"] == "cage" && it["status"] == "fail");
    assert_eq!(works, if cage_failed { "partly" } else { "ready" }, "{answer}");
    assert_eq!(code, i32::from(cage_failed));
    let ran = lazaret(&home, &["doctor", "--json", "--require", "full"]).run();
    let answer = ran.object();
    let holds = answer["compliance"] == "Full";
    assert_eq!(answer["verdict"]["works"] == "not_ready", !holds, "{answer}");
    assert_eq!(ran.code, i32::from(!holds || cage_failed));
}

#[test]
fn broken_files_are_found() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    for (name, id) in [("vault.age", "vault"), ("config.yaml", "settings")] {
        files::private::replace(&dir.path().join(name), b"\x00{ not this").unwrap();
        assert_eq!(check(&asked(dir.path()).0, id)["status"], "fail", "{name}");
    }
    files::private::replace(&dir.path().join("evidence"), b"").unwrap();
    assert_eq!(check(&asked(dir.path()).0, "journal")["status"], "fail");
}

#[test]
fn a_session_has_the_surroundings_on_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let frame = br#"{"action":"skill_list"}"#;
    let input = frames::frame(frame);
    let arguments = ["ipc", "--user", "me", "--agent", "main", "--session", "s1", "--stdio"];
    lazaret(&home, &arguments).run_bytes(input).good();
    let records = lazaret(&home, &["evidence", "query", "--json"]).run().objects();
    let (answer, _) = asked(&home);
    let of_kind = |wanted: &str| {
        let found =
            records.iter().filter(|it| it.to_string().contains(&format!("\"kind\":\"{wanted}\"")));
        found.map(ToString::to_string).collect::<Vec<_>>()
    };
    let audits = of_kind("sandbox_audit");
    assert_eq!(audits.len(), 1, "{records:?}");
    let compliance = answer["compliance"].as_str().unwrap();
    assert!(audits[0].contains("SandboxCompliance") && audits[0].contains(compliance));
    let alerts = of_kind("alert");
    assert_eq!(alerts.len(), usize::from(compliance != "Full"), "{records:?}");
}
