//! What an earlier version installed: commands that do not name the state directory.
#![expect(
    clippy::unwrap_used,
    reason = "test helpers; the settings of clippy cover only `#[test]` functions"
)]

use std::fs;

use serde_json::{Value, json};
use setup::{Host, Options, Wiring, plan, wiring};

use crate::support::{Machine, corpus};

/// Each file that was made, and the file of the corpus that says what was in it.
const MADE: &[(&str, &str)] = &[
    ("home/.claude/settings.json", "claude-settings.json"),
    ("home/.codex/hooks.json", "codex-hooks.json"),
    ("home/.codex/config.toml", "codex-config.toml"),
    ("home/.gemini/settings.json", "gemini-settings.json"),
    ("home/.cursor/hooks.json", "cursor-hooks.json"),
    ("home/.copilot/hooks/lazaret.json", "copilot-lazaret.json"),
    ("home/.config/opencode/plugins/lazaret.js", "opencode-lazaret.js"),
];

/// A file of the corpus, of this machine.
fn of(machine: &Machine, folder: &str, name: &str) -> String {
    let text = fs::read_to_string(corpus(folder).join(name)).unwrap();
    let text = text.replace("/home/ada", &machine.at("home").to_string_lossy());
    text.replace("/opt/lazaret/bin", &machine.at("bin").to_string_lossy())
}

#[test]
fn hooks_without_a_state_directory_are_ours_and_replaced() {
    let machine = Machine::new();
    for (path, name) in MADE {
        // Codex's hashes are of other paths, and are made anew.
        machine.put(path, of(&machine, "earlier", name));
    }
    for host in Host::ALL {
        assert!(matches!(wiring(&machine.around, host), Wiring::Broken { .. }), "{host}");
    }
    machine.init(&Host::ALL);
    for host in Host::ALL {
        assert_eq!(wiring(&machine.around, host), Wiring::Wired, "{host}");
    }
    for (path, name) in MADE {
        let fresh = of(&machine, "fresh", name);
        if path.ends_with(".json") {
            assert_eq!(
                machine.json(path),
                serde_json::from_str::<Value>(&fresh).unwrap(),
                "{path}"
            );
        } else if path.ends_with(".js") {
            assert_eq!(machine.text(path), fresh);
        }
    }
    assert!(machine.plan(&Host::ALL).is_empty(), "a second time");
    assert!(machine.uninstall().is_complete());
    for (path, _) in MADE {
        let left = fs::read_to_string(machine.at(path)).unwrap_or_default();
        assert!(!left.contains("lazaret-hook"), "{path}: {left}");
    }
}

/// The trust in a hook of the earlier form is taken back, too.
#[test]
fn trust_in_hooks_without_a_state_directory_goes_with_them() {
    let mut machine = Machine::new();
    machine.around.hook = "/opt/lazaret/bin/lazaret-hook".into();
    for name in ["hooks.json", "config.toml"] {
        let text = fs::read_to_string(corpus("earlier").join(format!("codex-{name}"))).unwrap();
        let text = text.replace("/home/ada", &machine.at("home").to_string_lossy());
        machine.put(&format!("home/.codex/{name}"), text);
    }
    assert!(machine.uninstall().is_complete());
    assert!(!machine.at("home/.codex/hooks.json").exists());
    assert!(!machine.at("home/.codex/config.toml").exists());
}

#[test]
fn servers_that_went_through_without_a_state_directory_are_wrapped_anew() {
    let machine = Machine::new();
    let old = |rest: &[&str]| {
        let args: Vec<&str> = ["mcp", "--name", "a", "--"].iter().chain(rest).copied().collect();
        json!({ "command": machine.around.lazaret, "args": args, "env": { "K": "v" } })
    };
    let servers = json!({ "mcpServers": { "a": old(&["npx", "a"]) } });
    machine.put("home/.cursor/mcp.json", servers.to_string());
    let list = [&machine.around.lazaret.to_string_lossy(), "mcp", "--name", "b", "--", "srv"];
    let mcp = json!({ "mcp": { "b": { "type": "local", "command": list } } });
    machine.put("home/.config/opencode/opencode.json", mcp.to_string());
    machine.init(&[Host::Cursor, Host::OpenCode]);
    let home = &machine.around.state;
    let args =
        json!(["mcp", "--home", home, "--name", "a", "--no-cage", "--env", "K", "--", "npx", "a"]);
    assert_eq!(machine.json("home/.cursor/mcp.json")["mcpServers"]["a"]["args"], args);
    let lazaret = &machine.around.lazaret;
    let list = json!([lazaret, "mcp", "--home", home, "--name", "b", "--no-cage", "--", "srv"]);
    assert_eq!(machine.json("home/.config/opencode/opencode.json")["mcp"]["b"]["command"], list);
    assert!(machine.plan(&[Host::Cursor, Host::OpenCode]).is_empty());
    machine.uninstall();
    let left = machine.json("home/.cursor/mcp.json");
    assert_eq!(left["mcpServers"]["a"]["args"], json!(["a"]));
    assert_eq!(left["mcpServers"]["a"]["command"], "npx");
}

/// Servers go into cages and out of them by `init` alone; what a user wrote into the line stays.
#[test]
fn cages_are_written_when_they_are_asked_for() {
    let machine = Machine::new();
    let file = "home/.cursor/mcp.json";
    machine.put(file, json!({ "mcpServers": { "a": { "command": "srv" } } }).to_string());
    let args = || machine.json(file)["mcpServers"]["a"]["args"].clone();
    let home = machine.around.state.clone();
    let wire = |cage: bool| {
        let options = Options { cage, ..Options::default() };
        let planned = plan(&machine.around, &[Host::Cursor], &options).unwrap();
        planned.apply(1).unwrap();
    };
    wire(true);
    assert_eq!(args(), json!(["mcp", "--home", home, "--name", "a", "--", "srv"]));
    wire(false);
    assert_eq!(args(), json!(["mcp", "--home", home, "--name", "a", "--no-cage", "--", "srv"]));
    let own = json!(["mcp", "--home", home, "--name", "a", "--network", "a.example", "--", "srv"]);
    let mut value = machine.json(file);
    value["mcpServers"]["a"]["args"] = own.clone();
    machine.put(file, value.to_string());
    wire(false);
    assert_eq!(args(), own, "a line of the user's own");
}

/// A variable that is added later passes at the next `init`; another state directory replaces the first.
#[test]
fn wiring_again_follows_what_changed() {
    let mut machine = Machine::new();
    let file = "home/.cursor/mcp.json";
    machine.put(file, json!({ "mcpServers": { "a": { "command": "srv" } } }).to_string());
    machine.init(&[Host::Cursor]);
    let mut value = machine.json(file);
    value["mcpServers"]["a"]["env"] = json!({ "NEW": "1" });
    machine.put(file, value.to_string());
    machine.init(&[Host::Cursor]);
    let args = machine.json(file)["mcpServers"]["a"]["args"].clone();
    let home = machine.around.state.clone();
    let expected =
        json!(["mcp", "--home", home, "--name", "a", "--no-cage", "--env", "NEW", "--", "srv"]);
    assert_eq!(args, expected);
    machine.around.state = machine.at("home/second");
    assert!(matches!(wiring(&machine.around, Host::Cursor), Wiring::Broken { .. }));
    machine.init(&[Host::Cursor]);
    let hooks = machine.json("home/.cursor/hooks.json");
    assert_eq!(hooks["hooks"]["stop"].as_array().unwrap().len(), 1);
    assert!(!machine.text("home/.cursor/hooks.json").contains("/.lazaret"));
    assert!(!machine.text(file).contains("/.lazaret"));
}
