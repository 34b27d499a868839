//! The vectors of others, and every hole of theirs.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use serde_json::Value;
use shell::{Access, Blocklist, Class, Decision, Reading, read, read_with};

fn vectors(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/shell").join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().cloned().unwrap_or_default();
    items.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

/// Says of all that fail what was expected and found.
#[track_caller]
fn none(failed: &[String]) {
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn told(name: &Value, command: &str, reading: &Reading) -> String {
    let Reading { decision, findings, normalized, .. } = reading;
    format!("{name}: `{command}` is {decision:?} as `{normalized}`: {findings:?}")
}

#[test]
fn the_blocklist_blocks_what_it_must() {
    let mut failed = Vec::new();
    for case in vectors("shell_blocklist.json") {
        let input = &case["input"];
        let Some(command) = input.as_str().or(input["command"].as_str()) else { continue };
        let list = Blocklist::new(
            &strings(&input["blocked_commands"]),
            &strings(&input["allowed_commands"]),
        );
        let reading = read_with(command, &list);
        // Limits that the vectors record; we have none of them.
        let known_limit = case["name"].as_str().unwrap().starts_with("known_limit");
        let holds = match case["expected"].as_str().unwrap() {
            "blocked" => reading.decision == Decision::Deny,
            "not_blocked" if known_limit => reading.decision == Decision::Deny,
            "not_blocked" => reading.decision != Decision::Deny,
            "none" => reading.decision == Decision::Allow,
            _ => reading.decision >= Decision::StepUp,
        };
        if !holds {
            failed.push(told(&case["name"], command, &reading));
        }
    }
    none(&failed);
}

#[test]
fn patterns_are_kept_once_in_lower_case() {
    let list = Blocklist::new(&["Sudo", "sudo", "SUDO", "MyCustom"], &[]);
    assert_eq!(list.added().collect::<Vec<_>>(), ["mycustom", "sudo"]);
    assert_eq!(read_with("mycustom.sh now", &list).decision, Decision::Deny);
    let list = Blocklist::new(&["git push"], &[]);
    assert_eq!(read_with("git push origin", &list).decision, Decision::Deny);
    assert_eq!(read_with("git pull origin", &list).decision, Decision::Allow);
}

#[test]
fn what_erases_or_raises_cannot_be_opened() {
    let list = Blocklist::new(&[], &["sudo", "rm", "mkfs", "dd", "shutdown"]);
    for command in ["sudo id", "rm -rf /", "mkfs.ext4 x", "dd if=a of=b", "shutdown now"] {
        assert_eq!(read_with(command, &list).decision, Decision::Deny, "{command}");
    }
}

#[test]
fn what_erases_or_raises_is_blocked_in_a_cage_too() {
    let list = Blocklist::in_a_cage();
    for command in ["sudo id", "rm -rf /", "mkfs.ext4 x", "shutdown now"] {
        assert_eq!(read_with(command, &list).decision, Decision::Deny, "{command}");
    }
}

#[test]
fn every_known_hole_is_closed() {
    let mut failed = Vec::new();
    for case in vectors("gaps_shell.json") {
        let input = &case["input"];
        let command = input.as_str().or(input["command"].as_str()).unwrap();
        let reading = read(command);
        let holds = match case["expected"].as_str().unwrap() {
            "should_block" => reading.decision == Decision::Deny,
            "policy_should_see" | "should_refuse" => reading.decision >= Decision::StepUp,
            "should_not_block" => reading.decision != Decision::Deny,
            other => panic!("`{other}` is new"),
        };
        if !holds {
            failed.push(told(&case["name"], command, &reading));
        }
    }
    none(&failed);
}

#[test]
fn fixes_are_proposed_where_they_help() {
    let mut failed = Vec::new();
    for case in vectors("safe_fix.json") {
        let command = case["input"].as_str().unwrap();
        let reading = read(command);
        let expected = &case["expected"];
        let text = reading.fix.map(|it| it.alternative.to_lowercase()).unwrap_or_default();
        let wanted = expected["alternative_contains"].as_str();
        let wanted = wanted.or(expected["alternative_contains_ci"].as_str()).unwrap_or_default();
        let has = expected["has_suggestion"].as_bool().is_none_or(|it| it == reading.fix.is_some());
        if !has || !text.contains(&wanted.to_lowercase()) {
            failed.push(told(&case["name"], command, &reading));
        }
    }
    none(&failed);
}

#[test]
fn the_helpers_agree() {
    let mut failed = Vec::new();
    for case in vectors("shell_helpers.json") {
        let input = &case["input"];
        let function = input["fn"].as_str().unwrap();
        let command = match (&input["command"], &input["binary"]) {
            (Value::String(command), _) => command.clone(),
            (_, Value::String(binary)) => {
                let args = strings(&input["args"]);
                let quoted: Vec<String> = args.iter().map(|it| format!("'{it}'")).collect();
                format!("{binary} {}", quoted.join(" "))
            }
            _ => continue,
        };
        let list = Blocklist::new(&strings(&input["blocklist"]), &[]);
        let reading = read_with(&command, &list);
        let places: Vec<&str> = reading.places.iter().map(|it| it.path.as_str()).collect();
        let has = |wanted: &Value| strings(wanted).iter().all(|it| places.contains(&clean(it)));
        let expected = &case["expected"];
        let denied = reading.decision == Decision::Deny;
        let holds = match function {
            "is_blocked_rm_worktrees" => expected.as_bool() == Some(denied),
            "effective_shell_command" => match expected.as_str() {
                Some(inner) => reading.normalized == inner && denied,
                None => !reading.normalized.starts_with("rm"),
            },
            "is_write_command" => {
                let changes = |it: &Class| matches!(it, Class::Write | Class::Delete);
                expected.as_bool() == Some(reading.classes.iter().any(changes))
            }
            "redirection_targets" => has(&expected["contains"]),
            // Ours does not refuse every substitution: it looks inside.
            "extract_paths" if command.ends_with('|') => reading.decision >= Decision::StepUp,
            "extract_paths" if !command.starts_with("cd") => has(expected),
            other if other.starts_with("check_blocklist") => {
                expected.as_bool() == Some(reading.decision >= Decision::StepUp)
            }
            _ => true,
        };
        if !holds {
            failed.push(told(&case["name"], &command, &reading) + &format!(" {places:?}"));
        }
    }
    none(&failed);
}

fn clean(path: &str) -> &str {
    path.trim_start_matches("./")
}

#[test]
fn every_case_of_our_own_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/shell/cases.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut failed = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let command = case["command"].as_str().unwrap();
        let reading = read(command);
        let word = match reading.decision {
            Decision::Allow => "allow",
            Decision::StepUp => "step_up",
            Decision::Deny => "deny",
        };
        let rule = reading.decisive.as_ref().map(|it| it.rule.as_str());
        let same = case["decision"] == word && case["rule"].as_str() == rule;
        if !same || case["normalized"] != reading.normalized.as_str() {
            failed.push(told(&case["rule"], command, &reading));
        }
    }
    none(&failed);
    assert!(text.lines().count() > 200);
}

#[test]
fn escapes_show_what_they_spell() {
    for (command, normal) in [
        (r"\x63url", "curl"),
        (r"\101", "A"),
        (r"\u0063url", "curl"),
        (r"\u{72}\u{6d} -rf x", "rm -rf x"),
        ("'ab'\"cd\"'ef'", "abcdef"),
        ("echo   hello", "echo hello"),
        ("  ls  ", "ls"),
        ("", ""),
        ("  \n ", ""),
        ("echo h\u{e9}llo", "echo h\u{e9}llo"),
    ] {
        assert_eq!(read(command).normalized, normal, "{command}");
    }
}

#[test]
fn places_and_hosts_are_named() {
    let reading = read("scp ~/notes.txt user@host.example:/tmp/ && cat < a > b");
    assert!(reading.classes.contains(&Class::Network));
    assert_eq!(reading.hosts, ["host.example"]);
    let place =
        |access, path: &str| reading.places.iter().any(|it| it.access == access && it.path == path);
    assert!(place(Access::Read, "~/notes.txt"), "{:?}", reading.places);
    assert!(place(Access::Read, "a") && place(Access::Write, "b"), "{:?}", reading.places);
}
