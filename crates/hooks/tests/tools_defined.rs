//! The definitions of built-in tools: well-formed, and true to what was captured.

use crate::world::captured;
use hooks::{Event, Host, definition, read, tools};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn every_definition_is_well_formed() {
    for host in Host::ALL {
        let mut names = BTreeSet::new();
        assert!(tools(host).len() >= 15, "{host}");
        for tool in tools(host) {
            let name = tool["name"].as_str().unwrap();
            assert!(names.insert(name), "{host} {name} twice");
            assert!(tool["description"].as_str().unwrap().ends_with('.'), "{host} {name}");
            let schema = &tool["inputSchema"];
            assert_eq!(schema["type"], "object", "{host} {name}");
            let properties = schema["properties"].as_object().unwrap();
            for required in schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(required.as_str().unwrap()), "{host} {name}");
            }
            assert!(properties.values().all(|it| it["type"].is_string()), "{host} {name}");
        }
        for (alias, name) in hooks::dialect(host).aliases {
            assert_eq!(definition(host, alias).unwrap()["name"], *name, "{host} {alias}");
        }
    }
}

#[test]
fn every_captured_call_of_a_built_in_tool_fits_its_definition() {
    let mut checked = 0;
    for it in captured() {
        let seen = read(it.host, &it.event, &it.bytes).unwrap();
        let (Event::Before(tool) | Event::Permission(tool)) = &seen.event else { continue };
        if tool.mcp.is_some() {
            continue;
        }
        let found = definition(it.host, &tool.name);
        let schema = &found.unwrap_or_else(|| panic!("{} {}", it.host, tool.name))["inputSchema"];
        for (name, value) in &tool.args {
            let expected = schema["properties"][name]["type"].as_str();
            let fits = match value {
                Value::String(_) => expected == Some("string"),
                Value::Bool(_) => expected == Some("boolean"),
                Value::Number(_) => ["number", "integer"].contains(&expected.unwrap_or_default()),
                Value::Array(_) => expected == Some("array"),
                Value::Object(_) => expected == Some("object"),
                Value::Null => false,
            };
            assert!(fits, "{}: {} {name}", it.name, tool.name);
            checked += 1;
        }
        // What Copilot asks permission for is told in other words than the call.
        if matches!(seen.event, Event::Before(_)) {
            for required in schema["required"].as_array().unwrap() {
                let name = required.as_str().unwrap();
                assert!(tool.args.contains_key(name), "{}: no {name}", it.name);
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn the_tools_that_matter_are_there() {
    for (host, names) in [
        (Host::Claude, &["Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "Agent"][..]),
        (Host::Codex, &["Bash", "apply_patch", "spawn_agent", "update_plan", "view_image"]),
        (Host::Gemini, &["run_shell_command", "replace", "web_fetch", "search_file_content"]),
        (Host::Copilot, &["bash", "view", "create", "edit", "task", "write_bash"]),
        (Host::Cursor, &["Shell", "Read", "Write", "Grep", "Task"]),
        (Host::OpenCode, &["bash", "edit", "webfetch", "task", "patch", "list"]),
    ] {
        for name in names {
            assert!(definition(host, name).is_some(), "{host} {name}");
        }
    }
    assert!(definition(Host::Claude, "bash").is_none());
}
