//! Every captured input is understood, and what is made of it stands in a golden file.
#![expect(clippy::wildcard_enum_match_arm, reason = "helpers of tests")]

use crate::world::{assert_golden, canonical_text, captured, seen};
use hooks::{Event, Host, Kind, McpTool, ReadError, Seen, ToolUse, dialect, read};

#[test]
fn every_captured_input_is_understood_as_written_down() {
    let mut lines = Vec::new();
    for it in captured() {
        let seen =
            read(it.host, &it.event, &it.bytes).unwrap_or_else(|e| panic!("{}: {e}", it.name));
        lines.push(format!("{}/{} {}", it.host, it.name, shown(&seen)));
    }
    assert_golden("seen.txt", &lines);
}

fn shown(seen: &Seen) -> String {
    let event = event_shown(&seen.event);
    let who = format!("{:?} {:?}", seen.subagent, seen.parent_agent);
    format!("{} {who} {} {event}", seen.session, seen.cwd.as_deref().unwrap_or("-"))
}

fn event_shown(event: &Event) -> String {
    match event {
        Event::Before(tool) => format!("before {}", tool_shown(tool)),
        Event::Permission(tool) => format!("permission {}", tool_shown(tool)),
        Event::After { tool, output, failed, .. } => {
            let begins: String = canonical_text(output).chars().take(60).collect();
            format!("after {} failed={failed} {begins:?}", tool_shown(tool))
        }
        Event::Prompt { text, is_others: false } => format!("Prompt {{ text: {text:?} }}"),
        Event::Batch { calls } => {
            let calls: Vec<String> = calls.iter().map(event_shown).collect();
            format!("batch [{}]", calls.join("; "))
        }
        other => format!("{other:?}"),
    }
}

fn tool_shown(tool: &ToolUse) -> String {
    let mut args: Vec<&str> = tool.args.keys().map(String::as_str).collect();
    args.sort_unstable();
    let mcp = tool.mcp.as_ref().map(|it| format!("{}:{}", it.server, it.tool));
    format!("{} ({}) id={:?} mcp={mcp:?}", tool.name, args.join(","), tool.id)
}

#[test]
fn every_kind_of_event_that_matters_was_captured_for_every_host() {
    let all = captured();
    for host in Host::ALL {
        for kind in [Kind::Before, Kind::After, Kind::Prompt, Kind::SessionStart] {
            let has = |it: &&crate::world::Captured| {
                it.host == host && dialect(host).kind(&it.event) == Some(kind)
            };
            assert!(all.iter().any(|it| has(&it)), "{host} {kind:?}");
        }
    }
}

#[test]
fn tools_of_mcp_servers_are_told_apart() {
    let probe = |tool: &str| Some(McpTool { server: "probe".into(), tool: tool.into() });
    for (host, name, tool) in [
        (Host::Claude, "PreToolUse@mcp-basic.002-mcp__probe__echo.json", "echo"),
        (Host::Claude, "PostToolUseFailure@mcp-basic.009-mcp__probe__fail.json", "fail"),
        (Host::Codex, "PreToolUse@mcp-basic.004-mcp__probe__note.json", "note"),
        (Host::Gemini, "AfterTool@mcp-basic.003-mcp_probe_echo.json", "echo"),
        (Host::Copilot, "preToolUse@mcp-basic.002-probe-echo.json", "echo"),
        (Host::Copilot, "permissionRequest@mcp-basic.003-probe_echo.json", "echo"),
        (Host::OpenCode, "tool.execute.before@mcp.json", "echo"),
    ] {
        let seen = seen(host, name);
        assert_eq!(seen.event.tool().unwrap().mcp, probe(tool), "{name}");
    }
}

#[test]
fn names_of_servers_that_hold_the_separator() {
    let claude = |server: &str, name: &str| {
        let input = format!(
            r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"{name}","tool_input":{{}},"mcp_server":{{"name":"{server}"}}}}"#
        );
        let seen = read(Host::Claude, "PreToolUse", input.as_bytes()).unwrap();
        let mcp = seen.event.tool().unwrap().mcp.clone().unwrap();
        (mcp.server, mcp.tool)
    };
    assert_eq!(claude("my__db", "mcp__my__db__query"), ("my__db".into(), "query".into()));
    assert_eq!(claude("a b.c", "mcp__a_b_c__x__y"), ("a b.c".into(), "x__y".into()));
    // A name that does not fit is not believed.
    assert_eq!(claude("other", "mcp__evil__x"), ("evil".into(), "x".into()));
    let copilot = |name: &str| {
        let input = format!(r#"{{"sessionId":"s","toolName":"{name}","toolArgs":{{}}}}"#);
        let seen = read(Host::Copilot, "preToolUse", input.as_bytes()).unwrap();
        seen.event.tool().unwrap().mcp.clone().map(|it| (it.server, it.tool))
    };
    let github = Some(("github-mcp-server".into(), "list_issues".into()));
    assert_eq!(copilot("github-mcp-server-list_issues"), github);
    assert_eq!(copilot("docs-resolve-id"), Some(("docs".into(), "resolve-id".into())));
    for built_in in ["bash", "write_bash", "web_fetch", "Bash"] {
        assert_eq!(copilot(built_in), None, "{built_in}");
    }
}

#[test]
fn a_prompt_that_its_host_says_is_somebody_elses_is_not_the_users() {
    let is_others = |host: Host, source: &str| {
        let input = format!(
            r#"{{"session_id":"s","cwd":"/x","hook_event_name":"UserPromptSubmit","prompt":"go on"{source}}}"#
        );
        let seen = read(host, "UserPromptSubmit", input.as_bytes()).unwrap();
        matches!(seen.event, Event::Prompt { is_others: true, .. })
    };
    for users in ["", r#","source":"user""#, r#","source":"sdk""#] {
        assert!(!is_others(Host::Claude, users), "{users}");
    }
    for others in ["loop_wakeup", "schedule_wakeup", "poll_event", "system", "something_new"] {
        assert!(is_others(Host::Claude, &format!(r#","source":"{others}""#)), "{others}");
    }
    assert!(is_others(Host::Claude, r#","source":7"#) && !is_others(Host::Codex, r#","source":7"#));
}

#[test]
fn subagents_are_told_apart_from_their_session() {
    let codex = seen(Host::Codex, "UserPromptSubmit@subagent.005.json");
    assert!(codex.subagent.is_some() && matches!(codex.event, Event::Prompt { .. }));
    let main = seen(Host::Codex, "UserPromptSubmit@mcp-basic.001.json");
    assert_eq!(main.subagent, None);
    // Copilot gives the subagent's id as the session, except when it asks for permission.
    let before = seen(Host::Copilot, "preToolUse@subagent.005-bash.json");
    let permission = seen(Host::Copilot, "permissionRequest@subagent.006-bash.json");
    let start = seen(Host::Copilot, "subagentStart@subagent.003.json");
    assert_eq!(before.session, permission.session);
    assert_eq!(before.session, start.session);
    assert_eq!(before.subagent, permission.subagent);
    assert!(before.subagent.is_some() && start.subagent.is_none());
    let Event::SubagentStart { id } = start.event else { panic!("no start") };
    assert_eq!(Some(id), before.subagent);
    let opencode = seen(Host::OpenCode, "tool.execute.before@subagent.json");
    assert_eq!((opencode.session.as_str(), opencode.subagent.as_deref()), ("ses_0", Some("ses_1")));
}

#[test]
fn inputs_that_are_wrong_are_refused() {
    let refused =
        |event: &str, input: &str| read(Host::Claude, event, input.as_bytes()).unwrap_err();
    let is_missing = |field| ReadError::Missing { field };
    assert!(matches!(refused("NoSuch", "{}"), ReadError::UnknownEvent { .. }));
    assert!(matches!(refused("PreToolUse", ""), ReadError::NotJson { .. }));
    assert!(matches!(refused("PreToolUse", "[]"), ReadError::NotJson { .. }));
    assert!(matches!(refused("PreToolUse", "{} {}"), ReadError::NotJson { .. }));
    assert_eq!(refused("PreToolUse", "{}"), is_missing("session_id"));
    let other =
        r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{}}"#;
    assert!(matches!(refused("PreToolUse", other), ReadError::OtherEvent { .. }));
    for (input, expected) in [
        (r#"{"session_id":"s"}"#, is_missing("tool_name")),
        (r#"{"session_id":"s","tool_name":"Bash"}"#, is_missing("tool_input")),
    ] {
        assert_eq!(refused("PreToolUse", input), expected);
    }
    for input in [
        r#"{"session_id":7,"tool_name":"Bash","tool_input":{}}"#,
        r#"{"session_id":"","tool_name":"Bash","tool_input":{}}"#,
        r#"{"session_id":"a\nb","tool_name":"Bash","tool_input":{}}"#,
        r#"{"session_id":"s","tool_name":["Bash"],"tool_input":{}}"#,
        r#"{"session_id":"s","tool_name":"Bash","tool_input":[]}"#,
        r#"{"session_id":"s","tool_name":"Bash","tool_input":"no object"}"#,
        r#"{"session_id":"s","tool_name":"Bash","tool_input":{},"agent_id":{}}"#,
        r#"{"session_id":"s","tool_name":"Bash","tool_input":{},"hook_event_name":[]}"#,
    ] {
        assert!(matches!(refused("PreToolUse", input), ReadError::Unexpected { .. }), "{input}");
    }
    assert_eq!(refused("UserPromptSubmit", r#"{"session_id":"s"}"#), is_missing("prompt"));
}

#[test]
fn limits_hold() {
    let input = |args: &str| {
        format!(r#"{{"session_id":"s","tool_name":"Bash","tool_input":{{"a":{args}}}}}"#)
    };
    let nested = |deep: usize| input(&format!("{}{}", "[".repeat(deep), "]".repeat(deep)));
    assert!(read(Host::Claude, "PreToolUse", nested(hooks::DEPTH_MAX - 2).as_bytes()).is_ok());
    let too_deep = read(Host::Claude, "PreToolUse", nested(hooks::DEPTH_MAX - 1).as_bytes());
    assert_eq!(too_deep, Err(ReadError::TooDeep { max: hooks::DEPTH_MAX }));
    assert!(read(Host::Claude, "PreToolUse", nested(100_000).as_bytes()).is_err());
    let long = " ".repeat(hooks::INPUT_BYTES_MAX + 1);
    let too_long = read(Host::Claude, "PreToolUse", long.as_bytes());
    assert!(matches!(too_long, Err(ReadError::TooLong { .. })));
    let id = "x".repeat(hooks::ID_BYTES_MAX + 1);
    let input = format!(r#"{{"session_id":"{id}"}}"#);
    assert!(read(Host::Claude, "Stop", input.as_bytes()).is_err());
}

#[test]
fn new_fields_do_not_disturb() {
    for it in captured() {
        let mut input: serde_json::Value = serde_json::from_slice(&it.bytes).unwrap();
        let before = read(it.host, &it.event, &it.bytes).unwrap();
        input["a_field_of_next_year"] = serde_json::json!({"deep": [1, 2]});
        let after = read(it.host, &it.event, input.to_string().as_bytes()).unwrap();
        assert_eq!(before, after, "{}", it.name);
    }
}
