//! The corpus of inputs, and what the tests need of it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use hooks::{Event, Host, McpTool, Reply, Seen, ToolUse};
use serde_json::{Map, Value};
use std::path::PathBuf;

pub(crate) fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/hooks")
}

/// One captured input.
pub(crate) struct Captured {
    pub(crate) host: Host,
    pub(crate) event: String,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Returns every input of the corpus, by name.
pub(crate) fn captured() -> Vec<Captured> {
    let mut all = Vec::new();
    for host in Host::ALL {
        let folder = std::fs::read_dir(corpus().join(host.as_str())).unwrap();
        let mut files: Vec<PathBuf> = folder.map(|it| it.unwrap().path()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            let event = name.split_once('@').unwrap().0.to_owned();
            let bytes = std::fs::read(&file).unwrap();
            all.push(Captured { host, event, name, bytes });
        }
    }
    assert!(all.len() > 150, "the corpus is there");
    all
}

/// Reads one input of the corpus.
pub(crate) fn seen(host: Host, name: &str) -> Seen {
    let bytes = std::fs::read(corpus().join(host.as_str()).join(name)).unwrap();
    hooks::read(host, name.split_once('@').unwrap().0, &bytes).unwrap()
}

/// Makes something seen of an event that the host has, without an input.
pub(crate) fn made(event: Event) -> Seen {
    Seen { session: "s".into(), subagent: None, parent_agent: None, cwd: None, event }
}

pub(crate) fn tool(name: &str, args: Value, mcp: Option<&str>) -> ToolUse {
    let mcp = mcp.map(|server| McpTool { server: server.into(), tool: "t".into() });
    ToolUse { id: None, name: name.into(), args: object(args), mcp }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Replies of each kind, by name.
pub(crate) fn replies() -> Vec<(&'static str, Reply)> {
    let reason = || "Because.".to_owned();
    vec![
        ("pass", Reply::Pass),
        ("deny", Reply::Deny { reason: reason() }),
        ("ask", Reply::Ask { reason: reason() }),
        ("context", Reply::Context { text: "Note.".into() }),
        ("replace", Reply::Replace { text: "Clean.".into() }),
        ("withhold", Reply::Withhold { reason: reason() }),
    ]
}

/// Compares with a golden file and says where it differs.
pub(crate) fn assert_golden(name: &str, found: &[String]) {
    let expected = std::fs::read_to_string(corpus().join(name)).unwrap_or_default();
    let expected: Vec<&str> = expected.lines().collect();
    let new: Vec<&str> =
        found.iter().map(String::as_str).filter(|it| !expected.contains(it)).collect();
    let gone: Vec<&&str> =
        expected.iter().filter(|it| !found.iter().any(|new| new == *it)).collect();
    assert!(
        found.iter().map(String::as_str).eq(expected.iter().copied()),
        "{name} differs\nnew:\n{}\ngone:\n{gone:#?}",
        new.join("\n")
    );
}

/// Writes JSON with sorted names: the order of the parser's maps depends on who else is in the build.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let mut fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name:?}:{}", canonical(value)))
                .collect();
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// Does so to a text if it is JSON.
pub(crate) fn canonical_text(text: &str) -> String {
    serde_json::from_str(text).map_or_else(|_| text.to_owned(), |it| canonical(&it))
}
