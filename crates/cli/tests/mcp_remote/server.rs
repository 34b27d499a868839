//! A small MCP server of either era, as answers of HTTP.

use serde_json::{Value, json};

use super::web::{Asked, Reply};

/// Its tools.
fn tools() -> Value {
    let tool = |name: &str, property: &str| {
        json!({
            "name": name, "description": "Reads a note.",
            "inputSchema": { "type": "object", "properties": {
                property: { "type": "string", "x-mcp-header": "Topic" } }, "required": [property] },
            "annotations": { "readOnlyHint": true },
        })
    };
    json!([tool("look", "name")])
}

/// Answers as a server of the era with a handshake does; `called` answers calls of tools.
pub(super) fn legacy(asked: &Asked, called: &dyn Fn(&Asked, &Value) -> Reply) -> Reply {
    let message = asked.message();
    let id = &message["id"];
    let result = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
    if asked.verb == "DELETE" {
        return Reply::empty(200);
    }
    if asked.verb == "GET" {
        return Reply::empty(405);
    }
    let is_known = asked.header("mcp-session-id").starts_with("session-");
    match asked.method().as_str() {
        "initialize" => Reply::json(&result(json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "notes", "version": "1" },
        })))
        .with("mcp-session-id", "session-1"),
        _ if !is_known => Reply::empty(400),
        "notifications/initialized" => Reply::empty(202),
        "tools/list" => Reply::events(&[
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "x" } }),
            result(json!({ "tools": tools() })),
        ]),
        "tools/call" => called(asked, id),
        _ if message.get("id").is_none() => Reply::empty(202),
        _ => Reply::json(&error(id, -32601)),
    }
}

/// Answers as a server of the era without a handshake does.
pub(super) fn modern(asked: &Asked, called: &dyn Fn(&Asked, &Value) -> Reply) -> Reply {
    let message = asked.message();
    let id = &message["id"];
    if asked.verb != "POST" {
        return Reply::empty(405);
    }
    let meta = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    let Some(version) = meta.as_str() else { return Reply::status(400, &error(id, -32022)) };
    let named = message["params"]["name"].as_str().unwrap_or_default();
    let is_said = asked.header("mcp-protocol-version") == version
        && asked.header("mcp-method") == asked.method()
        && asked.header("mcp-name") == named;
    if !is_said {
        return Reply::status(400, &error(id, -32020));
    }
    let mut result = match asked.method().as_str() {
        "server/discover" => {
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
        }
        "tools/list" => json!({ "tools": tools() }),
        "tools/call" => return called(asked, id),
        _ => return Reply::status(404, &error(id, -32601)),
    };
    result["resultType"] = json!("complete");
    Reply::json(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn error(id: &Value, code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } })
}

/// The result of a call that says this.
pub(super) fn said(id: &Value, text: &str) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content, "resultType": "complete" } })
}

/// What a call of `look` names.
pub(super) fn wanted(asked: &Asked) -> String {
    asked.message()["params"]["arguments"]["name"].as_str().unwrap_or_default().to_owned()
}
