//! Servers of programs that are not wired are told of, and their files stay as they are.

use setup::{Host, unguarded};

use crate::support::Machine;

#[test]
fn servers_that_no_gate_guards_are_told_of_by_program_and_name() {
    let mut machine = Machine::new();
    machine.around.project = Some(machine.at("home/project"));
    let lazaret = machine.around.lazaret.display().to_string();
    machine.put(
        "home/.config/Claude/claude_desktop_config.json",
        format!(
            r#"{{ "mcpServers": {{
                "open": {{ "command": "npx", "args": ["-y", "a"], "env": {{ "KEY": "do-not-show" }} }},
                "guarded": {{ "command": "{lazaret}", "args": ["mcp", "--name", "b", "--", "npx", "b"] }}
            }} }}"#
        ),
    );
    machine.put(
        "home/.config/Code/User/settings.json",
        "{ // comments are read\n \"mcp\": { \"servers\": { \"code\": { \"url\": \"https://a.example/?t=do-not-show\" } } } }",
    );
    machine.put("home/project/.vscode/mcp.json", r#"{ "servers": { "shared": {} } }"#);
    machine.put("home/.codeium/windsurf/mcp_config.json", "{ \"mcpServers\": ");
    machine.put(
        "home/.config/zed/settings.json",
        format!(
            r#"{{ "context_servers": {{
                "z": {{ "command": {{ "path": "uvx", "args": ["z"] }} }},
                "wrapped": {{ "command": {{ "path": "{lazaret}", "args": ["mcp", "--name", "w", "--", "uvx", "w"] }} }}
            }} }}"#
        ),
    );
    let before = machine.files();
    let found = unguarded(&machine.around);
    assert!(!format!("{found:?}").contains("do-not-show"));
    let told: Vec<(&str, Vec<String>)> =
        found.iter().filter_map(|it| Some((it.program, it.servers.clone().ok()?))).collect();
    let one = |name: &str| vec![name.to_owned()];
    assert_eq!(
        told,
        [
            ("Claude Desktop", one("open")),
            ("VS Code", one("code")),
            ("VS Code", one("shared")),
            ("Zed", one("z")),
        ]
    );
    let broken = found.iter().find(|it| it.program == "Windsurf").unwrap();
    assert!(broken.servers.is_err());
    // None of them is a host that we wire.
    machine.init(&Host::ALL);
    let after = machine.files();
    assert!(
        before
            .iter()
            .filter(|it| !it.0.starts_with("home/.lazaret"))
            .all(|it| { after.get(it.0) == Some(it.1) })
    );
}
