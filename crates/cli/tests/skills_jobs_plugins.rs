//! `lazaret skills`, `scheduler`, `plugins` and memory in a file, as a person and an agent use them together.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

fn put(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A home with one user, one agent and these settings.
fn home(settings: &str) -> tempfile::TempDir {
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

fn run(home: &Path, args: &[&str]) -> (i32, String, String) {
    let (code, stdout, stderr) = run_with(home, args, Vec::new());
    (code, String::from_utf8(stdout).unwrap(), stderr)
}

fn good(home: &Path, args: &[&str]) -> Vec<Value> {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let (code, stdout, stderr) = run(home, &args);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// What an agent is answered to these messages.
fn agent(home: &Path, session: &str, messages: &[Value]) -> Vec<Value> {
    let mut frames = Vec::new();
    for message in messages {
        let text = message.to_string();
        frames.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
        frames.extend(text.as_bytes());
    }
    let args = ["ipc", "--user", "me", "--agent", "main", "--session", session, "--stdio"];
    let (code, stdout, stderr) = run_with(home, &args, frames);
    assert_eq!(code, 0, "{stderr}");
    let mut answers = Vec::new();
    let mut rest = stdout.as_slice();
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let (answer, tail) = tail.split_at(usize::try_from(u32::from_be_bytes(*length)).unwrap());
        answers.push(serde_json::from_slice(answer).unwrap());
        rest = tail;
    }
    answers
}

fn kinds(home: &Path) -> Vec<String> {
    let (code, stdout, _) = run(home, &["evidence", "query", "--json"]);
    assert_eq!(code, 0);
    let lines = stdout.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    lines.map(|it| it["record"]["meta"]["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_person_approves_one_proposal_and_rejects_another() {
    let home = home("providers:\n  skills: git\n");
    let home = home.path();
    let propose = |name: &str| json!({"action": "skill_propose", "skill": name, "content": "---\ndescription: how\n---\nDo it.\n", "reason": "it \u{1b}[2J helps"});
    let made =
        agent(home, "s", &[propose("deploy"), propose("evil"), json!({"action": "skill_list"})]);
    assert_eq!(made[2]["skills"], json!([]), "{made:?}");
    let (one, other) = (made[0]["id"].as_str().unwrap(), made[1]["id"].as_str().unwrap());
    let waiting = good(home, &["skills", "list"]);
    assert!(waiting.len() == 2 && waiting.iter().all(|it| it["state"] == "waiting"), "{waiting:?}");

    let (code, shown, _) = run(home, &["skills", "show", one]);
    assert!(code == 0 && shown.contains("Do it.") && !shown.contains('\u{1b}'), "{shown}");
    let (code, _, stderr) = run(home, &["skills", "approve", one]);
    assert_eq!(code, 2, "nobody is at a terminal: {stderr}");
    assert_eq!(good(home, &["skills", "approve", one, "--yes"])[0]["state"], "approved");
    let rejected = good(home, &["skills", "reject", other, "--reason", "no"]);
    assert_eq!(rejected[0]["state"], "rejected");
    let (code, _, stderr) = run(home, &["skills", "approve", other, "--yes"]);
    assert!(code == 1 && stderr.contains("no proposal"), "{stderr}");

    let answers = agent(
        home,
        "t",
        &[json!({"action": "skill_list"}), json!({"action": "skill_read", "name": "deploy"})],
    );
    assert_eq!(answers[0]["skills"], json!([{"name": "deploy", "description": "how"}]));
    assert!(answers[1]["content"].as_str().unwrap().ends_with("Do it.\n"));
    let kinds = kinds(home);
    for kind in ["skill_approved", "skill_rejected"] {
        assert!(kinds.iter().any(|it| it == kind), "{kinds:?}");
    }
}

#[test]
fn skills_in_a_folder_are_only_read() {
    let home = home("providers:\n  skills: readonly\n");
    let home = home.path();
    put(
        home,
        "skills/tea/SKILL.md",
        "---\nname: tea\ndescription: how to make tea\n---\nBoil water.\n",
    );
    let propose = json!({"action": "skill_propose", "skill": "evil", "content": "x"});
    let answers = agent(home, "s", &[json!({"action": "skill_list"}), propose]);
    assert_eq!(answers[0]["skills"][0]["description"], "how to make tea");
    assert!(answers[1]["error"].as_str().unwrap().contains("read-only"), "{answers:?}");
    assert_eq!(good(home, &["skills", "list"])[0]["skill"], "tea");
    let (code, _, stderr) = run(tempfile::tempdir().unwrap().path(), &["skills", "list"]);
    assert!(code == 2 && stderr.contains("skills: git"), "{stderr}");
}

#[test]
fn a_job_is_added_comes_and_is_given_to_its_agent() {
    let home = home("providers:\n  scheduler: cron\nscheduler:\n  timezone: Europe/Berlin\n");
    let home = home.path();
    let add = |more: &[&str]| {
        let first = ["scheduler", "add", "--user", "me", "--agent", "main"];
        run(home, &first.iter().chain(more).copied().collect::<Vec<_>>())
    };
    for (more, code) in [
        (&["--cron", "*/0 * * * *", "look"][..], 1),
        (&["--cron", "0 0 31 2 *", "look"], 1),
        (&["--at", "yesterday", "look"], 1),
        (&["--at", "2001-01-01T00:00:00Z", "look"], 1),
        (&["look"], 2),
        (&["--cron", "* * * * *", ""], 1),
        (&["--cron", "* * * * *", "look at the mail"], 0),
    ] {
        let (found, _, stderr) = add(more);
        assert_eq!(found, code, "{more:?}: {stderr}");
    }
    let jobs = good(home, &["scheduler", "list"]);
    assert_eq!((jobs.len(), &jobs[0]["schedule"]), (1, &json!("* * * * * Europe/Berlin")));
    assert_eq!(good(home, &["scheduler", "run", "--once"]), [] as [Value; 0], "not yet");
    let path = home.join("scheduler.json");
    let mut book: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    book["jobs"][0]["next"] = json!(book["jobs"][0]["next"].as_i64().unwrap() - 120);
    put(home, "scheduler.json", &book.to_string());
    let came = good(home, &["scheduler", "run", "--once"]);
    assert_eq!((came.len(), &came[0]["prompt"]), (1, &json!("look at the mail")), "{came:?}");
    let given = agent(home, "s", &[json!({"action": "scheduler_list_triggers"})]);
    assert_eq!(given[0]["triggers"][0]["prompt"], "look at the mail", "{given:?}");
    let listed = good(home, &["scheduler", "list"]);
    assert_eq!(listed[1]["given_to"], "s");
    good(home, &["scheduler", "remove", jobs[0]["job"].as_str().unwrap()]);
    assert_eq!(good(home, &["scheduler", "list"]), [] as [Value; 0]);
    let (code, _, _) = run(home, &["scheduler", "remove", "x"]);
    assert_eq!(code, 1);
    let kinds = kinds(home);
    for kind in ["job_added", "job_due", "job_removed", "job_not_removed"] {
        assert!(kinds.iter().any(|it| it == kind), "{kind}: {kinds:?}");
    }
}

#[test]
fn a_broken_time_zone_is_a_broken_configuration() {
    let home = home("providers:\n  scheduler: cron\nscheduler:\n  timezone: Mars/Base\n");
    let args = ["ipc", "--user", "me", "--agent", "main", "--session", "s", "--stdio"];
    let (code, _, stderr) = run(home.path(), &args);
    assert!(code == 2 && stderr.contains("Mars/Base"), "{stderr}");
    let (code, _, stderr) = run(home.path(), &["scheduler", "run", "--once"]);
    assert!(code == 2 && stderr.contains("Mars/Base"), "{stderr}");
}

#[test]
fn a_plugin_is_added_changed_refused_and_removed() {
    let home = home("providers:\n  memory: sqlite\n");
    let source = tempfile::tempdir().unwrap();
    let manifest = json!({"name": "@t/p", "ax_provider": {"kind": "memory", "name": "redis"}, "capabilities": {}});
    put(source.path(), "MANIFEST.json", &manifest.to_string());
    put(source.path(), "index.js", "run()");
    let (home, folder) = (home.path(), source.path().to_str().unwrap());
    let (code, _, stderr) = run(home, &["plugins", "add", folder]);
    assert_eq!(code, 2, "nobody is at a terminal: {stderr}");
    let added = good(home, &["plugins", "add", folder, "--yes"]);
    assert_eq!(good(home, &["plugins", "list"])[0]["digest"], added[0]["digest"]);
    assert_eq!(good(home, &["plugins", "verify"])[0]["ok"], true);
    put(home, "plugins/@t+p/index.js", "evil()");
    let (code, stdout, _) = run(home, &["plugins", "verify"]);
    assert!(code == 1 && stdout.contains("`index.js` has changed"), "{stdout}");
    // An agent is served all the same; the plugin is refused, and that is recorded.
    agent(home, "s", &[json!({"action": "skill_list"})]);
    assert!(kinds(home).iter().any(|it| it == "plugin_refused"));
    good(home, &["plugins", "remove", "@t/p"]);
    let (code, _, _) = run(home, &["plugins", "remove", "@t/p"]);
    assert_eq!(code, 1);
    let (code, stdout, _) = run(home, &["plugins", "verify"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
}

#[test]
fn memory_in_a_file_is_found_shown_and_kept_apart_from_the_store() {
    let home = home("providers:\n  memory: file\n");
    let home = home.path();
    let write = json!({"action": "memory_write", "scope": "a/b", "content": "tea at five", "type": "knowledge"});
    let id = agent(home, "s", &[write])[0]["id"].as_str().unwrap().to_owned();
    let found =
        agent(home, "t", &[json!({"action": "memory_query", "scope": "a", "query": "five"})]);
    assert_eq!(found[0]["results"][0]["id"], id.as_str(), "{found:?}");
    let shown = good(home, &["taint", "show", "--memory", &id]);
    assert_eq!(shown[0]["content"], "tea at five");
    let cleared = good(home, &["taint", "clear", "--memory", &id, "--reason", "mine", "--yes"]);
    assert_eq!(cleared[0]["name"], id.as_str());
    assert!(home.join("memory/memory.jsonl").exists());
}
