"""The official Python SDK as a client: does what a plan says, in its order, and prints what came of each step as one line of JSON.

    client.py legacy|modern PLAN -- COMMAND...
    client.py legacy|modern PLAN --url URL           with the token in $TOKEN

Whatever a server asks of the client is answered by rote.
"""
import json
import os
import sys
import time

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

ERA, PLAN = sys.argv[1:3]
URL = sys.argv[sys.argv.index("--url") + 1] if "--url" in sys.argv else None
COMMAND = [] if URL else sys.argv[sys.argv.index("--") + 1:]
SETTLE_S = 0.3
HEARD = []


def said(step, of, **outcome):
    print(json.dumps({"step": step, "of": of, **outcome}), flush=True)


def plain(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def value(schema):
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("oneOf"):
        return schema["oneOf"][0]["const"]
    return {"string": "text", "number": 1, "integer": 1, "boolean": True, "array": []}.get(schema.get("type"))


async def elicited(_context, params):
    schema = getattr(params, "requested_schema", None)
    if not schema:
        return types.ElicitResult(action="accept")
    return types.ElicitResult(action="accept", content={name: value(it) for name, it in schema["properties"].items()})


async def sampled(_context, _params):
    content = types.TextContent(type="text", text="A word.")
    return types.CreateMessageResult(role="assistant", content=content, model="rote", stop_reason="endTurn")


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/root", name="root")])


async def heard(message):
    method = getattr(message, "method", None)
    if method:
        HEARD.append(method)


async def logged(_params):
    HEARD.append("notifications/message")


async def progress(client, step):
    seen = []

    async def on_progress(done, _total, _message):
        seen.append(done)

    result = await client.call_tool(step["name"], step.get("args", {}), progress_callback=on_progress)
    # The last one may come with the result, when nobody listens for it any more.
    return {"seen": seen[:2], "result": plain(result)}


async def cancel(client, step):
    began = time.monotonic()
    with anyio.move_on_after(step["after_ms"] / 1000):
        await client.call_tool(step["name"], step.get("args", {}))
    was_quick = time.monotonic() - began < step["within_ms"] / 1000
    return {"wasQuick": was_quick, "after": bool((await client.list_prompts()).prompts)}


async def subscribe(client, step):
    then = step.get("then")
    if ERA == "modern":
        updated = False
        async with client.listen(resource_subscriptions=[step["uri"]]) as events:
            if then:
                await client.call_tool(then["name"], then.get("args", {}))
            with anyio.move_on_after(step.get("wait_ms", 1000 * SETTLE_S) / 1000):
                async for _event in events:
                    updated = True
                    break
        return {"updated": updated}
    before = len(HEARD)
    await client.subscribe_resource(step["uri"])
    if then:
        await client.call_tool(then["name"], then.get("args", {}))
    await anyio.sleep(step.get("wait_ms", 1000 * SETTLE_S) / 1000)
    await client.unsubscribe_resource(step["uri"])
    return {"updated": "notifications/resources/updated" in HEARD[before:]}


async def listed(client, step):
    return plain(await getattr(client, {"templates": "list_resource_templates"}.get(step["do"], "list_" + step["do"]))())


async def complete(client, step):
    kinds = {"ref/prompt": types.PromptReference, "ref/resource": types.ResourceTemplateReference}
    ref = kinds[step["ref"]["type"]].model_validate(step["ref"])
    return plain(await client.complete(ref, step["argument"]))


async def called(client, step):
    return plain(await client.call_tool(step["name"], step.get("args", {})))


async def read(client, step):
    return plain(await client.read_resource(step["uri"]))


async def prompt(client, step):
    return plain(await client.get_prompt(step["name"], step.get("args", {})))


async def level(client, step):
    return plain(await client.set_logging_level(step["level"]))


async def ping(client, _step):
    return plain(await client.send_ping())


STEPS = {
    "tools": listed, "resources": listed, "templates": listed, "prompts": listed, "call": called, "read": read, "prompt": prompt,
    "complete": complete, "level": level, "ping": ping, "progress": progress, "cancel": cancel, "subscribe": subscribe,
}


def transport():
    if URL:
        web = httpx2.AsyncClient(headers={"Authorization": "Bearer " + os.environ["TOKEN"]}, timeout=20)
        return streamable_http_client(URL, http_client=web)
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=dict(os.environ))
    return stdio_client(server, errlog=open(os.devnull, "w"))


async def main():
    client = Client(
        transport(), mode="legacy" if ERA == "legacy" else "2026-07-28", elicitation_callback=elicited,
        sampling_callback=sampled, list_roots_callback=roots, logging_callback=logged, message_handler=heard, cache=None,
        client_info=types.Implementation(name="peer", version="1.0.0"), read_timeout_seconds=20,
    )
    async with client:
        print(json.dumps({"step": "connect", "version": client.protocol_version}), flush=True)
        for step in json.load(open(PLAN)):
            if step.get("era", ERA) != ERA or step.get("sdk", "py") != "py":
                continue
            of = step.get("name") or step.get("uri")
            try:
                said(step["do"], of, result=await STEPS[step["do"]](client, step))
            except MCPError as error:
                said(step["do"], of, error=error.error.code, message=error.error.message)
            except Exception as error:  # what a client makes of an answer is a result, too
                said(step["do"], of, error=type(error).__name__, message=str(error))
        await anyio.sleep(SETTLE_S)
    print(json.dumps({"step": "heard", "kinds": sorted(set(HEARD))}), flush=True)


anyio.run(main)
