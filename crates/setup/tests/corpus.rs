//! Files as users have them: each is wired once, reads as it did but for ours, and comes back byte for byte.

use serde_json::{Value, json};
use setup::{Host, Wiring, codex_trust_hash, wiring};

use crate::support::{Machine, cases, corpus};

fn file(host: Host) -> &'static str {
    match host {
        Host::Claude => "home/.claude/settings.json",
        Host::Codex => "home/.codex/hooks.json",
        Host::Gemini => "home/.gemini/settings.json",
        Host::Cursor => "home/.cursor/hooks.json",
        Host::Copilot => "home/.copilot/hooks/lazaret.json",
        Host::OpenCode => "home/.config/opencode/plugins/lazaret.js",
    }
}

#[test]
fn every_settings_file_is_wired_once_and_comes_back() {
    for host in [Host::Claude, Host::Codex, Host::Gemini, Host::Cursor] {
        for (name, bytes) in cases(&format!("settings/{}", host.as_str())) {
            let machine = Machine::new();
            machine.put(file(host), &bytes);
            let before = machine.files();
            machine.init(&[host]);
            assert_eq!(wiring(&machine.around, host), Wiring::Wired, "{name}");
            assert!(machine.plan(&[host]).is_empty(), "{name}: a second time");
            assert!(machine.uninstall().is_complete(), "{name}");
            assert_eq!(machine.files(), before, "{name}: comes back");
        }
    }
}

/// The same files when somebody adds a line after us: ours goes, everything else stays as it was written.
#[test]
fn every_settings_file_is_cleaned_after_an_edit() {
    for host in [Host::Claude, Host::Codex, Host::Gemini, Host::Cursor] {
        for (name, bytes) in cases(&format!("settings/{}", host.as_str())) {
            let machine = Machine::new();
            machine.put(file(host), &bytes);
            machine.init(&[host]);
            let wired = machine.text(file(host));
            machine.put(file(host), format!("{wired}\n\n"));
            assert!(machine.uninstall().is_complete(), "{name}");
            let left = machine.text(file(host));
            assert!(!left.contains("lazaret-hook"), "{name}: {left}");
            let original = String::from_utf8(bytes).unwrap();
            let blank = |text: &str| text.split_whitespace().collect::<String>();
            // A list that switched our own hook off by name is the one thing that is not put back.
            let original = original.replace(", \"lazaret-BeforeTool\"", "");
            let original = if original.trim().is_empty() { "{}".to_owned() } else { original };
            assert_eq!(blank(&left), blank(&original), "{name}");
        }
    }
}

/// The trust in our hooks and the servers stand in the same file.
#[test]
fn every_configuration_of_codex_is_wired_once_and_comes_back() {
    const CONFIG: &str = "home/.codex/config.toml";
    for (name, bytes) in cases("settings/codex-config") {
        let machine = Machine::new();
        machine.put(CONFIG, &bytes);
        let before = machine.files();
        machine.init(&[Host::Codex]);
        assert_eq!(wiring(&machine.around, Host::Codex), Wiring::Wired, "{name}");
        assert!(machine.plan(&[Host::Codex]).is_empty(), "{name}: a second time");
        let wired = machine.text(CONFIG);
        let servers = wired.contains("\"--name\"");
        assert_eq!(servers, String::from_utf8_lossy(&bytes).contains("npx"), "{name}: {wired}");
        assert!(machine.uninstall().is_complete(), "{name}");
        assert_eq!(machine.files(), before, "{name}: comes back");

        // The same after somebody added something.
        machine.init(&[Host::Codex]);
        machine.put(CONFIG, machine.text(CONFIG) + "\n[added]\nby = \"me\"\n");
        assert!(machine.uninstall().is_complete(), "{name}");
        let left = machine.text(CONFIG);
        let meant = String::from_utf8(bytes).unwrap() + "\n[added]\nby = \"me\"\n";
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let same = plain(&left) == plain(&meant);
        assert!(same || lists_are_laid_out_anew(&name), "{name}:\n{left}\n---\n{meant}");
        assert!(!left.contains("lazaret"), "{name}: {left}");
    }
}

/// A list of arguments that was spread over lines, with a comment in it, comes back in one.
fn lists_are_laid_out_anew(name: &str) -> bool {
    name == "dotted-keys.toml"
}

#[test]
fn what_is_added_looks_like_what_is_there() {
    let machine = Machine::new();
    machine.put(file(Host::Claude), "{\n\t\"model\": \"opus\"\n}\n");
    machine.init(&[Host::Claude]);
    let text = machine.text(file(Host::Claude));
    assert!(
        text.starts_with("{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n")
    );
    assert!(text.ends_with("\n\t}\n}\n"), "{text}");

    machine.uninstall();
    machine.put(file(Host::Claude), "{\r\n  \"model\": \"opus\"\r\n}\r\n");
    machine.init(&[Host::Claude]);
    let text = machine.text(file(Host::Claude));
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());

    machine.uninstall();
    machine.put(file(Host::Claude), r#"{"model":"opus"}"#);
    machine.init(&[Host::Claude]);
    let text = machine.text(file(Host::Claude));
    assert_eq!(text.lines().count(), 1);
    assert!(text.starts_with(r#"{"model":"opus", "hooks": {"SessionStart":[{"hooks":[{"#));
}

#[test]
fn hooks_of_the_user_stay_first_and_as_they_were() {
    let machine = Machine::new();
    let original = std::fs::read(corpus("settings/claude/other-hooks.json")).unwrap();
    machine.put(file(Host::Claude), &original);
    machine.init(&[Host::Claude]);
    let value = machine.json(file(Host::Claude));
    let groups = value["hooks"]["PreToolUse"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0]["hooks"][0]["command"], "/usr/local/bin/check");
    assert_eq!(
        groups[1],
        json!({ "hooks": [{
            "type": "command", "command": machine.around.hook,
            "args": ["claude", "PreToolUse", "--home", machine.around.state],
            "timeout": 10, "onFailure": "block",
        }] })
    );
    assert_eq!(value["hooks"]["Notification"].as_array().unwrap().len(), 1);
}

#[test]
fn the_hash_of_codex_is_the_recorded_one() {
    let text = std::fs::read(corpus("codex-trust.json")).unwrap();
    let vectors: Vec<Value> = serde_json::from_slice(&text).unwrap();
    assert!(vectors.len() >= 6);
    for it in vectors {
        let event = it["event"].as_str().unwrap();
        let hash = codex_trust_hash(event, it["matcher"].as_str(), &it["handler"]);
        assert_eq!(hash, it["hash"].as_str().unwrap(), "{}", it["name"]);
    }
}
