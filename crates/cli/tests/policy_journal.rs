//! `lazaret policy propose` and `lazaret policy backtest` on journals that a real gate wrote.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::program::{Ran, Run as _};

use crate::hooked::{Told, work};
use crate::program::lazaret;

fn run(home: &Path, args: &[&str]) -> Ran {
    lazaret(home, args).env("USER", "ann").run()
}

fn last(ran: &Ran) -> Value {
    ran.objects().pop().unwrap_or_else(|| panic!("{}{}", ran.out, ran.err))
}

/// A folder with one file of rules.
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
fn rules(text: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.cedar"), text).unwrap();
    dir
}

/// A journal of a morning's work in a trusted folder: some of it passed, some was asked about, some was denied.
fn morning() -> (TempDir, TempDir) {
    let (home, cwd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(home.path(), &["trust", cwd.path().to_str().unwrap()]).good();
    work(home.path(), cwd.path(), "morning", |claude| {
        claude.says("Look at the log of this repository, read src/main.rs and run the tests.");
        for (id, command) in
            [("1", "git log -3"), ("2", "git log -5"), ("3", "cargo test"), ("4", "ls src")]
        {
            assert_eq!(claude.bash(id, command, "ok"), Told::Pass, "{command}");
        }
        for name in ["main.rs", "lib.rs"] {
            let file = cwd.path().join("src/deep").join(name);
            let input = json!({ "file_path": file.to_str().unwrap() });
            assert_eq!(claude.before(name, "Read", &input), Told::Pass);
            claude.after(name, "Read", &input, "fn main() {}");
        }
        assert_eq!(claude.bash("5", "git push --force origin main", ""), Told::Ask);
        assert_eq!(claude.bash("6", "rm -rf --no-preserve-root /", ""), Told::Deny);
    });
    (home, cwd)
}

#[test]
fn the_policy_in_force_changes_nothing() {
    let (home, _cwd) = morning();
    let empty = tempfile::tempdir().unwrap();
    let dir = empty.path().to_str().unwrap();
    let ran = run(home.path(), &["policy", "backtest", dir, "--json"]).good();
    let all = ran.objects();
    assert_eq!(all.len(), 1, "{}", ran.out);
    assert_eq!(all[0]["judged"], 8, "{}", ran.out);
    assert_eq!(all[0]["same"], 8);
    assert_eq!(all[0]["unjudged"], 0);
    assert_eq!(all[0]["by_rule"], json!([]));
}

#[test]
fn what_a_rule_would_change_is_told_exactly() {
    let (home, _cwd) = morning();
    let dir = rules(
        r#"
@id("own-no-tests") @reason("tests run elsewhere") @decision("deny")
@match("shell_exec commands=cargo+test")
forbid (principal, action, resource) when { context.commands.contains("cargo test") };

@id("own-no-push") @reason("a person pushes") @decision("deny")
@match("shell_exec commands=git+push")
forbid (principal, action, resource) when { context.commands.contains("git push") };
"#,
    );
    let path = dir.path().to_str().unwrap();
    let ran = run(home.path(), &["policy", "backtest", path, "--json"]).good();
    let objects = ran.objects();
    let (all, changed) = objects.split_last().unwrap();
    assert_eq!(changed.len(), 2, "{}", ran.out);
    assert_eq!(changed[0]["change"], "stopped");
    assert_eq!(changed[0]["before"]["decision"], "allow");
    assert_eq!(changed[0]["after"], json!({"decision": "deny", "rule": "own-no-tests"}));
    assert_eq!(changed[1]["change"], "otherwise");
    assert_eq!(changed[1]["before"]["decision"], "step_up");
    assert_eq!(changed[1]["after"], json!({"decision": "deny", "rule": "own-no-push"}));
    let counts = ["judged", "same", "stopped", "allowed", "otherwise", "unjudged"];
    assert_eq!(counts.map(|it| all[it].as_u64().unwrap()), [8, 6, 1, 0, 1, 0]);
    // The record that it names is there.
    let id = changed[0]["record"].as_str().unwrap();
    let found = run(home.path(), &["evidence", "query", "--id", id, "--json"]).good();
    assert!(found.out.contains("cargo test"), "{}", found.out);

    let told = run(home.path(), &["policy", "backtest", path]).good();
    for part in [
        "1  let through before, stopped",
        "deny by own-no-tests",
        "6  as they were",
        "0  not judged again",
    ] {
        assert!(told.out.contains(part), "{part}: {}", told.out);
    }
    // Nothing is that new.
    let ran = run(
        home.path(),
        &["policy", "backtest", path, "--json", "--since", "2099-01-01T00:00:00Z"],
    );
    assert_eq!(last(&ran.good())["judged"], 0);
}

/// A rule that is taken back would have let through what it stopped, unless a guard stopped it too.
#[test]
fn what_a_rule_stopped_passes_without_it_and_what_a_guard_stopped_does_not() {
    let (home, cwd) = morning();
    let own = rules(
        r#"
@id("own-no-log") @reason("no logs") @decision("deny")
@match("shell_exec programs=git")
forbid (principal, action, resource) when { context.programs.contains("git") };
"#,
    );
    // As an operator has it: in the state directory.
    let policy = home.path().join("policy");
    fs::create_dir(&policy).unwrap();
    fs::copy(own.path().join("own.cedar"), policy.join("own.cedar")).unwrap();
    run(home.path(), &["daemon", "start", "--quiet"]).good();
    let hook = |id: &str, command: &str| {
        let mut door =
            host::doors::client::Connection::open(home.path(), "hook claude PreToolUse", &[])
                .unwrap()
                .unwrap();
        let call = json!({
            "session_id": "noon", "cwd": cwd.path().to_str().unwrap(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
        });
        door.say(call.to_string().as_bytes()).unwrap();
        // It is no JSON: what it says is in the journal.
        let _ = door.hear();
    };
    hook("1", "git log -1");
    hook("2", "git log -1; rm -rf --no-preserve-root /");
    run(home.path(), &["daemon", "stop", "--quiet"]).good();
    let empty = tempfile::tempdir().unwrap();
    let ran =
        run(home.path(), &["policy", "backtest", empty.path().to_str().unwrap(), "--json"]).good();
    let objects = ran.objects();
    let (all, changed) = objects.split_last().unwrap();
    assert_eq!(all["allowed"], 1, "{}", ran.out);
    assert_eq!(changed[0]["before"], json!({"decision": "deny", "rule": "own-no-log"}));
    assert_eq!(changed[0]["after"]["decision"], "allow");
    // Once nobody knows the rule any more, nothing is guessed.
    fs::remove_dir_all(&policy).unwrap();
    let ran =
        run(home.path(), &["policy", "backtest", empty.path().to_str().unwrap(), "--json"]).good();
    let all = last(&ran);
    assert_eq!((&all["allowed"], &all["unjudged"]), (&json!(0), &json!(2)), "{}", ran.out);
    let why = all["unjudged_because"].as_object().unwrap().keys().next().unwrap();
    assert!(why.contains("in no policy any more"), "{why}");
}

#[test]
fn a_proposal_allows_what_was_done_and_nothing_else() {
    let (home, cwd) = morning();
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("proposal");
    let dir = out.to_str().unwrap();
    let told = run(home.path(), &["policy", "propose", "--out", dir, "--json"]).good();
    let told = last(&told);
    assert_eq!(told["agents"], json!(["claude"]));
    assert_eq!((&told["calls"], &told["stopped"]), (&json!(6), &json!(0)), "{told}");
    assert_eq!(told["files"], json!(["seen-claude.cedar", "seen.cases.jsonl", "catalogue.json"]));
    // It loads, and its cases hold.
    let ran = run(home.path(), &["policy", "check", dir]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let ran = run(home.path(), &["policy", "test", dir]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let cases = fs::read_to_string(out.join("seen.cases.jsonl")).unwrap();
    assert!(
        cases.contains("\"expect\":\"allow\"") && cases.contains("\"rule\":\"seen-claude-hosts\""),
        "{cases}"
    );
    // It says how often.
    let text = fs::read_to_string(out.join("seen-claude.cedar")).unwrap();
    assert!(
        text.contains("\"git log\" // 2 times") || text.contains("\"git log\", // 2 times"),
        "{text}"
    );
    let folder = format!("context.path like \"{}/src/deep/*\"", cwd.path().display());
    assert!(text.contains(&folder), "{folder}: {text}");
    let catalogue: Value =
        serde_json::from_slice(&fs::read(out.join("catalogue.json")).unwrap()).unwrap();
    assert!(catalogue["tools"]["Bash"].is_object() && catalogue["tools"]["Read"].is_object());
    // What was not seen is stopped, by the rule that says so.
    let explain = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let args = [&["policy", "explain", "--json", "--policy", dir][..], &words].concat();
        last(&run(home.path(), &args))["rule"].as_str().unwrap().to_owned()
    };
    let bash = fact(&cases, "Bash");
    let seen = format!("{bash} tool=Bash agent=claude");
    for (more, rule) in [
        ("tool=mcp__mail__send agent=claude", "seen-claude-tools"),
        ("programs=curl", "seen-claude-programs"),
        ("programs=git commands=git+push", "seen-claude-programs"),
        ("unread=true", "seen-claude-programs"),
        ("hosts=evil.example", "seen-claude-hosts"),
        ("recipients=eve@evil.example", "seen-claude-recipients"),
        ("paths=delete:/srv/a", "seen-claude-delete"),
        ("paths=write:/srv/a", "seen-claude-write"),
    ] {
        let words = if more.starts_with("tool=") {
            format!("{bash} {more}")
        } else {
            format!("{seen} {more}")
        };
        assert_eq!(explain(&words), rule, "{words}");
    }
    // Another agent is not spoken of.
    assert!(!explain(&format!("{bash} tool=Bash agent=codex programs=curl")).starts_with("seen-"));
    // And the same journal, judged by it.
    let all = last(&run(home.path(), &["policy", "backtest", dir, "--json"]).good());
    assert_eq!((&all["stopped"], &all["unjudged"]), (&json!(0), &json!(0)), "{all}");
    // What is there is not overwritten.
    let ran = run(home.path(), &["policy", "propose", "--out", dir]);
    assert!(ran.code == 2 && ran.err.contains("is there already"), "{}", ran.err);
}

/// The effect that calls of a tool have, as cases have it.
fn fact(cases: &str, tool: &str) -> String {
    let cases = cases.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let mut facts = cases.map(|it| it["facts"].clone()).filter(|it| it["tool"] == tool);
    facts.next().unwrap()["effect"].as_str().unwrap().to_owned()
}

#[test]
fn what_was_watched_is_proposed_and_the_rest_may_be_asked_for() {
    let (home, cwd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(home.path(), &["observe", "start", "--days", "1"]).good();
    work(home.path(), cwd.path(), "s", |claude| {
        claude.says("Look at the log of this repository.");
        assert_eq!(claude.bash("1", "git push --force origin main", "ok"), Told::Pass);
    });
    let out = home.path().join("proposal");
    let dir = out.to_str().unwrap();
    let told =
        run(home.path(), &["policy", "propose", "--out", dir, "--rest", "ask", "--json"]).good();
    let told = last(&told);
    assert_eq!(
        (&told["observed"], &told["calls"], &told["stopped"]),
        (&json!(1), &json!(1), &json!(0)),
        "{told}"
    );
    let text = fs::read_to_string(out.join("seen-claude.cedar")).unwrap();
    assert!(text.contains("1 of them were let through only by a yes"), "{text}");
    assert!(text.contains("@decision(\"step_up\")") && text.contains("\"git push\""), "{text}");
    let ran = run(home.path(), &["policy", "test", dir]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    // The question stays a question, the pass stays a pass.
    let all = last(&run(home.path(), &["policy", "backtest", dir, "--json"]).good());
    assert_eq!((&all["judged"], &all["same"]), (&json!(2), &json!(2)), "{all}");
}

#[test]
fn a_yes_counts_for_what_was_shown_and_for_nothing_new() {
    let (home, cwd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(home.path(), &["observe", "start", "--days", "1"]).good();
    work(home.path(), cwd.path(), "s", |claude| {
        claude.says("Look at the log of this repository.");
        assert_eq!(claude.bash("1", "git push --force origin main", "ok"), Told::Pass);
    });
    let dir = rules(
        r#"
@id("own-ask-push") @reason("a person pushes") @decision("step_up")
@match("shell_exec commands=git+push")
forbid (principal, action, resource) when { context.commands.contains("git push") };
"#,
    );
    let ran =
        run(home.path(), &["policy", "backtest", dir.path().to_str().unwrap(), "--json"]).good();
    let objects = ran.objects();
    let (all, changed) = objects.split_last().unwrap();
    assert_eq!(all["stopped"], 1, "{}", ran.out);
    assert_eq!(changed[0]["before"]["decision"], "allow");
    assert_eq!(changed[0]["after"], json!({"decision": "step_up", "rule": "own-ask-push"}));
}

#[test]
fn nothing_recorded_is_nothing_to_propose_and_what_is_broken_is_told() {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("proposal");
    let ran = run(home.path(), &["policy", "propose", "--out", out.to_str().unwrap()]);
    assert!(ran.code != 0 && !out.exists(), "{}", ran.err);
    let (home, _cwd) = morning();
    let future =
        ["policy", "propose", "--out", out.to_str().unwrap(), "--since", "2099-01-01T00:00:00Z"];
    assert_eq!(run(home.path(), &future).code, 1);
    assert!(!out.exists());
    let broken = rules("permit");
    let ran = run(home.path(), &["policy", "backtest", broken.path().to_str().unwrap()]);
    assert!(
        ran.code == 2 && format!("{}{}", ran.out, ran.err).contains("own.cedar:1"),
        "{}{}",
        ran.out,
        ran.err
    );
    let ran = run(home.path(), &["policy", "backtest", ".", "--since", "yesterday"]);
    assert_eq!(ran.code, 2);
}

/// A folder with these files.
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn backtest(home: &Path, dir: &TempDir) -> Value {
    let ran = run(home, &["policy", "backtest", dir.path().to_str().unwrap(), "--json"]);
    last(&ran.good())
}

const MANIFEST: &str = "# An agent\n\nIt works.\n";

/// Settings of the folder close for what was recorded, too; where the record does not hold what they look at, that is said.
#[test]
fn layers_of_the_folder_are_asked_too() {
    let (home, cwd) = morning();
    let home = home.path();
    let no_web = folder(&[("config.yaml", "tools:\n  web:\n    enabled: false\n")]);
    let all = backtest(home, &no_web);
    assert_eq!((&all["unjudged"], &all["same"]), (&json!(0), &all["judged"]), "{all}");
    // Nobody is let in: neither this agent nor another.
    let others = folder(&[("agents/other/IDENTITY.md", MANIFEST)]);
    let all = backtest(home, &others);
    assert_eq!((&all["stopped"], &all["unjudged"]), (&json!(6), &json!(0)), "{all}");
    assert_eq!(all["by_rule"][0]["after"]["rule"], "layer-agent", "{all}");
    // A call whose arguments the record has only the beginning of: manifests look at them, rules do not.
    work(home, cwd.path(), "long", |claude| {
        claude.says("Say something long.");
        let long = format!("echo {}", "word ".repeat(1000));
        assert_eq!(claude.bash("1", &long, "ok"), Told::Pass);
    });
    assert_eq!(backtest(home, &others)["unjudged"], 0);
    let known = folder(&[("agents/claude/IDENTITY.md", MANIFEST)]);
    let all = backtest(home, &known);
    assert_eq!((&all["same"], &all["unjudged"]), (&json!(8), &json!(1)), "{all}");
    let why = all["unjudged_because"].as_object().unwrap().keys().next().unwrap();
    assert!(why.contains("does not hold whole"), "{why}");
    let all = backtest(home, &no_web);
    assert_eq!((&all["same"], &all["unjudged"]), (&json!(9), &json!(0)), "{all}");
}

/// A record whose content lies beside the journal is judged like any other, and told when that is gone.
#[test]
fn long_records_are_read_where_they_lie() {
    let (home, cwd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    work(home.path(), cwd.path(), "s", |claude| {
        claude.says("Say something long.");
        let long = format!("echo {}", "\u{6f22} ".repeat(3000));
        claude.bash("1", &long, "ok");
    });
    let empty = folder(&[]);
    let all = backtest(home.path(), &empty);
    assert_eq!((&all["judged"], &all["same"]), (&json!(1), &json!(1)), "{all}");
    fs::remove_dir_all(home.path().join("evidence/blobs")).unwrap();
    let all = backtest(home.path(), &empty);
    assert_eq!((&all["judged"], &all["unjudged"]), (&json!(0), &json!(1)), "{all}");
}
