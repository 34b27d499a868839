//! What a person is shown before anything is changed.

use setup::Host;

use crate::support::Machine;

const CLAUDE_STATE: &str = r#"{
  "oauthAccount": { "emailAddress": "do-not-show-1" },
  "mcpServers": {
    "a": {
      "command": "npx",
      "args": ["a", "--api-key", "do-not-show-2", "--token=do-not-show-3", "--verbose"],
      "env": { "A_KEY": "do-not-show-4", "B": "do-not-show-5" }
    },
    "b": { "type": "http", "url": "https://mcp.example/b?tenant=do-not-show-6" },
    "c": { "type": "http", "url": "https://mcp.example/c", "headers": { "X": "do-not-show-7" } }
  }
}
"#;

const CODEX_CONFIG: &str = r#"
[mcp_servers.a]
command = "npx"
args = ["a", "--secret", "do-not-show-1"]
env = { A_KEY = "do-not-show-2" }
[mcp_servers.a.http_headers]
X = "do-not-show-3"
"#;

#[test]
fn the_diff_shows_every_change_and_no_secret() {
    let machine = Machine::new();
    machine.put("home/.claude.json", CLAUDE_STATE);
    machine.put("home/.codex/config.toml", CODEX_CONFIG);
    let plan = machine.plan(&Host::ALL);
    let diff = plan.diff();
    assert!(!format!("{plan:?}").contains("do-not-show"));
    assert!(!diff.contains("do-not-show"), "{diff}");
    for change in plan.changes() {
        assert!(diff.contains(&format!("+++ {}\n", change.path.display())), "{diff}");
    }
    assert!(diff.contains("--- /dev/null\n"));
    assert!(diff.contains("-      \"command\": \"npx\",\n"), "{diff}");
    assert!(diff.contains("+        \"--name\",\n"), "{diff}");
    assert!(diff.contains("\"A_KEY\": \"…\""), "{diff}");
    assert!(diff.contains("--verbose"), "{diff}");
}

#[test]
fn a_long_line_is_cut() {
    let machine = Machine::new();
    let long = "x".repeat(100_000);
    machine.put("home/.claude/settings.json", format!("{{\"model\":\"{long}\"}}"));
    let diff = machine.plan(&[Host::Claude]).diff();
    assert!(diff.len() < 2_000 && diff.contains('…'));
}

#[test]
fn a_plan_changes_nothing() {
    let machine = Machine::new();
    machine.put("home/.claude.json", CLAUDE_STATE);
    let before = machine.files();
    let _ = machine.plan(&Host::ALL).diff();
    assert_eq!(machine.files(), before);
}

#[test]
fn notes_say_what_a_host_does_not_show() {
    let machine = Machine::new();
    machine.put("home/.claude/settings.json", "{\"disableAllHooks\": true}");
    let plan = machine.plan(&Host::ALL);
    let has = |host: Host, word: &str| {
        plan.notes().iter().any(|it| it.host == host && it.text.contains(word))
    };
    assert!(
        has(Host::Claude, "@") && has(Host::Claude, "managed settings are firmer")
            || has(Host::Claude, "firmer")
    );
    assert!(has(Host::Claude, "disableAllHooks` is true"));
    assert!(has(Host::Codex, "write_stdin"));
    assert!(has(Host::OpenCode, "npm"));
    for host in Host::ALL {
        assert!(plan.notes().iter().any(|it| it.host == host), "{host}");
    }
}
