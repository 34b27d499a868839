//! MCP servers of every host go through the gateway, and come out of it again.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; the settings of clippy cover only `#[test]` functions"
)]

use serde_json::json;
use setup::{Host, Options, Reached, find, plan};

use crate::support::{Machine, outcome};

const CLAUDE: &str = r#"{
  "numStartups": 7,
  "mcpServers": {
    "files": { "type": "stdio", "command": "npx", "args": ["-y", "files"], "env": { "K": "v", "L": "w" } },
    "bare": { "command": "bare-server" },
    "web": { "type": "http", "url": "https://mcp.example/mcp" },
    "signed": { "type": "http", "url": "https://mcp.example/s", "headers": { "Authorization": "x" } },
    "kept": { "type": "http", "url": "https://mcp.example/k", "headers": { "Authorization": "Bearer vault:K" }, "timeout": 9 },
    "old": { "type": "sse", "url": "https://mcp.example/sse" },
    "by-hand-web": { "command": "lazaret", "args": ["mcp", "--url", "https://mcp.example/h"] },
    "both": { "command": "x", "url": "https://mcp.example/b" },
    "none": { "type": "stdio" },
    "by-hand": { "command": "lazaret", "args": ["mcp", "--cage", "--", "x"] },
    "pretends": { "command": "./lazaret", "args": ["mcp", "--cage", "--", "x"] },
    "-dash": { "command": "x" },
    "dash-env": { "command": "x", "env": { "-K": "v" } },
    "env-file": { "command": "x", "envFile": ".env" },
    "odd": { "command": "x", "args": [1] }
  },
  "projects": {
    "/srv/p": { "mcpServers": { "local": { "command": "./server", "args": [] } }, "history": [] }
  }
}
"#;

fn wrapped(machine: &Machine, name: &str, behind: &[&str]) -> serde_json::Value {
    let home = machine.around.state.to_str().unwrap();
    let args = ["mcp", "--home", home, "--name", name];
    // What has an address runs elsewhere: there is nothing to put into a cage.
    let cage = (behind.first() != Some(&"--url")).then_some("--no-cage");
    let args: Vec<&str> = args.iter().chain(&cage).chain(behind).copied().collect();
    json!([machine.around.lazaret, args])
}

fn line(server: &serde_json::Value) -> serde_json::Value {
    json!([server["command"], server["args"]])
}

#[test]
fn servers_of_claude_code_are_wrapped_or_left_with_a_reason() {
    let machine = Machine::new();
    machine.put("home/.claude.json", CLAUDE);
    let plan = machine.plan(&[Host::Claude]);
    let left = |name: &str| {
        let text = format!("the MCP server `{name}` in");
        plan.notes().iter().find(|it| it.text.starts_with(&text)).map(|it| it.text.clone())
    };
    for (name, why) in [
        ("signed", "write `vault:NAME` in their place"),
        ("old", "transport `sse`"),
        ("by-hand-web", "form of its own"),
        ("both", "both"),
        ("none", "neither"),
        ("by-hand", "form of its own"),
        ("-dash", "dash"),
        ("dash-env", "dash"),
        ("env-file", "file"),
        ("odd", "texts"),
    ] {
        assert!(left(name).unwrap().contains(why), "{name}");
    }
    assert!(["files", "bare", "pretends", "local", "web"].iter().all(|it| left(it).is_none()));
    let login = "`lazaret mcp login web --url https://mcp.example/mcp`";
    assert!(plan.notes().iter().any(|it| it.text.contains(login)));
    machine.init(&[Host::Claude]);
    let value = machine.json("home/.claude.json");
    let servers = &value["mcpServers"];
    let behind = ["--env", "K", "--env", "L", "--", "npx", "-y", "files"];
    assert_eq!(line(&servers["files"]), wrapped(&machine, "files", &behind));
    assert_eq!(servers["files"]["env"], json!({ "K": "v", "L": "w" }));
    assert_eq!(line(&servers["bare"]), wrapped(&machine, "bare", &["--", "bare-server"]));
    let behind = ["--url", "https://mcp.example/mcp"];
    assert_eq!(line(&servers["web"]), wrapped(&machine, "web", &behind));
    assert_eq!((&servers["web"]["type"], servers["web"].get("url")), (&json!("stdio"), None));
    let behind = ["--url", "https://mcp.example/k", "--header", "Authorization: Bearer vault:K"];
    assert_eq!(line(&servers["kept"]), wrapped(&machine, "kept", &behind));
    assert_eq!((&servers["kept"]["timeout"], servers["kept"].get("headers")), (&json!(9), None));
    let behind = ["--", "./lazaret", "mcp", "--cage", "--", "x"];
    assert_eq!(line(&servers["pretends"]), wrapped(&machine, "pretends", &behind));
    let local = &value["projects"]["/srv/p"]["mcpServers"]["local"];
    assert_eq!(line(local), wrapped(&machine, "local", &["--", "./server"]));
    let original: serde_json::Value = serde_json::from_str(CLAUDE).unwrap();
    for name in [
        "old",
        "by-hand-web",
        "signed",
        "both",
        "none",
        "by-hand",
        "-dash",
        "dash-env",
        "env-file",
        "odd",
    ] {
        assert_eq!(servers[name], original["mcpServers"][name], "{name}");
    }
    assert!(machine.plan(&[Host::Claude]).is_empty());
    machine.uninstall();
    assert_eq!(machine.text("home/.claude.json"), CLAUDE);
}

/// Claude Code writes this file all the time.
#[test]
fn a_file_that_its_program_rewrote_is_unwrapped() {
    let machine = Machine::new();
    machine.put("home/.claude.json", CLAUDE);
    machine.init(&[Host::Claude]);
    let mut value = machine.json("home/.claude.json");
    value["numStartups"] = json!(8);
    machine.put("home/.claude.json", serde_json::to_string(&value).unwrap());
    assert_eq!(*outcome(&machine.uninstall(), ".claude.json"), setup::Outcome::Cleaned);
    let mut original: serde_json::Value = serde_json::from_str(CLAUDE).unwrap();
    original["numStartups"] = json!(8);
    assert_eq!(machine.json("home/.claude.json"), original);
}

#[test]
fn servers_of_codex_keep_what_stands_around_them() {
    let machine = Machine::new();
    let config = r#"# mine
model = "o" # the best

[mcp_servers.files] # files
command = "npx" # node
args = ["-y", "files"]
startup_timeout_sec = 20
env_vars = ["TOKEN", "K"]
[mcp_servers.files.env]
K = "v"

[mcp_servers.web]
url = "https://mcp.example/mcp"

[mcp_servers.signed]
url = "https://mcp.example/s"
bearer_token_env_var = "TOKEN"

[features]
hooks = false
"#;
    machine.put("home/.codex/config.toml", config);
    let plan = machine.plan(&[Host::Codex]);
    assert!(plan.notes().iter().any(|it| it.text.contains("`signed`")));
    machine.init(&[Host::Codex]);
    let text = machine.text("home/.codex/config.toml");
    let lazaret = machine.around.lazaret.display();
    assert!(text.contains(&format!("command = \"{lazaret}\" # node\n")), "{text}");
    let home = machine.around.state.display();
    let args = format!(
        r#"args = ["mcp", "--home", "{home}", "--name", "files", "--no-cage", "--env", "K", "--env", "TOKEN", "--", "npx", "-y", "files"]"#
    );
    assert!(text.contains(&args), "{text}");
    let args = format!(
        r#"args = ["mcp", "--home", "{home}", "--name", "web", "--url", "https://mcp.example/mcp"]"#
    );
    assert!(text.contains(&args) && !text.contains("url = \"https://mcp.example/mcp\""), "{text}");
    assert!(text.contains("[mcp_servers.signed]\nurl = "), "{text}");
    assert!(text.contains("[features]\nhooks = true\n"), "{text}");
    assert!(text.starts_with("# mine\nmodel = \"o\" # the best\n\n[mcp_servers.files] # files\n"));
    assert!(machine.plan(&[Host::Codex]).is_empty());

    machine.put("home/.codex/config.toml", format!("{text}\n[tui]\nx = 1\n"));
    machine.uninstall();
    let left = machine.text("home/.codex/config.toml");
    assert_eq!(left.trim_end(), format!("{config}\n[tui]\nx = 1"), "{left}");
}

#[test]
fn servers_of_the_other_hosts() {
    let mut machine = Machine::new();
    machine.around.project = Some(machine.at("home/src/p"));
    machine.put("home/.gemini/settings.json", r#"{"mcpServers": {"a": {"command": "srv", "timeout": 5}, "b": {"httpUrl": "https://e.example/m"}}}"#);
    machine.put(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "srv", "args": ["1"]}}}"#,
    );
    machine.put(
        "home/.copilot/mcp-config.json",
        r#"{"mcpServers": {"a": {"type": "local", "command": "srv", "args": [], "env": {"K": "$K"}, "tools": ["*"]}}}"#,
    );
    machine.put("home/.config/opencode/opencode.jsonc", "{\n  // mine\n  \"mcp\": {\n    \"a\": { \"type\": \"local\", \"command\": [\"srv\", \"1\"], \"environment\": {\"K\": \"v\"}, \"enabled\": true },\n    \"b\": { \"type\": \"remote\", \"url\": \"https://e.example/m\" }\n  }\n}\n");
    machine.put("home/src/p/.mcp.json", r#"{"mcpServers": {"a": {"command": "srv"}}}"#);
    let before = machine.files();
    let planned =
        plan(&machine.around, &Host::ALL, &Options { hooks: false, ..Options::default() }).unwrap();
    assert!(planned.notes().iter().any(|it| it.text.contains("belongs to the project")));
    planned.apply(1).unwrap();

    let gemini = machine.json("home/.gemini/settings.json");
    assert_eq!(line(&gemini["mcpServers"]["a"]), wrapped(&machine, "a", &["--", "srv"]));
    assert_eq!(gemini["mcpServers"]["a"]["timeout"], 5);
    let behind = ["--url", "https://e.example/m"];
    assert_eq!(line(&gemini["mcpServers"]["b"]), wrapped(&machine, "b", &behind));
    let cursor = machine.json("home/.cursor/mcp.json");
    assert_eq!(line(&cursor["mcpServers"]["a"]), wrapped(&machine, "a", &["--", "srv", "1"]));
    let copilot = machine.json("home/.copilot/mcp-config.json");
    let behind = ["--env", "K", "--", "srv"];
    assert_eq!(line(&copilot["mcpServers"]["a"]), wrapped(&machine, "a", &behind));
    assert_eq!(copilot["mcpServers"]["a"]["tools"], json!(["*"]));
    let opencode = machine.text("home/.config/opencode/opencode.jsonc");
    assert!(opencode.contains("// mine") && opencode.contains("\"enabled\": true"), "{opencode}");
    let lazaret = machine.around.lazaret.display();
    let home = machine.around.state.display();
    let command = format!(
        r#""command": ["{lazaret}","mcp","--home","{home}","--name","a","--no-cage","--env","K","--","srv","1"]"#
    );
    assert!(opencode.contains(&command), "{opencode}");
    assert_eq!(opencode.matches("--home").count(), 2, "{opencode}");
    let project = machine.json("home/src/p/.mcp.json");
    assert_eq!(line(&project["mcpServers"]["a"]), wrapped(&machine, "a", &["--", "srv"]));
    machine.uninstall();
    assert_eq!(machine.files(), before);
}

#[test]
fn found_servers_say_how_they_are_reached_and_keep_their_secrets() {
    let machine = Machine::new();
    machine.put("home/.claude.json", CLAUDE);
    machine.put("home/.claude/x", "");
    let found = find(&machine.around);
    let [claude] = found.as_slice() else { panic!("{found:?}") };
    let server = |name: &str| claude.servers.iter().find(|it| it.name == name).unwrap();
    assert_eq!(claude.servers.len(), 16);
    assert_eq!(
        server("files").reached,
        Reached::Command {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), "files".to_owned()],
            env: vec!["K".to_owned(), "L".to_owned()],
        }
    );
    assert_eq!(server("web").reached, Reached::Url("https://mcp.example/mcp".to_owned()));
    assert_eq!(server("odd").reached, Reached::Unknown);
    let wrapped = claude.servers.iter().filter(|it| it.is_wrapped);
    assert_eq!(wrapped.map(|it| it.name.as_str()).collect::<Vec<_>>(), ["by-hand-web", "by-hand"]);
    machine.init(&[Host::Claude]);
    let found = find(&machine.around);
    assert_eq!(found[0].servers.iter().filter(|it| it.is_wrapped).count(), 8);
}
