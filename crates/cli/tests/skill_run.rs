//! `lazaret skills run`, and what the operator requires of the surroundings: the real program, real cages.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use testkit::program::Run as _;

use crate::program;

const SKILLS: &str = "providers:\n  skills: readonly\n";

/// A home with a secret, and a state with one skill that brings a program along.
fn place(config: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["home/.ssh", "state/skills/greet/scripts"] {
        fs::create_dir_all(dir.path().join(name)).unwrap();
    }
    let state = dir.path().join("state");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    put(&state.join("config.yaml"), config);
    put(&state.join("skills/greet/SKILL.md"), "---\nname: greet\n---\nSay hello.\n");
    put(&state.join("skills/greet/scripts/hello.sh"), "echo hello $1; echo kept > $SCRATCH/out\n");
    put(&dir.path().join("home/.ssh/id"), "canary\n");
    put(&state.join("store"), "canary\n");
    dir
}

fn put(path: &Path, text: &str) {
    files::private::replace(path, text.as_bytes()).unwrap();
}

fn lazaret(dir: &TempDir, words: &[&str]) -> (i32, String, String) {
    let (state, home) = (dir.path().join("state"), dir.path().join("home"));
    program::lazaret(state, words).env("HOME", home).run().told()
}

fn greet(dir: &TempDir, words: &[&str]) -> (i32, String, String) {
    lazaret(dir, &[&["skills", "run", "greet", "--"], words].concat())
}

#[test]
fn a_program_of_a_skill_runs_in_its_cage() {
    let dir = place(SKILLS);
    let (code, out, err) = greet(&dir, &["sh", "scripts/hello.sh", "you"]);
    assert_eq!((code, out.as_str()), (0, "hello you\n"), "{err}");
    for script in [
        "cat ~/.ssh/id".to_owned(),
        format!("cat {}/state/store", dir.path().display()),
        "echo x > scripts/hello.sh".to_owned(),
        "echo x > new".to_owned(),
    ] {
        let (code, out, err) = greet(&dir, &["sh", "-c", &script]);
        assert!(code != 0 && !out.contains("canary"), "{script}: {out} {err}");
    }
    // Above its fresh home it may write, into something fresh.
    greet(&dir, &["sh", "-c", "echo x > ~/../new"]);
    assert!(!dir.path().join("new").exists() && !dir.path().join("home/out").exists());
    let records = lazaret(
        &dir,
        &["evidence", "query", "--json", "--home", dir.path().join("state/exec").to_str().unwrap()],
    );
    assert!(records.1.contains("skill_sandbox") && records.1.contains("timeout_ms"), "{records:?}");
    let exact = dir.path().join("kept");
    fs::create_dir(&exact).unwrap();
    let words = ["skills", "run", "greet", "--scratch", exact.to_str().unwrap(), "--"];
    lazaret(&dir, &[words.as_slice(), &["sh", "scripts/hello.sh"]].concat());
    assert_eq!(fs::read_to_string(exact.join("out")).unwrap(), "kept\n");
}

#[test]
fn settings_are_the_operators_and_are_held() {
    let dir = place(SKILLS);
    let settings = dir.path().join("state/skill-sandbox.json");
    put(&settings, r#"{"timeout_ms": 300}"#);
    assert_eq!(greet(&dir, &["sleep", "20"]).0, 124);
    let profile = dir.path().join("profile.json");
    let refusing = |call: &str| {
        format!(
            r#"{{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{{"names":["{call}"],"action":"SCMP_ACT_ERRNO"}}]}}"#
        )
    };
    put(&settings, &format!(r#"{{"seccomp_profile": "{}"}}"#, profile.display()));
    put(&profile, &refusing("ptrace"));
    assert_eq!(greet(&dir, &["true"]).0, 0);
    put(&profile, &refusing("getpid"));
    let (code, _, err) = greet(&dir, &["true"]);
    assert!(code == 2 && err.contains("getpid"), "{err}");
    put(&settings, r#"{"use_subprocess": false}"#);
    assert_eq!(greet(&dir, &["true"]).0, 2);
}

#[test]
fn the_reference_profile_is_taken_as_it_is_shipped() {
    let dir = place(SKILLS);
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference");
    let profile = files::resolved(&profile).unwrap().join("seccomp-skill-profile.json");
    let settings = format!(r#"{{"seccomp_profile": "{}"}}"#, profile.display());
    put(&dir.path().join("state/skill-sandbox.json"), &settings);
    let (code, out, err) = greet(&dir, &["sh", "scripts/hello.sh", "you"]);
    assert_eq!((code, out.as_str()), (0, "hello you\n"), "{err}");
}

#[test]
fn what_is_no_skill_with_a_folder_does_not_run() {
    let dir = place(SKILLS);
    put(&dir.path().join("state/skills/note.md"), "only a text\n");
    std::os::unix::fs::symlink("greet", dir.path().join("state/skills/other")).unwrap();
    for name in ["note", "other", "nothing", "../greet", "."] {
        let (code, out, _) = lazaret(&dir, &["skills", "run", name, "--", "echo", "ran"]);
        assert!(code == 1 && out.is_empty(), "{name}: {code} {out}");
    }
}

#[test]
fn what_is_required_and_not_so_is_a_refusal() {
    let dir = place(&format!("{SKILLS}sandbox:\n  max_open_files: 1\n"));
    let (code, out, err) = greet(&dir, &["echo", "ran"]);
    assert!(code == 1 && out.is_empty() && err.contains("max_open_files"), "{code} {out} {err}");
    let session = ["ipc", "--user", "me", "--agent", "main", "--session", "s1", "--stdio"];
    let (code, _, err) = lazaret(&dir, &session);
    assert!(code == 1 && err.contains("max_open_files"), "{code} {err}");
    let records = lazaret(&dir, &["evidence", "query", "--json"]).1;
    assert!(records.contains("sandbox_refused"), "{records}");
    let (_, out, _) = lazaret(&dir, &["doctor", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    let rows = answer["checks"].as_array().unwrap().iter();
    let row = rows.clone().find(|it| it["part"] == "required").unwrap();
    assert_eq!((&row["id"], &row["status"]), (&"max_open_files".into(), &"fail".into()));
    // What is so is none.
    let dir = place(&format!("{SKILLS}sandbox:\n  max_open_files: 4000000000\n"));
    assert_eq!(greet(&dir, &["echo", "ran"]).1, "ran\n");
}

#[test]
fn the_doctor_is_asked_for_more() {
    let dir = place(SKILLS);
    let asked = |what: &str| {
        let (code, out, _) = lazaret(&dir, &["doctor", "--json", "--require", what]);
        let answer: Option<Value> = serde_json::from_str(&out).ok();
        let row = answer.and_then(|it| {
            it["checks"].as_array().unwrap().iter().find(|it| it["part"] == "required").cloned()
        });
        (code, row.map(|it| it["status"].as_str().unwrap().to_owned()))
    };
    assert_eq!(asked("max_open_files=1"), (1, Some("fail".to_owned())));
    assert_eq!(asked("max_open_files=4000000000").1.as_deref(), Some("pass"));
    for wrong in ["contain", "max_processes", "max_processes=0", "seccomp=1"] {
        assert_eq!(asked(wrong), (2, None), "{wrong}");
    }
}
