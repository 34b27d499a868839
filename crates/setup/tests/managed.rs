//! Managed settings: for every user of the machine, firmer than a user's own, and taken back like those.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "test helpers; the settings of clippy cover only `#[test]` functions"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use setup::{Host, Options, Outcome, Plan, PlanError, Wiring, plan, wiring};

use crate::support::{Machine, NOW_UNIX_S, outcome};

/// Hosts with managed settings, and where.
#[cfg(not(target_os = "macos"))]
const FILES: [(Host, &str); 4] = [
    (Host::Claude, "etc/claude-code/managed-settings.json"),
    (Host::Codex, "etc/codex/requirements.toml"),
    (Host::Gemini, "etc/gemini-cli/settings.json"),
    (Host::Cursor, "etc/cursor/hooks.json"),
];
#[cfg(target_os = "macos")]
const FILES: [(Host, &str); 4] = [
    (Host::Claude, "Library/Application Support/ClaudeCode/managed-settings.json"),
    (Host::Codex, "etc/codex/requirements.toml"),
    (Host::Gemini, "Library/Application Support/GeminiCli/settings.json"),
    (Host::Cursor, "Library/Application Support/Cursor/hooks.json"),
];

/// What an operator had demanded of Codex before us.
const DEMANDED: &str = "# ours since spring\nallowed_sandbox_modes = [\"read-only\"]\n\n[hooks]\nmanaged_dir = \"/\"\n\n[[hooks.PreToolUse]]\nmatcher = \"Bash\" # only these\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"/usr/bin/audit\"\n";

fn file(host: Host) -> &'static str {
    FILES.iter().find(|it| it.0 == host).unwrap().1
}

fn planned(machine: &Machine, which: &[Host]) -> Result<Plan, PlanError> {
    let options = Options { managed: Some(machine.at("")), ..Options::default() };
    plan(&machine.around, which, &options)
}

fn init(machine: &Machine, which: &[Host]) {
    planned(machine, which).unwrap().apply(NOW_UNIX_S).unwrap();
}

fn why(machine: &Machine, host: Host) -> String {
    match wiring(&machine.around, host) {
        Wiring::Broken { why } => why,
        other @ (Wiring::NotInstalled | Wiring::Wired) => panic!("{host}: {other:?}"),
    }
}

#[test]
fn hooks_are_for_all_users_and_in_no_users_settings() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at("etc")).unwrap();
    let before = machine.files();
    init(&machine, &Host::ALL);
    for (host, path) in FILES {
        let metadata = fs::metadata(machine.at(path)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o644, "{path}");
        assert!(!machine.around.folder(host).exists(), "{host}");
    }
    for host in Host::ALL {
        assert_eq!(wiring(&machine.around, host), Wiring::Wired, "{host}");
    }
    assert!(planned(&machine, &Host::ALL).unwrap().is_empty());
    assert!(machine.uninstall().is_complete());
    assert_eq!(machine.files(), before);
    for (_, path) in FILES {
        assert!(!machine.at(path).parent().unwrap().exists(), "{path}");
    }
    assert!(machine.at("etc").exists());
}

#[test]
fn what_a_user_cannot_switch_off_is_pinned_and_the_rest_is_said() {
    let machine = Machine::new();
    let plan = planned(&machine, &Host::ALL).unwrap();
    let says = |host: Host, word: &str| {
        plan.notes().iter().any(|it| it.host == host && it.text.contains(word))
    };
    assert!(says(Host::Claude, "managed settings") && says(Host::Codex, "--disable hooks"));
    assert!(says(Host::Gemini, "by its name") && says(Host::Copilot, "no managed settings"));
    plan.apply(NOW_UNIX_S).unwrap();
    let codex = machine.text(file(Host::Codex));
    assert!(codex.contains("[features]\nhooks = true\n"), "{codex}");
    assert!(codex.contains("[[hooks.PreToolUse]]\n\n[[hooks.PreToolUse.hooks]]\n"), "{codex}");
    let folder = machine.at("bin");
    assert!(codex.contains(&format!("managed_dir = \"{}\"\n", folder.display())), "{codex}");
    assert_eq!(machine.json(file(Host::Gemini))["hooksConfig"]["enabled"], true);
}

#[test]
fn files_that_were_there_come_back_byte_for_byte() {
    let machine = Machine::new();
    let claude = "{\n\t\"permissions\": {\"deny\": [\"WebFetch\"]}\n}";
    let gemini = "{ // of the operator\n  \"hooksConfig\": { \"enabled\": false }\n}";
    machine.put(file(Host::Claude), claude);
    machine.put(file(Host::Gemini), gemini);
    machine.put(file(Host::Codex), DEMANDED);
    init(&machine, &Host::ALL);
    let codex = machine.text(file(Host::Codex));
    let kept = ["# ours since spring", "managed_dir = \"/\"", "# only these", "/usr/bin/audit"];
    assert!(kept.iter().all(|it| codex.contains(it)), "{codex}");
    for host in [Host::Claude, Host::Gemini, Host::Codex] {
        assert_eq!(wiring(&machine.around, host), Wiring::Wired, "{host}");
    }
    let done = machine.uninstall();
    for (host, text) in [(Host::Claude, claude), (Host::Gemini, gemini), (Host::Codex, DEMANDED)] {
        assert_eq!(outcome(&done, file(host)), &Outcome::Restored, "{host}");
        assert_eq!(machine.text(file(host)), text, "{host}");
    }
}

#[test]
fn of_a_file_that_changed_since_only_ours_is_taken_out() {
    let machine = Machine::new();
    machine.put(file(Host::Codex), DEMANDED);
    init(&machine, &[Host::Codex]);
    let added = "\n[[rules.prefix_rules]]\npattern = [\"rm\"]\n";
    machine.put(file(Host::Codex), machine.text(file(Host::Codex)) + added);
    let done = machine.uninstall();
    assert_eq!(outcome(&done, file(Host::Codex)), &Outcome::Cleaned);
    let left = machine.text(file(Host::Codex));
    assert!(left.contains("/usr/bin/audit") && left.contains("prefix_rules"), "{left}");
    assert!(!left.contains("lazaret-hook") && !left.contains("features"), "{left}");
    // Made by us, and somebody wrote into it.
    let machine = Machine::new();
    init(&machine, &[Host::Codex]);
    machine.put(file(Host::Codex), machine.text(file(Host::Codex)) + added);
    machine.uninstall();
    assert_eq!(machine.text(file(Host::Codex)).trim(), added.trim());
}

#[test]
fn what_no_longer_holds_is_told() {
    let machine = Machine::new();
    init(&machine, &Host::ALL);
    let gemini = json!({ "hooksConfig": { "disabled": ["lazaret-BeforeTool"] } });
    machine.put("home/.gemini/settings.json", gemini.to_string());
    assert!(why(&machine, Host::Gemini).contains("lazaret-BeforeTool"));
    // What a user's settings say of all hooks is overruled.
    let gemini = json!({ "hooksConfig": { "enabled": false } });
    machine.put("home/.gemini/settings.json", gemini.to_string());
    assert_eq!(wiring(&machine.around, Host::Gemini), Wiring::Wired);
    let claude = json!({ "disableAllHooks": true });
    machine.put("home/.claude/settings.json", claude.to_string());
    assert_eq!(wiring(&machine.around, Host::Claude), Wiring::Wired);
    let codex = machine.text(file(Host::Codex));
    machine.put(file(Host::Codex), codex.replace("hooks = true", "hooks = false"));
    assert!(why(&machine, Host::Codex).contains("[features] hooks"));
    machine.put(file(Host::Codex), codex.replace("codex Stop", "codex Stopped"));
    assert!(why(&machine, Host::Codex).contains("Stop is not there"));
    fs::remove_file(machine.at(file(Host::Codex))).unwrap();
    assert!(why(&machine, Host::Codex).contains("gone"));
    assert!(planned(&machine, &[Host::Codex]).unwrap().changes().len() == 1);
}

#[test]
fn what_cannot_be_changed_safely_is_left_alone() {
    let inline = "[hooks]\nPreToolUse = [{ hooks = [{ type = \"command\", command = \"/a\" }] }]\n";
    for wrong in [inline, "hooks = 1\n", "features = []\n", "[hooks\n"] {
        let machine = Machine::new();
        machine.put(file(Host::Codex), wrong);
        let error = planned(&machine, &[Host::Codex]).unwrap_err();
        assert!(matches!(error, PlanError::NotUnderstood { .. }), "{wrong}: {error}");
        assert_eq!(machine.text(file(Host::Codex)), wrong);
    }
}

#[test]
fn hooks_in_both_places_are_told_of() {
    let machine = Machine::new();
    machine.init(&[Host::Codex]);
    let plan = planned(&machine, &[Host::Codex]).unwrap();
    assert!(plan.notes().iter().any(|it| it.text.contains("judged twice")));
}
