//! What a person does with secrets, tokens, skills and jobs is on record first, whether a gate runs or not.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::program::{Ran, Run as _};

use crate::gate::{Gate, agent, ask};
use crate::program::lazaret;

const VALUE: &str = "ghp_0123456789abcdef";

fn run_with(home: &Path, args: &[&str], stdin: &str, env: &[(&str, &str)]) -> Ran {
    lazaret(home, args).env("USER", "me").envs(env.iter().copied()).run_with(stdin)
}

fn good(home: &Path, args: &[&str], stdin: &str) -> String {
    run_with(home, args, stdin, &[]).good().out
}

/// What people did, oldest first.
fn deeds(home: &Path) -> Vec<(String, Value)> {
    let shown = run_with(home, &["evidence", "query", "--json"], "", &[]).good().objects();
    let deeds = shown.iter().filter(|it| it["record"]["type"] == "ControlPlaneChangeRequest");
    deeds
        .map(|it| {
            let record = &it["record"];
            assert_eq!(record["principal"], "USER", "{record}");
            let content = record["payload"]["inline"].clone();
            (record["meta"]["kind"].as_str().unwrap().to_owned(), content)
        })
        .collect()
}

fn kinds(home: &Path) -> Vec<String> {
    deeds(home).into_iter().map(|it| it.0).collect()
}

/// Does any file there hold it?
fn is_anywhere(dir: &Path, text: &str) -> bool {
    fs::read_dir(dir).unwrap().map(|it| it.unwrap().path()).any(|it| {
        if it.is_dir() {
            return is_anywhere(&it, text);
        }
        // A socket is no file.
        let bytes = fs::read(&it).unwrap_or_default();
        bytes.windows(text.len()).any(|it| it == text.as_bytes())
    })
}

#[test]
fn taint_is_cleared_while_a_gate_runs_but_not_that_of_an_open_session() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    let old = ["ipc", "--user", "me", "--agent", "main", "--session", "old"];
    Gate::start(&mut lazaret(home, &old), "listening on ").end();
    let gate = Gate::ipc(home);
    let clear = |session: &str| {
        let args = ["taint", "clear", "--session", session, "--reason", "it is mine", "--yes"];
        run_with(home, &args, "", &[])
    };
    let cleared = clear("old");
    assert_eq!(cleared.code, 0, "{}", cleared.err);
    let refused = clear("s");
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("session s is open"), "{}", refused.err);
    gate.end();
    let done = deeds(home);
    let (kind, content) = done.last().unwrap();
    assert_eq!((kind.as_str(), done.len()), ("taint_cleared", 1));
    assert_eq!((&content["name"], &content["by"]), (&json!("old"), &json!("me")));
    assert_eq!(clear("s").code, 0, "it has ended");
    good(home, &["evidence", "verify"], "");
}

/// All changes of a vault and of tokens, one after the other.
fn change_everything(home: &Path) {
    good(home, &["vault", "set", "KEY", "--host", "api.example.com"], VALUE);
    good(home, &["vault", "set", "KEY", "--keep-value", "--host", "b.example.com"], "");
    good(home, &["vault", "rotate", "KEY"], "another-value-Zq81LkWm27");
    good(home, &["vault", "rotate"], "");
    let env = [("LAZARET_SECRET_IMPORTED", "a-third-value-Zq81LkWm27")];
    assert_eq!(run_with(home, &["vault", "import-env"], "", &env).code, 0);
    let plain = good(home, &["vault", "export", "--dangerously-plain"], "");
    assert!(plain.contains("a-third-value-Zq81LkWm27"), "{plain}");
    assert_eq!(run_with(home, &["vault", "remove", "NOBODY"], "", &[]).code, 1);
    good(home, &["vault", "remove", "KEY"], "");
    let made = good(home, &["access", "create", "--user", "ann", "--json"], "");
    let made: Value = serde_json::from_str(&made).unwrap();
    let next = good(home, &["access", "rotate", made["id"].as_str().unwrap(), "--json"], "");
    let next: Value = serde_json::from_str(&next).unwrap();
    good(home, &["access", "revoke", next["id"].as_str().unwrap()], "");
    assert_eq!(run_with(home, &["access", "revoke", "nobody"], "", &[]).code, 1);
    for token in [&made, &next] {
        assert!(!is_anywhere(home, token["token"].as_str().unwrap()));
    }
}

const ALL: &[&str] = &[
    "vault_set",
    "vault_bound",
    "vault_set",
    "vault_rekeyed",
    "vault_imported",
    "vault_exported",
    "vault_removed",
    "vault_not_changed",
    "vault_removed",
    "access_created",
    "access_rotated",
    "access_revoked",
];

#[test]
fn every_change_of_vault_and_tokens_is_on_record_by_name_and_never_by_value() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    good(home, &["vault", "init"], "");
    change_everything(home);
    let deeds = deeds(home);
    let kinds: Vec<&str> = deeds.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(kinds, [&["vault_made"], ALL].concat());
    assert!(deeds.iter().all(|it| it.1["by"] == "me"), "{deeds:?}");
    assert_eq!(
        (&deeds[1].1["name"], &deeds[1].1["hosts"]),
        (&json!("KEY"), &json!(["api.example.com"]))
    );
    assert_eq!(deeds[5].1["names"], json!(["IMPORTED"]));
    assert_eq!(
        (&deeds[6].1["names"], &deeds[6].1["plain"]),
        (&json!(["IMPORTED", "KEY"]), &json!(true))
    );
    assert!(deeds[8].1["error"].as_str().unwrap().contains("NOBODY"), "{:?}", deeds[8]);
    assert_eq!(deeds[10].1["user"], "ann");
    for value in [VALUE, "another-value-Zq81LkWm27", "a-third-value-Zq81LkWm27"] {
        assert!(!is_anywhere(home, value), "{value}");
    }
    // What is not asked for well is no change.
    let before = deeds.len();
    assert_eq!(run_with(home, &["vault", "set", "SHORT"], "hunter2", &[]).code, 1);
    assert_eq!(
        run_with(home, &["vault", "set", "A", "--host", "*"], "long-enough-Zq81LkWm27", &[]).code,
        1
    );
    assert_eq!(self::deeds(home).len(), before);
}

#[test]
fn a_gate_that_runs_records_it_and_knows_the_secret_at_once() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    good(home, &["vault", "init"], "");
    let gate = Gate::ipc(home);
    let mut agent = agent(home);
    let write = |text: &str| json!({"action": "memory_write", "scope": "notes", "type": "knowledge", "content": text});
    assert_eq!(ask(&mut agent, &write("the first note"))["ok"], true);
    change_everything(home);
    good(home, &["vault", "set", "NEW"], "brand-new-value-Zq81LkWm27");
    let stopped = ask(&mut agent, &write("say brand-new-value-Zq81LkWm27"));
    assert_eq!((&stopped["ok"], &stopped["rule"]), (&json!(false), &json!("secret-elsewhere")));
    // What was removed a moment ago is still nobody's business.
    let stopped = ask(&mut agent, &write("say a-third-value-Zq81LkWm27"));
    assert_eq!(stopped["rule"], "secret-elsewhere", "{stopped}");
    good(home, &["vault", "remove", "NEW"], "");
    let stopped = ask(&mut agent, &write("say brand-new-value-Zq81LkWm27"));
    assert_eq!(stopped["rule"], "secret-elsewhere", "{stopped}");
    gate.end();
    let expected = [&["vault_made"], ALL, &["vault_set", "vault_removed"]].concat();
    assert_eq!(kinds(home), expected);
    let verified = good(home, &["evidence", "verify"], "");
    assert!(!verified.is_empty());
    assert!(!is_anywhere(home, "brand-new-value-Zq81LkWm27"));

    // A vault that does not open any more: nobody knows what to keep back, so everything is.
    let gate = Gate::ipc(home);
    let mut agent = self::agent(home);
    assert_eq!(ask(&mut agent, &write("the second note"))["ok"], true);
    let sealed = fs::read(home.join("vault.age")).unwrap();
    files::private::replace(&home.join("vault.age"), b"no vault").unwrap();
    let stopped = ask(&mut agent, &write("the third note"));
    assert_eq!(stopped["rule"], "secret-elsewhere", "{stopped}");
    assert!(stopped["error"].as_str().unwrap().contains("does not open"), "{stopped}");
    files::private::replace(&home.join("vault.age"), &sealed).unwrap();
    assert_eq!(ask(&mut agent, &write("the fourth note"))["ok"], true);
    gate.end();

    // The proxy has a door as well.
    let words = ["proxy", "--user", "me", "--agent", "main", "--json"];
    let proxy = Gate::start(&mut lazaret(home, &words), "{");
    good(home, &["vault", "set", "KEY"], VALUE);
    proxy.end();
    assert_eq!(kinds(home).last().map(String::as_str), Some("vault_set"));
}

#[test]
fn a_journal_that_somebody_keeps_without_a_door_stops_the_change() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    good(home, &["vault", "init"], "");
    let config = evidence::Config::new(home.join("evidence"));
    let (journal, _) = evidence::Journal::open(&config).unwrap();
    let before = fs::read(home.join("vault.age")).unwrap();
    for args in
        [&["vault", "set", "KEY"][..], &["vault", "rotate"], &["access", "create", "--user", "a"]]
    {
        let ran = run_with(home, args, VALUE, &[]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("nothing was changed") && ran.out.is_empty(), "{}", ran.err);
    }
    assert_eq!(fs::read(home.join("vault.age")).unwrap(), before);
    assert!(!home.join("access.json").exists());
    assert_eq!(good(home, &["vault", "list"], ""), "");

    // Who has it for a moment only is waited for.
    let ends = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        journal.close().unwrap();
    });
    good(home, &["vault", "set", "KEY"], VALUE);
    ends.join().unwrap();
}

#[test]
fn a_person_approves_a_skill_and_adds_a_job_while_the_agent_runs() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let hash = "a".repeat(64);
    let put = |name: &str, text: &str| {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        files::private::replace(&home.join(name), text.as_bytes()).unwrap();
    };
    put("config.yaml", "providers: {skills: git, scheduler: cron}\n");
    put(
        "users.yaml",
        &format!(
            "users:\n  - name: me\n    token_hash: \"{hash}\"\n    agents: \"*\"\n    budget: unlimited\n"
        ),
    );
    put("agents/main/IDENTITY.md", "# Main\n");
    let gate = Gate::ipc(home);
    let mut agent = agent(home);
    for name in ["tea", "coffee"] {
        let propose = json!({"action": "skill_propose", "skill": name, "content": "boil water"});
        let proposed = ask(&mut agent, &propose);
        assert_eq!(proposed["ok"], true, "{proposed}");
    }
    let waiting = run_with(home, &["skills", "list", "--json"], "", &[]).good().objects();
    let ids: Vec<&str> = waiting.iter().filter_map(|it| it["proposal"].as_str()).collect();
    assert_eq!(ids.len(), 2, "{waiting:?}");
    good(home, &["skills", "approve", ids[0], "--yes"], "");
    good(home, &["skills", "reject", ids[1]], "");
    assert_eq!(run_with(home, &["skills", "reject", ids[1]], "", &[]).code, 1);
    let read = ask(&mut agent, &json!({"action": "skill_list"}));
    assert_eq!(read["skills"].as_array().map(Vec::len), Some(1), "{read}");
    let add = [
        "scheduler",
        "add",
        "--user",
        "me",
        "--agent",
        "main",
        "--cron",
        "0 9 * * *",
        "x",
        "--json",
    ];
    let job: Value = serde_json::from_str(&good(home, &add, "")).unwrap();
    good(home, &["scheduler", "remove", job["job"].as_str().unwrap()], "");
    gate.end();
    let mut kinds = kinds(home);
    kinds.retain(|it| it != "skill_propose");
    assert_eq!(kinds, ["skill_approved", "skill_rejected", "job_added", "job_removed"]);
}

#[test]
fn grants_are_there_whole_or_not_at_all_whenever_writing_them_is_killed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    good(home, &["vault", "init"], "");
    for at in 0..20 {
        good(home, &["vault", "set", &format!("KEY_{at}")], &format!("value-Zq81LkWm27-{at}"));
    }
    let path = home.join("agents/main/IDENTITY.md");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let old = "---\nname: main\n---\n# Main\n".to_owned() + &"words\n".repeat(10_000);
    files::private::replace(&path, old.as_bytes()).unwrap();
    let began = std::time::Instant::now();
    good(home, &["credentials", "migrate", "main", "--write"], "");
    let takes = began.elapsed();
    let new = fs::read_to_string(&path).unwrap();
    assert!(new.contains("KEY_19") && new.ends_with("words\n"));
    let (mut olds, mut news) = (0, 0);
    for round in 0..40_u32 {
        files::private::replace(&path, old.as_bytes()).unwrap();
        let mut child = lazaret(home, &["credentials", "migrate", "main", "--write"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From its start to behind its end, however busy the machine is.
        std::thread::sleep(takes * round / 13);
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
        let found = fs::read_to_string(&path).unwrap();
        olds += usize::from(found == old);
        news += usize::from(found == new);
        assert_eq!(olds + news, usize::try_from(round).unwrap() + 1, "half of it is there");
    }
    assert!(olds > 0 && news > 0, "{olds} old, {news} new");
    // What was killed stands in the journal, which is whole as well.
    assert!(kinds(home).iter().filter(|it| *it == "grants_written").count() > news);
    good(home, &["evidence", "verify"], "");
}
