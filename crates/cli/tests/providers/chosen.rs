//! Providers are chosen by their names in `config.yaml`, from one table, or there is no session.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::providers::support::{good, home, put, run};

const IPC: &[&str] = &["ipc", "--user", "me", "--agent", "main", "--session", "s", "--stdio"];

#[test]
fn what_this_version_has_can_be_chosen() {
    let settings = "providers:\n  memory: sqlite\n  audit: journal\n  web: none\n";
    let home = home(settings);
    let (code, _, stderr) = run(home.path(), IPC);
    assert_eq!(code, 0, "{stderr}");
    let shown = good(home.path(), &["providers"]);
    // What is chosen is what there is without settings.
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(shown, good(empty.path(), &["providers"]));
    assert!(fs::read_dir(empty.path()).unwrap().next().is_none(), "looking makes nothing");
    let memory = shown.iter().find(|it| it["kind"] == "memory").unwrap();
    assert_eq!(memory["in_use"], "sqlite");
    assert_eq!(memory["built"], serde_json::json!(["file", "sqlite", "memu"]));
    let llm = shown.iter().find(|it| it["kind"] == "llm").unwrap();
    let built = serde_json::json!(["anthropic", "openai", "local", "multi", "router", "mock"]);
    assert_eq!((&llm["in_use"], &llm["built"]), (&Value::Null, &built));
    let (_, text, _) = run(home.path(), &["providers"]);
    assert!(text.contains("sqlite*") && text.contains("(postgres)"), "{text}");
}

#[test]
fn what_it_does_not_have_is_no_session() {
    for (settings, words) in [
        (
            "providers:\n  memory: postgres\n",
            "`postgres` is not in this version; there is `sqlite`",
        ),
        ("providers:\n  llm: gemini\n", "`gemini` is not in this version; there is `anthropic`"),
        (
            "providers:\n  web: tavily\n",
            "`tavily` is not in this version; there is `none`, `fetch`, `search`",
        ),
    ] {
        let home = home(settings);
        for args in [IPC, &["providers"]] {
            let (code, stdout, stderr) = run(home.path(), args);
            assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
            assert!(stderr.contains(words) && stderr.contains("config.yaml"), "{stderr}");
        }
        let query = ["evidence", "query", "--kind", "session_refused", "--json"];
        assert_eq!(run(home.path(), &query).1.lines().count(), 1);
    }
}

/// What a text in settings could be made into, if anything were.
const HOSTILE: &[&str] = &[
    "../../evil",
    "./evil.so",
    "/bin/sh",
    "sqlite;touch evil",
    "$(touch evil)",
    "evil",
    "sqlite\\0",
    "http://127.0.0.1:1/evil",
];

#[test]
fn a_name_is_a_row_of_the_table_or_nothing() {
    for name in HOSTILE {
        for settings in [
            format!("tools: {{}}\nproviders:\n  memory: '{name}'\n"),
            format!("tools: {{}}\nproviders:\n  '{name}': sqlite\n"),
        ] {
            let home = home(&settings);
            // What a name would lead to is there.
            put(home.path(), "evil", "#!/bin/sh\ntouch ran\n");
            put(home.path(), "evil.so", "");
            let before = files(home.path());
            let (code, _, stderr) = run(home.path(), &["providers"]);
            assert_eq!(code, 2, "{settings}: {stderr}");
            assert!(stderr.contains("line 3: ") && stderr.contains("; there are "), "{stderr}");
            assert_eq!(run(home.path(), IPC).0, 2);
            let mut after = files(home.path());
            // The refusal is recorded, and nothing else happened.
            after.retain(|it| !it.starts_with("evidence") && !it.starts_with("store.sqlite"));
            assert_eq!(after, before, "{settings}");
        }
    }
}

fn files(dir: &Path) -> Vec<String> {
    let found = fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name());
    let mut found: Vec<_> = found.map(|it| it.to_string_lossy().into_owned()).collect();
    found.sort();
    found
}
