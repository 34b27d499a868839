//! `lazaret exec` with the programs of known agents: a script stands for each of them, and says what it sees.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::program::Run as _;

use crate::doors_safety::{nested_agents, prompts};
use crate::mcp::server_file;
use crate::program::{LAZARET, lazaret};

/// A home in which an agent has been, a workspace and the state.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new(agent: &str, script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["work", "state", "home/.ssh", "home/.local/bin", "home/.codex", "home/.claude"]
        {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let place = Self { dir };
        place.put("home/.ssh/id_ed25519", "canary-key");
        place.put("home/.codex/auth.json", "codex-login");
        place.put("home/.claude/.credentials.json", "claude-login");
        place.put("home/.claude/settings.json", "claude-settings");
        place.put("home/.claude.json", "claude-state");
        let program = format!("home/.local/bin/{agent}");
        place.put(&program, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(place.at(&program), fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        files::resolved(self.dir.path()).unwrap().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn put(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "the program itself is tested")]
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(LAZARET);
        command.arg("exec").args(words).current_dir(self.at("work")).env_clear();
        let bin = self.at("home/.local/bin");
        let planted = self.at("work/bin");
        command.env("PATH", format!("{}:{}:/usr/bin:/bin", bin.display(), planted.display()));
        command.env("HOME", self.at("home")).env("LAZARET_HOME", self.at("state"));
        command.env("ANTHROPIC_API_KEY", "claude-key").env("SECRET_TOKEN", "canary-key");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    fn begun(&self) -> Value {
        let found =
            lazaret(self.at("state/exec"), &["evidence", "query", "--json"]).run().objects();
        let begun = found
            .into_iter()
            .find(|it| it.pointer("/record/meta/kind") == Some(&json!("exec_begin")));
        begun.unwrap().pointer("/record/payload/inline").unwrap().clone()
    }
}

#[test]
fn an_agent_finds_its_login_its_settings_and_its_sessions_and_nothing_of_others() {
    let script = r#"
        cat ~/.claude/.credentials.json ~/.claude/settings.json ~/.claude.json; echo
        cat ~/.ssh/id_ed25519 ~/.codex/auth.json 2>&1 | grep -c 'No such file'
        echo "key=$ANTHROPIC_API_KEY token=$SECRET_TOKEN updates=$DISABLE_AUTOUPDATER"
        printf renewed > ~/.claude/.credentials.json && echo renewed
        printf evil > ~/.claude/settings.json || echo kept
        mv ~/.claude/settings.json ~/.claude/gone 2>&1 | grep -c busy
        printf evil > ~/.claude.json.new && mv ~/.claude.json.new ~/.claude.json && cat ~/.claude.json && echo
        printf said > ~/.claude/projects/session && printf made > ~/.claude/made && echo made
        printf evil > ~/.claude/CLAUDE.md && printf evil > ~/.bashrc && echo forgotten
        ls -A ~
    "#;
    let place = Place::new("claude", script);
    let (code, out, err) = place.run(&["--", "claude"]);
    let lines: Vec<&str> = out.lines().collect();
    let expected = [
        "claude-loginclaude-settingsclaude-state",
        "2",
        "key=claude-key token= updates=1",
        "renewed",
        "kept",
        "1",
        "evil",
        "made",
        "forgotten",
    ];
    assert_eq!(lines.get(..expected.len()), Some(&expected[..]), "{out}{err}");
    assert_eq!(code, 0, "{err}");
    let seen: Vec<&str> = lines.into_iter().skip(expected.len()).collect();
    assert_eq!(seen, [".bashrc", ".claude", ".claude.json", ".local"], "{out}");
    assert!(err.contains("preset claude") && err.contains("--preset none"), "{err}");
    assert!(!err.contains("claude-key") && !err.contains("claude-login"), "{err}");
    // What lasts is the login and the session.
    assert_eq!(place.read("home/.claude/.credentials.json"), "renewed");
    assert_eq!(place.read("home/.claude/projects/session"), "said");
    assert_eq!(place.read("home/.claude/settings.json"), "claude-settings");
    assert_eq!(place.read("home/.claude.json"), "claude-state");
    for gone in [".claude/made", ".claude/CLAUDE.md", ".bashrc", ".claude/gone"] {
        assert!(!place.at("home").join(gone).exists(), "{gone}");
    }
    let begun = place.begun();
    let preset = &begun["preset"];
    assert_eq!(preset["name"], "claude", "{begun}");
    assert_eq!(preset["copy"], json!([place.at("home/.claude.json").display().to_string()]));
    assert!(preset["hosts"].as_array().unwrap().contains(&json!("api.anthropic.com")), "{begun}");
    assert!(preset["env"].as_array().unwrap().contains(&json!("ANTHROPIC_API_KEY")), "{begun}");
    assert!(!begun.to_string().contains("claude-key"), "{begun}");
}

#[test]
fn without_a_preset_nothing_is_given_and_nothing_is_said() {
    let script = "ls -A ~; echo \"key=$ANTHROPIC_API_KEY\"";
    let place = Place::new("claude", script);
    let bare = (0, ".local\nkey=\n".to_owned(), String::new());
    assert_eq!(place.run(&["--preset", "none", "--", "claude"]), bare);
    assert_eq!(place.begun()["preset"], Value::Null);
    let other = Place::new("my-agent", script);
    assert_eq!(other.run(&["--", "my-agent"]), bare);
    // Another program with the preset of a known one.
    let (code, out, err) = other.run(&["--preset", "claude", "--", "my-agent"]);
    assert_eq!(
        (code, out.as_str()),
        (0, ".claude\n.claude.json\n.local\nkey=claude-key\n"),
        "{err}"
    );
    let (code, _, err) = other.run(&["--preset", "emacs", "--", "my-agent"]);
    assert!(code == 2 && err.contains("opencode"), "{code} {err}");
}

#[test]
fn what_is_given_is_listed_and_links_are_not_followed() {
    let place = Place::new("claude", "cat ~/.claude/agents/x ~/.claude/skills/y");
    fs::create_dir_all(place.at("home/mine")).unwrap();
    place.put("home/mine/x", "canary-key");
    symlink(place.at("home/mine"), place.at("home/.claude/agents")).unwrap();
    symlink(place.at("home/.ssh"), place.at("home/.claude/skills")).unwrap();
    let (code, out, err) = place.run(&["--report", "--", "claude"]);
    assert_ne!(code, 0);
    assert!(!out.contains("canary"), "{out}");
    let credentials = place.at("home/.claude/.credentials.json");
    for line in [
        format!("given   write      {}", credentials.display()),
        "given   host       api.anthropic.com".to_owned(),
        "given   env        ANTHROPIC_API_KEY".to_owned(),
        "not     given      ~/.claude/agents: a link leads to it".to_owned(),
    ] {
        assert!(err.lines().any(|it| it == line), "{line}\n{err}");
    }
    let (_, _, err) = place.run(&["--report-json", "--", "claude"]);
    let line = err.lines().find(|it| it.starts_with('{')).unwrap();
    let told: Value = serde_json::from_str(line).unwrap();
    assert_eq!(told["preset"]["name"], "claude", "{told}");
    assert!(told["held"].is_object() || told["held"].is_array(), "{told}");
}

#[test]
fn whoever_wants_quiet_is_told_nothing_of_a_preset() {
    let place = Place::new("claude", "echo here");
    let said = place.run(&["--quiet", "--color", "never", "--", "claude"]);
    assert_eq!(said, (0, "here\n".to_owned(), String::new()));
}

/// The program of hooks, beside ours.
fn hook() -> PathBuf {
    files::resolved(&PathBuf::from(LAZARET).with_file_name("lazaret-hook")).unwrap()
}

#[test]
fn hooks_of_an_agent_in_its_cage_are_answered_by_the_daemon_outside() {
    let script = r#"
        command=$(sed -n 's/.*"command": *"\([^"]*\)".*/\1/p' ~/.claude/settings.json)
        call() {
            printf '{"session_id":"c1","cwd":"%s","transcript_path":"/x","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"%s","tool_input":{"command":"%s"}}' "$PWD" "$1" "$2" | sh -c "$command"
        }
        echo "passed=$(call t1 'ls -la')"
        call t2 'rm -rf --no-preserve-root /'; echo
        state=${command##*--home }
        ls -A $state
        mkdir $state/more 2>&1 | grep -c 'Read-only'
        mv $state $state-gone 2>&1 | grep -c busy
    "#;
    let place = Place::new("claude", script);
    let (hook, state) = (hook(), place.at("state"));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    let command = format!("{} claude PreToolUse --home {}", hook.display(), state.display());
    let hooks = json!({ "hooks": { "PreToolUse": [
        { "matcher": "", "hooks": [{ "type": "command", "command": command }] },
    ] } });
    place.put("home/.claude/settings.json", &hooks.to_string());
    let (code, out, err) = place.run(&["--", "claude"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.first(), Some(&"passed="), "{code} {out}{err}");
    let denied: Value = serde_json::from_str(lines.get(1).unwrap()).unwrap();
    let denied = denied.pointer("/hookSpecificOutput").unwrap();
    assert_eq!(denied["permissionDecision"], "deny", "{out}{err}");
    let reason = denied["permissionDecisionReason"].as_str().unwrap();
    assert!(!reason.contains("did not answer"), "{reason}");
    // The daemon's other socket and its journal are not there, and nothing can be put in the place of this one.
    assert_eq!(lines.get(2..), Some(&["doors.sock", "1", "1"][..]), "{out}{err}");
    let journal = lazaret(&state, &["evidence", "query", "--json"]).run().out;
    assert!(journal.contains("claude:c1") && journal.contains("no-preserve-root"), "{journal}");
    let is_line = |name: std::ffi::OsString| name.to_string_lossy().starts_with("line-");
    let left = fs::read_dir(state.join("exec")).unwrap();
    assert_eq!(left.filter(|it| is_line(it.as_ref().unwrap().file_name())).count(), 0);
    lazaret(&state, &["daemon", "stop"]).run();
}

#[test]
fn an_agent_that_is_started_in_the_cage_of_another_is_known_as_such() {
    let place = Place::new("claude", r#". "$PWD/script""#);
    let (hook, state) = (hook(), place.at("state"));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    let (hook, home) = (hook.display().to_string(), state.display().to_string());
    let command = format!("{hook} claude PreToolUse --home {home}");
    let hooks = json!({ "hooks": { "PreToolUse": [
        { "matcher": "", "hooks": [{ "type": "command", "command": command }] },
    ] } });
    place.put("home/.claude/settings.json", &hooks.to_string());
    let script = nested_agents(&place.at("work"));
    place.put("work/script", &format!("export HOOK={hook} STATE={home}\n{script}\n"));
    let (code, out, err) = place.run(&["--", "claude"]);
    let of = |it: &str| prompts(&state, it);
    let whose = [of("one"), of("below")];
    assert_eq!(whose, [vec!["USER", "TOOL"], vec!["TOOL"]], "{code} {out}{err}");
    lazaret(&state, &["daemon", "stop"]).run();
}

#[test]
fn servers_of_an_agent_in_its_cage_run_outside_behind_the_gateway() {
    let place = Place::new("claude", r#". "$PWD/script""#);
    let state = place.at("state");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    let (program, server) = (files::resolved(LAZARET.as_ref()).unwrap(), server_file("asking.py"));
    let (program, state_text) = (program.display().to_string(), state.display().to_string());
    let words = ["mcp", "--home", &*state_text, "--name", "tides", "--no-cage", "--", "python3"];
    let args = [&words[..], &["-B", &*server]].concat();
    let servers = json!({ "tides": { "command": program, "args": args } });
    place.put("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
    let line = format!("{program} {}", args.join(" "));
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    let script = format!(
        "ask() {{ echo '{hello}' | \"$@\" 2>&1; }}\nask {line}\nask {line} --more\ncat {server}\n"
    );
    place.put("work/script", &script);
    let (code, out, err) = place.run(&["--", "claude"]);
    let lines: Vec<&str> = out.lines().collect();
    let hello: Value = serde_json::from_str(lines.first().unwrap_or(&"")).unwrap_or_default();
    let told = "/result/serverInfo/name";
    assert_eq!(hello.pointer(told), Some(&json!("tides")), "{code} {out}{err}");
    // What it may start is a line of the configuration, and what runs outside is not seen inside.
    let rest = lines.get(1..).unwrap().join("\n");
    assert!(rest.contains("has no such server") && err.contains("No such file"), "{out}{err}");
    let begun = lazaret(&state, &["evidence", "query", "--json"]).run().out;
    assert!(begun.contains("mcp_lifecycle"), "{begun}");
    lazaret(&state, &["daemon", "stop"]).run();
}

#[test]
fn what_an_agent_can_change_decides_nothing_of_what_runs_outside() {
    let place = Place::new("claude", r#". "$PWD/script""#);
    let (state, work) = (place.at("state"), place.at("work"));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    let program = files::resolved(LAZARET.as_ref()).unwrap().display().to_string();
    let (state_text, work_text) = (state.display().to_string(), work.display().to_string());
    let (there, script) = (place.at("there"), format!("{work_text}/server.sh"));
    // The last one is started: where it is, and what it finds by its name, is written down.
    let tells =
        format!("(pwd; command -v planted || echo none) > {}; echo told >&2", there.display());
    let lines: [(&str, &[&str]); 6] = [
        ("script", &["--no-cage", "--", "sh", &script]),
        ("hidden", &["--no-cage", "--", "sh", "-c", &format!("cd '{work_text}' && ./server.sh")]),
        ("given", &["--env", "TOKEN", "--", "sh", &script]),
        ("beside", &["--", "./server.sh"]),
        ("loads", &["--no-cage", "--", "sh", "-c", "true"]),
        ("tells", &["--no-cage", "--", "sh", "-c", &tells]),
    ];
    let (mut servers, mut asks) = (json!({}), String::new());
    for (name, rest) in lines {
        let words = ["mcp", "--home", &*state_text, "--name", name];
        let args: Vec<&str> = words.iter().chain(rest).copied().collect();
        let quoted: Vec<String> = args.iter().map(|it| format!("\"{it}\"")).collect();
        asks += &format!("echo \"{name}: $({program} {} 2>&1 < /dev/null)\"\n", quoted.join(" "));
        let env = if name == "loads" { json!({ "ENV": script }) } else { json!({}) };
        servers[name] = json!({ "command": program, "args": args, "env": env });
    }
    place.put("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
    let plant = "printf '#!/bin/sh\ntouch ../escaped\n' | tee server.sh > bin/planted\nchmod +x server.sh bin/planted\n";
    place.put("work/script", &format!("mkdir bin\n{plant}{asks}"));
    let (code, out, err) = place.run(&["--", "claude"]);
    for (name, why) in [
        ("script", "what the agent can change"),
        ("hidden", "what the agent can change"),
        ("given", "what the agent can change"),
        ("beside", "the agent can change `./server.sh`"),
        ("loads", "what the agent can change"),
        ("tells", "told"),
    ] {
        let said = out.split(&format!("{name}: ")).nth(1).unwrap_or_default();
        let said = said.lines().take(2).collect::<Vec<_>>().join(" ");
        assert!(said.contains(why), "{name}: {said} ({code} {out}{err})");
    }
    let seen = place.read("there");
    assert!(!seen.contains(&work_text) && seen.ends_with("none\n"), "{seen}");
    assert!(!place.at("escaped").exists() && !place.at("work/../escaped").exists());
    // A configuration that lies in the workspace is the agent's.
    fs::rename(place.at("home/.claude.json"), place.at("home/own.json")).unwrap();
    fs::create_dir(place.at("home/proj")).unwrap();
    fs::rename(place.at("home/own.json"), place.at("home/proj/own.json")).unwrap();
    fs::rename(place.at("work/script"), place.at("home/proj/script")).unwrap();
    fs::remove_file(place.at("there")).unwrap();
    symlink(place.at("home/proj/own.json"), place.at("home/.claude.json")).unwrap();
    let proj = place.at("home/proj").display().to_string();
    let (code, out, err) = place.run(&["--dir", &proj, "--", "claude"]);
    assert_eq!(out.matches("lies where the agent can change it").count(), 6, "{code} {out}{err}");
    assert!(!place.at("there").exists());
    lazaret(&state, &["daemon", "stop"]).run();
}

/// A server on this machine that answers one request.
fn server() -> (u16, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.extend_from_slice(&byte);
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nmodel";
        stream.write_all(answer).unwrap();
        String::from_utf8(head).unwrap()
    });
    (port, heard)
}

#[test]
fn an_agent_reaches_its_api_alone_and_a_model_inside_where_the_operator_opened_it() {
    let place = Place::new("claude", r#"for it in "$@"; do curl -sS -m 20 "$it"; echo; done"#);
    let (port, heard) = server();
    let inside = format!("http://127.0.0.1:{port}/v1");
    let of = |words: &[&str]| {
        let (_, out, err) =
            place.run(&[words, &["--", "claude", "http://other.example/", &inside]].concat());
        let (first, second) = out.split_once('\n').unwrap();
        (first.to_owned(), second.trim().to_owned(), err)
    };
    let (other, closed, err) = of(&["--network"]);
    assert!(other.contains("net-not-allowed"), "{other}{err}");
    assert!(closed.contains("net-v4-loopback"), "{closed}{err}");
    assert!(err.contains("it reaches api.anthropic.com"), "{err}");
    // Open for the host, and still not for this agent.
    place.put(
        "state/config.yaml",
        &format!("egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n"),
    );
    let (_, closed, err) = of(&["--network"]);
    assert!(closed.contains("net-not-allowed"), "{closed}{err}");
    let allow = format!("http://127.0.0.1:{port}");
    let (other, open, err) = of(&["--network", "--allow", &allow]);
    assert!(other.contains("net-not-allowed"), "{other}{err}");
    assert_eq!(open, "model", "{err}");
    assert!(heard.join().unwrap().starts_with("GET /v1 HTTP/1.1"));
    let found = lazaret(place.at("state"), &["evidence", "query", "--json"]).run().objects();
    let opened = found
        .iter()
        .filter(|it| it.pointer("/record/payload/inline/opened_by") == Some(&json!("operator")));
    assert!(opened.count() > 0, "it is on record by whose word");
}
