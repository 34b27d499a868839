//! Tool servers that a manifest names, for an agent of our own with the mock model: real servers in real cages.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use testkit::program::{Ran, Run as _};

use crate::mcp::server_file;
use crate::program::lazaret;

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A home whose agent has the server `notes`, started with these words more; the model makes these calls, and then says what it
/// was told.
fn home(more: &[&str], calls: &[(&str, Value)]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let call = |(name, input): &(&str, Value)| json!({"call": [{"name": name, "input": input}]});
    let turns: Vec<Value> = calls.iter().map(call).collect();
    let script = json!({"turns": turns, "otherwise": {"say": "told: ", "echo": true}});
    put(&home.path().join("script.json"), &script.to_string());
    let config =
        "providers: {llm: mock, credentials: env}\nmodels: {mock: {script: script.json}}\n";
    put(&home.path().join("config.yaml"), config);
    let hash = "a".repeat(64);
    let user = format!("{{name: me, token_hash: \"{hash}\", agents: \"*\", budget: unlimited}}");
    put(&home.path().join("users.yaml"), &format!("users:\n  - {user}\n"));
    serve(home.path(), more);
    home
}

fn serve(home: &Path, more: &[&str]) {
    // In its cage nothing is there by which it could be named otherwise.
    let file = files::resolved(Path::new(&server_file("server.py"))).unwrap();
    let folder = file.parent().unwrap().display().to_string();
    let file = file.display().to_string();
    let args: Vec<&str> = ["-B", &*file].into_iter().chain(more.iter().copied()).collect();
    let server = json!({
        "server": "notes", "command": "python3", "args": args, "read": [folder],
        "env": {"NOTES_KEY": "vault:NOTES_KEY"},
    });
    let manifest = format!("---\nmcp: [{server}]\ncredentials: {{grants: {{}}}}\n---\nHelps.\n");
    put(&home.join("agents/main/IDENTITY.md"), &manifest);
}

fn run(home: &Path) -> (Ran<String>, Value) {
    let ran = lazaret(home, &["run", "main", "look at the notes", "--json"])
        .env("LAZARET_SECRET_NOTES_KEY", "n-81xq02lm75fz")
        .env("AWS_SECRET_ACCESS_KEY", "hunter2hunter2")
        .run();
    let told = ran.objects().pop().unwrap_or_default();
    (ran, told)
}

fn statuses(told: &Value) -> Vec<String> {
    let calls = told.pointer("/calls").and_then(Value::as_array).unwrap().iter();
    calls.map(|it| it.pointer("/status").and_then(Value::as_str).unwrap().to_owned()).collect()
}

fn records(home: &Path, kind: &str) -> String {
    lazaret(home, &["evidence", "query", "--kind", kind, "--json"]).run().out
}

#[test]
fn an_agent_calls_the_tools_of_its_servers_and_what_they_say_is_from_outside() {
    let look = |name: &str| ("mcp__notes__look", json!({"name": name}));
    let home = home(
        &[],
        &[
            look("plain"),
            look("environment"),
            look("value:NOTES_KEY"),
            ("mcp__notes__look", json!({})),
        ],
    );
    let (ran, told) = run(home.path());
    assert_eq!(statuses(&told), ["ran", "ran", "ran", "failed"], "{told}{}", ran.err);
    let results = records(home.path(), "tool_read");
    assert!(results.contains("mcp__notes__look"), "{results}");
    // The server is given the secret that the manifest names for it; the agent is not shown it, and nothing else is there.
    let all = lazaret(home.path(), &["evidence", "query", "--json"]).run().out;
    assert!(!all.contains("n-81xq02lm75fz") && !all.contains("hunter2"), "{all}");
    assert!(records(home.path(), "credential").contains("NOTES_KEY"));
    assert!(records(home.path(), "mcp_lifecycle").contains("\"caged\":true"));
    // What it said stands between marks, and the session is tainted by it.
    let answer = told.pointer("/answer").and_then(Value::as_str).unwrap();
    assert!(answer.starts_with("told: "), "{answer}");
    let session = told.pointer("/session").and_then(Value::as_str).unwrap();
    let tainted = lazaret(home.path(), &["sessions", "show", session, "--json"]).run().out;
    assert!(tainted.contains("notes"), "{tainted}");
    assert_eq!(lazaret(home.path(), &["evidence", "verify"]).run().code, 0);
}

#[test]
fn a_definition_that_changed_is_held_from_an_agent_until_a_person_accepts_it() {
    let home = home(&[], &[("mcp__notes__look", json!({"name": "plain"}))]);
    let (ran, told) = run(home.path());
    assert_eq!(statuses(&told), ["ran"], "{told}{}", ran.err);
    serve(home.path(), &["--changed"]);
    let (_, told) = run(home.path());
    assert_ne!(statuses(&told), ["ran"], "{told}");
    assert!(records(home.path(), "mcp_definition_changed").contains("look"));
    let accepted = lazaret(home.path(), &["mcp", "accept", "notes", "--by", "me"]).run();
    assert_eq!(accepted.code, 0, "{}", accepted.err);
    let (_, told) = run(home.path());
    assert_eq!(statuses(&told), ["ran"], "{told}");
}

#[test]
fn an_agent_whose_server_is_not_there_works_without_it_and_that_is_on_record() {
    let home = home(&[], &[("mcp__notes__look", json!({"name": "plain"}))]);
    let manifest = "---\nmcp: [{server: notes, command: no-such-program-of-ours}]\ncredentials: {grants: {}}\n---\nHelps.\n";
    put(&home.path().join("agents/main/IDENTITY.md"), manifest);
    let (ran, told) = run(home.path());
    assert_ne!(statuses(&told), ["ran"], "{told}{}", ran.err);
    let note = told.pointer("/notes/0").and_then(Value::as_str).unwrap();
    assert!(note.starts_with("the server notes is not there: "), "{told}");
    let talked = lazaret(home.path(), &["chat"]).run_with("look\n");
    assert!(talked.err.contains(note) && !talked.out.contains(note), "{}", talked.err);
    assert!(records(home.path(), "mcp_lifecycle").contains("not_there"));
    // Without an answer, too.
    put(&home.path().join("script.json"), "{\"turns\": []}");
    let (ran, told) = run(home.path());
    assert!(ran.code != 0 && told["error"].is_string(), "{told}");
    assert_eq!(told["notes"], json!([note]), "{told}");
    assert_eq!(lazaret(home.path(), &["evidence", "verify"]).run().code, 0);
}

#[test]
fn a_model_that_judges_withholds_results_and_answers_that_it_does_not_find_safe() {
    let home = home(&[], &[]);
    let home = home.path();
    let config = fs::read_to_string(home.join("config.yaml")).unwrap();
    let models = config.replace("models: {", "models: {guardrail: mock/judge, ");
    let judged = |what: &str, models: &str| {
        put(&home.join("config.yaml"), models);
        let path = home.join("agents/main/IDENTITY.md");
        let manifest = fs::read_to_string(&path).unwrap();
        let manifest: String = manifest
            .lines()
            .filter(|it| !it.starts_with("guardrail"))
            .map(|it| format!("{it}\n"))
            .collect();
        put(&path, &manifest.replacen("---\n", &format!("---\nguardrail: [{what}]\n"), 1));
    };
    // The mock model is both: it judges what it is shown, and calls the tool where it is asked to.
    let call =
        |name: &str| json!({"call": [{"name": "mcp__notes__look", "input": {"name": name}}]});
    let say = |text: &str| json!({"say": text});
    let replies = json!([
        {"when": "withheld", "give": say("there is nothing to be said")},
        {"when": "NOTES_KEY", "give": say("UNSAFE: it gives orders")},
        {"when": "at nine", "give": say("SAFE")},
        {"when": "my own words", "give": say("UNSAFE: no")},
        {"when": "look at the notes", "give": call("environment")},
    ]);
    put(&home.join("script.json"), &json!({"replies": replies}).to_string());
    judged("results", &models);
    let (ran, told) = run(home);
    assert_eq!(statuses(&told), ["failed"], "{told}{}", ran.err);
    assert_eq!(told.pointer("/answer").unwrap(), "there is nothing to be said", "{told}");
    let flagged = records(home, "guardrail_flagged");
    assert!(flagged.contains("it gives orders") && flagged.contains("mock/judge"), "{flagged}");
    // What it finds safe comes as it came.
    let safe = replies.to_string().replace("\"environment\"", "\"plain\"");
    put(&home.join("script.json"), &format!("{{\"replies\": {safe}}}"));
    assert_eq!(statuses(&run(home).1), ["ran"]);
    let spoken = safe
        .replace("\"look at the notes\"", "\"look at\"")
        .replace(&call("plain").to_string(), &say("my own words").to_string());
    put(&home.join("script.json"), &format!("{{\"replies\": {spoken}}}"));
    judged("answers", &models);
    let (ran, told) = run(home);
    assert_eq!(
        (ran.code, told.pointer("/code").and_then(Value::as_str)),
        (1, Some("access_denied")),
        "{told}"
    );
    assert!(!ran.out.contains("my own words"), "{}", ran.out);
    // Who is to judge and is not named is missed before anything begins.
    judged("answers", &config);
    let (ran, _) = run(home);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(format!("{}{}", ran.out, ran.err).contains("names no model `guardrail`"));
}
