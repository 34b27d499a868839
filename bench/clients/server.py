#!/usr/bin/env python3
"""An MCP server on stdin and stdout with one tool, in both eras. Usage: server.py LOG; every call is a line in LOG."""
import json
import sys

ECHO = {"name": "echo", "description": "Gives the text back",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}
ABOUT = {"serverInfo": {"name": "probe", "version": "1"}, "capabilities": {"tools": {}}}
VERSION = "io.modelcontextprotocol/protocolVersion"


def answer(method, params):
    if method == "initialize":
        return {**ABOUT, "protocolVersion": params.get("protocolVersion", "2025-06-18")}
    if method == "server/discover" and VERSION in (params.get("_meta") or {}):
        return {**ABOUT, "supportedVersions": ["2026-07-28"]}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [ECHO]}
    if method == "tools/call" and params.get("name") == "echo":
        said = (params.get("arguments") or {}).get("text", "")
        with open(sys.argv[1], "a") as log:
            log.write(json.dumps(said) + "\n")
        return {"content": [{"type": "text", "text": "echo: " + said}]}
    return None


for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("id") is None:
        continue
    params = asked.get("params") or {}
    result = answer(asked.get("method"), params)
    if result is None:
        reply = {"error": {"code": -32601, "message": "no such method"}}
    elif VERSION in (params.get("_meta") or {}):
        reply = {"result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}}
    else:
        reply = {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}), flush=True)
