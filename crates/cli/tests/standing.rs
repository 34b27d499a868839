//! What stands, in one look: `lazaret status` and `lazaret preflight` after something was done.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;
use crate::serve::{PATIENCE, Served, home, put};

fn status(home: &Path, words: &[&str]) -> Value {
    lazaret(home, &[&["status", "--json"], words].concat()).run().objects().remove(0)
}

#[test]
fn status_tells_the_head_of_the_journal_the_risk_and_what_an_agent_did_last() {
    let script = json!({ "replies": [
        { "when": "steal", "give": { "call": [{ "name": "no_such_tool", "input": {} }] } },
        { "when": "", "give": { "say": "so", "usage": { "inputTokens": 40, "outputTokens": 2 } } },
    ]});
    let home = home(&script, "");
    let home = home.path();
    assert_eq!(status(home, &[])["journal"]["head"], Value::Null);
    let ran = lazaret(home, &["run", "main", "hello", "--user", "ann", "--session", "s1"]).run();
    assert_eq!(ran.code, 0, "{}", ran.err);
    let last = lazaret(home, &["evidence", "tail", "-n", "1", "--json"]).run().objects().remove(0);
    let now = status(home, &["main"]);
    let head = &now["journal"]["head"];
    assert_eq!(head["idx"], last["idx"]);
    assert_eq!(head["id"], last["record"]["recordId"]);
    assert_eq!(head["at"], last["record"]["meta"]["ts"]);
    assert_eq!((&now["process"], &now["risk"]), (&Value::Null, &json!("calm")));
    assert_eq!(now["version"], env!("CARGO_PKG_VERSION"));
    let turn = &now["agent"]["turns"][0];
    assert_eq!(
        (&turn["session"], &turn["exit"], &turn["user"]),
        (&json!("s1"), &json!(0), &json!("ann"))
    );
    assert_eq!(now["agent"]["spent"]["daily"]["tokens"], 42);
    let shown = lazaret(home, &["status", "main"]).run();
    for part in ["head       ", "turn       ", "spent      42 tokens today", "risks      all"] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    assert_eq!(lazaret(home, &["daemon", "start"]).run().code, 0);
    let process = &status(home, &[])["process"];
    assert_eq!(process["version"], env!("CARGO_PKG_VERSION"));
    assert!(process["pid"].as_u64().unwrap() > 0);
    assert_eq!(lazaret(home, &["daemon", "stop"]).run().code, 0);
}

#[test]
fn preflight_starts_a_worker_in_its_cage_and_says_what_held_it() {
    let home = home(&json!({ "otherwise": { "say": "so" } }), "");
    let home = home.path();
    let cage = || {
        let ran = lazaret(home, &["preflight", "--agent", "main", "--json"]).run();
        ran.objects().into_iter().find(|it| it["id"] == "cage").unwrap_or_default()
    };
    let row = cage();
    assert_eq!(row["status"], "pass", "{row}");
    let what = row["what"].as_str().unwrap();
    let (held, missing) = what.split_once(" held, ").unwrap();
    assert!(held.contains("namespaces") && held.contains("landlock"), "{what}");
    assert!(!missing.contains("landlock"), "{what}");
    // What is required and cannot be had is no worker.
    let settings = fs::read_to_string(home.join("config.yaml")).unwrap();
    put(home, "config.yaml", &format!("{settings}host: {{required: [seatbelt]}}\n"));
    let row = cage();
    assert_eq!(row["status"], "fail", "{row}");
    // It asks for nothing that a gate has: it does so beside a daemon, too, and leaves no session behind.
    put(home, "config.yaml", &settings);
    assert_eq!(lazaret(home, &["daemon", "start"]).run().code, 0);
    assert_eq!(cage()["status"], "pass");
    assert_eq!(status(home, &[])["sessions"], json!([]));
    assert_eq!(lazaret(home, &["daemon", "stop"]).run().code, 0);
}

#[test]
fn a_catalogue_in_the_rules_is_read_by_the_gate_and_again_while_a_server_runs() {
    let home = home(&json!({ "otherwise": { "say": "so" } }), "");
    let home = home.path();
    let catalogue = |effect: &str| {
        let tool = json!({
            "effect": effect, "output": "own", "egress": false, "destructive": false, "args": {},
        });
        put(home, "policy/catalogue.json", &json!({ "tools": { "notes": tool } }).to_string());
    };
    catalogue("no such effect");
    let ran = lazaret(home, &["run", "main", "hello", "--user", "ann"]).run();
    assert!(ran.code == 2 && ran.err.contains("catalogue.json"), "{}", ran.err);
    catalogue("read");
    let served = Served::start(home);
    catalogue("send");
    let begun = Instant::now();
    let reloaded = || {
        let query = ["evidence", "query", "--kind", "policy_reloaded", "--json"];
        lazaret(home, &query).run().out.contains("the rule catalogue.json changed")
    };
    while !reloaded() {
        assert!(begun.elapsed() < PATIENCE, "it is not read again");
    }
    assert_eq!(served.end(), 0);
}
