//! What is known of the tools that a coding agent calls: its own by the host's dialect, those of servers by how they
//! are called.

use std::collections::BTreeMap;

use aegx::{Digest, Sorted};
use hooks::{Host, ToolUse};
use model::ToolDef;
use serde_json::{Map, Value, json};

/// Parameters of one tool that are learned from its calls.
const LEARNED_MAX: usize = 64;

/// The tool by which Codex changes files. Its patch stands where other tools have a command.
const PATCH: (&str, &str, &str) = ("apply_patch", "command", "input");

/// The host's own tools.
pub(super) fn of_host(host: Host) -> BTreeMap<String, ToolDef> {
    let defs = hooks::tools(host);
    let defs = defs.iter().filter_map(|it| ToolDef::from_value(it).ok());
    defs.map(|it| (it.name.as_str().to_owned(), patched(it))).collect()
}

fn patched(mut def: ToolDef) -> ToolDef {
    let (name, command, patch) = PATCH;
    if def.name.as_str() == name
        && let Some(Value::Object(properties)) = def.input_schema.get_mut("properties")
        && let Some(of) = properties.remove(command)
    {
        properties.insert(patch.to_owned(), of);
    }
    def
}

/// The arguments of a call as the gate knows them.
pub(super) fn args_of(tool: &ToolUse) -> Value {
    let (name, command, patch) = PATCH;
    let mut args = tool.args.clone();
    if tool.name == name
        && let Some(text) = args.remove(command)
    {
        args.insert(patch.to_owned(), text);
    }
    Value::Object(args)
}

/// What tells these arguments from others, in whatever order a host names them.
pub(super) fn digest_of(tool: &ToolUse) -> Digest {
    Digest::of(Sorted(&args_of(tool)).to_string().as_bytes())
}

/// The definition of a tool of which more is known by this call than before, if so. What its server says of it
/// (`defined`) counts, where a gateway has seen it.
pub(super) fn learned(
    known: Option<&ToolDef>,
    defined: Option<&Value>,
    tool: &ToolUse,
) -> Result<Option<ToolDef>, String> {
    if known.is_some() && tool.mcp.is_none() {
        return Ok(None);
    }
    if known.is_none()
        && let Some(Value::Object(fields)) = defined
    {
        let mut fields = fields.clone();
        fields.insert("name".to_owned(), tool.name.clone().into());
        return ToolDef::from_value(&Value::Object(fields)).map(Some).map_err(|it| it.to_string());
    }
    let mut properties: Map<String, Value> = known
        .map(|it| it.parameters().map(|(name, of)| (name.clone(), of.clone())).collect())
        .unwrap_or_default();
    let before = properties.len();
    for (name, value) in tool.args.iter().take(LEARNED_MAX.saturating_sub(before)) {
        if !properties.contains_key(name) {
            properties.insert(name.clone(), json!({ "type": type_of(value) }));
        }
    }
    if known.is_some() && properties.len() == before {
        return Ok(None);
    }
    let description = known.map(|it| it.description.clone()).unwrap_or_default();
    let def = json!({
        "name": tool.name,
        "description": description,
        "inputSchema": { "type": "object", "properties": properties },
    });
    ToolDef::from_value(&def).map(Some).map_err(|error| error.to_string())
}

/// The name of a value's type in JSON Schema.
pub(in crate::doors) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, args: Value, server: bool) -> ToolUse {
        let mcp = server.then(|| hooks::McpTool { server: "s".to_owned(), tool: "t".to_owned() });
        let args = args.as_object().cloned().unwrap_or_default();
        ToolUse { id: None, name: name.to_owned(), args, mcp }
    }

    #[test]
    fn tools_of_servers_are_learned_from_their_calls() {
        let first = call("mcp__s__t", json!({ "to": "x" }), true);
        let def = learned(None, None, &first).unwrap().unwrap();
        assert_eq!(def.parameters().count(), 1);
        assert!(learned(Some(&def), None, &first).unwrap().is_none());
        let more = call("mcp__s__t", json!({ "to": "x", "cc": ["y"] }), true);
        let def = learned(Some(&def), None, &more).unwrap().unwrap();
        assert_eq!(def.parameters().count(), 2);
        assert!(learned(None, None, &call("a b", json!({}), true)).is_err());
    }

    #[test]
    fn a_patch_is_no_command() {
        let call = call("apply_patch", json!({ "command": "*** Begin Patch" }), false);
        assert_eq!(args_of(&call), json!({ "input": "*** Begin Patch" }));
        let def = of_host(Host::Codex).remove("apply_patch").unwrap();
        assert_eq!(def.parameters().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["input"]);
    }

    #[test]
    fn what_a_server_says_of_its_tool_counts() {
        let defined = json!({
            "name": "t", "description": "Reads.", "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": true },
        });
        let call = call("mcp__s__t", json!({ "to": "x" }), true);
        let def = learned(None, Some(&defined), &call).unwrap().unwrap();
        assert_eq!((def.name.as_str(), def.description.as_str()), ("mcp__s__t", "Reads."));
    }

    #[test]
    fn every_host_has_tools_of_its_own() {
        for host in Host::ALL {
            let tools = of_host(host);
            assert!(tools.len() > 3, "{}", host.as_str());
            assert_eq!(tools.len(), hooks::tools(host).len(), "{}", host.as_str());
        }
    }
}
