//! A machine without any settings: what is written, to the letter.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; the settings of clippy cover only `#[test]` functions"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use setup::{Host, Wiring, codex_trust_hash, wiring};

use crate::support::{Machine, corpus};

/// Each file that is made, and the file of the corpus that says what is in it.
const MADE: &[(Host, &str, &str)] = &[
    (Host::Claude, "home/.claude/settings.json", "claude-settings.json"),
    (Host::Codex, "home/.codex/hooks.json", "codex-hooks.json"),
    (Host::Codex, "home/.codex/config.toml", "codex-config.toml"),
    (Host::Gemini, "home/.gemini/settings.json", "gemini-settings.json"),
    (Host::Cursor, "home/.cursor/hooks.json", "cursor-hooks.json"),
    (Host::Copilot, "home/.copilot/hooks/lazaret.json", "copilot-lazaret.json"),
    (Host::OpenCode, "home/.config/opencode/plugins/lazaret.js", "opencode-lazaret.js"),
];

#[test]
fn every_host_gets_exactly_these_files() {
    let mut machine = Machine::new();
    machine.around.hook = "/opt/lazaret/bin/lazaret-hook".into();
    let before = machine.files();
    let applied = machine.init(&Host::ALL);
    assert_eq!(applied.written.len(), MADE.len());
    for (_, path, golden) in MADE {
        let text = unhashed(&machine, machine.text(path));
        let text = text.replace(&*machine.at("home").to_string_lossy(), "/home/ada");
        let wanted = fs::read_to_string(corpus("fresh").join(golden)).unwrap();
        assert_eq!(text, wanted, "{golden}");
        let mode = fs::metadata(machine.at(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path}");
    }
    assert!(machine.plan(&Host::ALL).is_empty());
    assert!(machine.uninstall().is_complete());
    assert_eq!(machine.files(), before, "folders that were made are gone, too");
}

/// The hashes by which Codex trusts our hooks cover the state directory, which is another one in every test: each must
/// be that of its event.
fn unhashed(machine: &Machine, mut text: String) -> String {
    let hooks = machine.json("home/.codex/hooks.json");
    for (event, groups) in hooks["hooks"].as_object().unwrap() {
        let hash = codex_trust_hash(event, None, &groups[0]["hooks"][0]);
        text = text.replace(&hash, &format!("hash of {event}"));
    }
    text
}

#[test]
fn only_the_hosts_that_were_named_are_wired() {
    let machine = Machine::new();
    machine.init(&[Host::Cursor]);
    for host in Host::ALL {
        let wanted = if host == Host::Cursor { Wiring::Wired } else { Wiring::NotInstalled };
        assert_eq!(wiring(&machine.around, host), wanted, "{host}");
    }
}

#[test]
fn a_path_with_blanks_is_one_word() {
    let mut machine = Machine::new();
    machine.program("it's here/lazaret-hook");
    machine.around.hook = machine.at("it's here/lazaret-hook");
    machine.around.state = machine.at("home/my state");
    machine.init(&Host::ALL);
    for host in Host::ALL {
        assert_eq!(wiring(&machine.around, host), Wiring::Wired, "{host}");
    }
    let hooks = machine.json("home/.codex/hooks.json");
    let command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.contains(r"/it'\''s here/lazaret-hook' codex Stop --home "), "{command}");
    assert!(command.ends_with("/home/my state'"), "{command}");
    assert!(machine.plan(&Host::ALL).is_empty());
}

/// What it does is in `plugin.rs`.
#[test]
fn the_plugin_names_the_hook_and_imports_nothing_of_npm() {
    let mut machine = Machine::new();
    machine.around.hook = "/opt/a \"b\"\\c/lazaret-hook".into();
    machine.init(&[Host::OpenCode]);
    let text = machine.text("home/.config/opencode/plugins/lazaret.js");
    assert!(text.contains(r#"const HOOK = "/opt/a \"b\"\\c/lazaret-hook""#));
    assert!(text.contains(&format!("const HOME = \"{}\"\n", machine.around.state.display())));
    let imports: Vec<_> = text.lines().filter(|it| it.contains("import ")).collect();
    assert_eq!(imports, ["import { spawn } from \"node:child_process\""]);
    assert_eq!(text.matches("export ").count(), 1, "every export is called as a plugin");
}
