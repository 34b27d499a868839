//! Which hosts are here, and whether they still work.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "test helpers; the settings of clippy cover only `#[test]` functions"
)]

use std::fs;

use serde_json::{Value, json};
use setup::{Evidence, Host, Wiring, find, wiring};

use crate::support::Machine;

fn why(machine: &Machine, host: Host) -> String {
    match wiring(&machine.around, host) {
        Wiring::Broken { why } => why,
        state @ (Wiring::NotInstalled | Wiring::Wired) => panic!("{state:?}"),
    }
}

fn edit(machine: &Machine, path: &str, change: impl FnOnce(&mut Value)) {
    let mut value = machine.json(path);
    change(&mut value);
    machine.put(path, serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn hosts_are_known_by_their_program_or_their_folder() {
    let machine = Machine::new();
    assert!(find(&machine.around).is_empty());
    machine.program("bin/codex");
    machine.put("bin/gemini", "no program");
    machine.put("home/.cursor/mcp.json", "{ nonsense");
    let found = find(&machine.around);
    let hosts: Vec<_> = found.iter().map(|it| it.host).collect();
    assert_eq!(hosts, [Host::Codex, Host::Cursor]);
    assert_eq!(found[0].evidence, [Evidence::Program(machine.at("bin/codex"))]);
    assert_eq!(found[1].evidence, [Evidence::Folder(machine.at("home/.cursor"))]);
    assert_eq!(found[1].problems.len(), 1, "a broken file is a problem and no end");
    assert!(found[1].problems[0].contains("mcp.json"));
}

#[test]
fn a_hook_that_is_gone_or_narrowed_is_seen() {
    let machine = Machine::new();
    machine.init(&Host::ALL);
    let settings = "home/.claude/settings.json";
    edit(&machine, settings, |it| it["hooks"]["PreToolUse"][0]["matcher"] = json!("Bash"));
    assert!(why(&machine, Host::Claude).contains("PreToolUse"));
    // Wiring again makes it whole, and does not leave a second one.
    machine.init(&[Host::Claude]);
    assert_eq!(wiring(&machine.around, Host::Claude), Wiring::Wired);
    assert_eq!(machine.json(settings)["hooks"]["PreToolUse"].as_array().unwrap().len(), 1);
    machine.put(settings, "{}");
    assert!(why(&machine, Host::Claude).contains("gone"));
    machine.put(
        "home/.config/opencode/plugins/lazaret.js",
        machine.text("home/.config/opencode/plugins/lazaret.js") + "//",
    );
    assert!(why(&machine, Host::OpenCode).contains("not the present one"));
    machine.put("home/.cursor/hooks.json", "{");
    assert!(why(&machine, Host::Cursor).contains("line 1"));
}

#[test]
fn a_hook_that_cannot_run_is_seen() {
    let machine = Machine::new();
    machine.init(&Host::ALL);
    fs::remove_file(&machine.around.hook).unwrap();
    for host in Host::ALL {
        assert!(why(&machine, host).contains("lazaret-hook"), "{host}");
    }
}

#[test]
fn hooks_that_are_switched_off_are_seen() {
    let machine = Machine::new();
    machine.init(&Host::ALL);
    edit(&machine, "home/.claude/settings.json", |it| it["disableAllHooks"] = json!(true));
    assert!(why(&machine, Host::Claude).contains("disableAllHooks"));
    machine.put("home/.copilot/settings.json", "// mine\n{\"disableAllHooks\": true}");
    assert!(why(&machine, Host::Copilot).contains("disableAllHooks"));
    let gemini = "home/.gemini/settings.json";
    edit(&machine, gemini, |it| it["hooksConfig"] = json!({ "disabled": ["lazaret-BeforeTool"] }));
    assert!(why(&machine, Host::Gemini).contains("lazaret-BeforeTool"));
    edit(&machine, gemini, |it| it["hooksConfig"] = json!({ "enabled": false }));
    assert!(why(&machine, Host::Gemini).contains("hooksConfig.enabled"));
    machine.init(&[Host::Gemini]);
    assert_eq!(wiring(&machine.around, Host::Gemini), Wiring::Wired);
}

#[test]
fn codex_skips_what_it_does_not_trust_and_we_see_it() {
    let machine = Machine::new();
    machine.init(&[Host::Codex]);
    assert_eq!(wiring(&machine.around, Host::Codex), Wiring::Wired);
    let trusted = machine.text("home/.codex/config.toml");
    machine.put("home/.codex/config.toml", "");
    assert!(why(&machine, Host::Codex).contains("does not trust"));
    machine.put("home/.codex/config.toml", trusted.replacen("sha256:", "sha256:0", 1));
    assert!(why(&machine, Host::Codex).contains("changed since"));
    machine.put("home/.codex/config.toml", format!("{trusted}enabled = false\n"));
    assert!(why(&machine, Host::Codex).contains("switched off"));
    machine.init(&[Host::Codex]);
    assert_eq!(wiring(&machine.around, Host::Codex), Wiring::Wired);
    machine.put("home/.codex/config.toml", format!("{trusted}\n[features]\nhooks = false\n"));
    assert!(why(&machine, Host::Codex).contains("features.hooks"));
    machine.init(&[Host::Codex]);
    assert_eq!(wiring(&machine.around, Host::Codex), Wiring::Wired);
    // Somebody else's group before ours gives ours another number.
    edit(&machine, "home/.codex/hooks.json", |it| {
        let mine = json!({ "hooks": [{ "type": "command", "command": "mine" }] });
        it["hooks"]["PreToolUse"].as_array_mut().unwrap().insert(0, mine);
    });
    assert!(why(&machine, Host::Codex).contains("pre_tool_use:1:0"));
    machine.init(&[Host::Codex]);
    assert_eq!(wiring(&machine.around, Host::Codex), Wiring::Wired);
}

#[test]
fn codex_may_know_its_folder_by_two_names() {
    let mut machine = Machine::new();
    fs::create_dir_all(machine.at("home/real")).unwrap();
    std::os::unix::fs::symlink("real", machine.at("home/named")).unwrap();
    let named = machine.at("home/named").to_string_lossy().into_owned();
    machine.around.env.insert("CODEX_HOME".to_owned(), named);
    machine.init(&[Host::Codex]);
    let config = machine.text("home/real/config.toml");
    for folder in ["home/named", "home/real"] {
        let key = format!("{}/hooks.json:stop:0:0", machine.at(folder).display());
        assert!(config.contains(&key), "{config}");
    }
}

#[test]
fn a_manifest_that_is_no_manifest_is_an_error_and_not_forgotten() {
    let machine = Machine::new();
    machine.init(&[Host::Claude]);
    machine.put("home/.lazaret/setup/manifest.json", "{\"version\": 9}");
    let error = setup::uninstall(&machine.around).unwrap_err();
    assert!(error.to_string().contains("manifest.json"), "{error}");
    assert!(machine.plan(&[Host::Cursor]).apply(1).is_err());
    assert!(!machine.at("home/.cursor").exists());
}
