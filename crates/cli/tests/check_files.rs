//! `lazaret check path` and `lazaret check file`: output, messages and exit codes.

use serde_json::{Value, json};
use testkit::program::{Ran, Run as _};

use crate::program::stateless;

fn run(kind: &str, args: &[&str], stdin: &str) -> Ran {
    stateless(&["check", kind]).args(args).run_with(stdin)
}

fn answers(kind: &str, requests: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    run(kind, &["--json"], &lines.join("\n")).good().objects()
}

#[test]
fn a_path_is_allowed_as_it_stands_or_denied() {
    let ran = run("path", &["--base", "/b", "a/b.md", "%2e%2e/x", "..\\x"], "");
    assert_eq!(ran.code, 1);
    let expected = "allow     /b/a/b.md\n\
        deny      path-escape: `%2e%2e/x` leads out of its base\n\
        deny      path-escape: `..\\\\x` leads out of its base\n";
    assert_eq!(ran.out, expected);
    assert_eq!(run("path", &["a"], "").code, 0);
}

#[test]
fn a_batch_of_paths_is_answered_line_by_line() {
    let found = answers(
        "path",
        &[
            json!({"id": 1, "base": "/base", "segments": ["..", "etc", "passwd"]}),
            json!({"id": 2, "base": "/base", "path": "../etc"}),
            json!({"id": 3, "base": "/base", "path": "a/b"}),
            json!({"id": 4, "base": "/base"}),
            json!({"id": 5, "base": "/base", "path": 7}),
            json!({"id": 6, "base": "/base", "segments": ["CON"]}),
        ],
    );
    let first = json!({"id": 1, "decision": "allow", "path": "/base/_/etc/passwd", "rule": null, "reason": null});
    assert_eq!(found[0], first);
    assert_eq!((&found[1]["decision"], &found[1]["path"]), (&json!("deny"), &Value::Null));
    assert_eq!(found[1]["rule"], "path-escape");
    assert_eq!(found[2]["path"], "/base/a/b");
    assert!(found[3]["error"].as_str().unwrap().contains("is missing"));
    assert!(found[4]["error"].is_string());
    assert_eq!(found[5]["rule"], "path-device");
    let torn = run("path", &["--json"], "{\"path\":\"a\\ud800b\"}\n{\"path\":\"a\"}\n");
    assert_eq!(torn.out.lines().count(), 2);
}

#[test]
fn files_are_judged_by_the_rules_of_the_gate() {
    let of = |path: &str, op: &str, principal: &str, taint: Value| {
        let request = json!({"path": path, "op": op, "principal": principal, "taint": taint});
        let found = answers("file", &[request]).remove(0);
        let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
        (text("decision"), text("rule"), found["taint"].clone())
    };
    let none = || json!([]);
    let (decision, rule, taint) = of(".env", "read", "WEB", none());
    assert_eq!((decision.as_str(), rule.as_str()), ("deny", "fs-deny-sensitive-untrusted"));
    assert_eq!(taint, none());
    let (decision, rule, taint) = of(".env", "read", "USER", none());
    assert_eq!((decision.as_str(), rule.as_str()), ("allow", "fs-taint-secrets"));
    assert_eq!(taint, json!(["SECRET_RISK"]));
    assert_eq!(of(".env", "read", "USER", json!(["UNTRUSTED"])).0, "step_up");
    assert_eq!(of("backup.zip!/.env", "read", "SKILL", none()).0, "deny");
    assert_eq!(of("%2eENV", "read", "TOOL", none()).0, "deny");
    for harmless in [".env.example", "id_rsa.pub", "docs/credentials.md", "src/main.rs"] {
        assert_eq!(of(harmless, "read", "TOOL", none()).0, "allow", "{harmless}");
        assert_eq!(of(harmless, "read", "USER", none()).2, none(), "{harmless}");
    }
    assert_eq!(of("SOUL.md", "write", "SKILL", none()).0, "deny");
    assert_eq!(of(".claude/settings.json", "write", "USER", json!(["UNTRUSTED"])).0, "deny");
    assert_eq!(of("notes.md", "write", "USER", none()).0, "allow");
}

#[test]
fn a_wrong_request_is_told_what_is_wrong_with_it() {
    let found = answers(
        "file",
        &[
            json!({"id": 1}),
            json!({"id": 2, "path": "a", "op": "open"}),
            json!({"id": 3, "path": "a", "principal": "GOD"}),
            json!({"id": 4, "path": "a", "taint": ["CLEAN"]}),
        ],
    );
    for (answer, words) in
        found.iter().zip(["`path` is missing", "read or write", "one of", "no taint flag"])
    {
        assert!(answer["error"].as_str().unwrap().contains(words), "{answer}");
    }
    assert_eq!(run("file", &["--principal", "WEB", ".env"], "").code, 1);
    assert_eq!(run("file", &["--principal", "NOBODY", ".env"], "").code, 2);
}

#[test]
fn a_link_is_as_secret_as_what_it_leads_to() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::File::create(at(".env")).unwrap();
    std::fs::File::create(at("plain.txt")).unwrap();
    std::os::unix::fs::symlink(at(".env"), at("innocent.txt")).unwrap();
    std::os::unix::fs::symlink(dir.path(), at("folder")).unwrap();
    let of = |name: &str| {
        let path = at(name).to_str().unwrap().to_owned();
        answers("file", &[json!({"path": path, "op": "read", "principal": "WEB"})]).remove(0)
    };
    assert_eq!(of("innocent.txt")["rule"], "fs-deny-sensitive-untrusted");
    assert_eq!(of("folder/innocent.txt")["rule"], "fs-deny-sensitive-untrusted");
    assert_ne!(of("plain.txt")["rule"], "fs-deny-sensitive-untrusted");
}
