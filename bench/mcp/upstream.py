"""The official conformance suite for clients: the official SDK directly, and through us, where `lazaret mcp --url` is the client.

Scenarios of logins are not run: whoever logs in is a person with a browser (`lazaret mcp login`).
"""
import collections
import json
import subprocess

import conformance

SCENARIOS = {
    "2025-11-25": ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "json-schema-2020-12-preservation"],
    "2026-07-28": [
        "tools_call", "request-metadata", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers",
        "json-schema-ref-no-deref", "sep-2322-client-request-state", "json-schema-2020-12-preservation",
    ],
}
SCENARIO_SECONDS_MAX = 60
# The suite sends null where the tool's own schema wants a boolean: the gateway refuses that before it goes anywhere.
REFUSED_BY_SCHEMA = {"sep-2243-client-omit-null"}


def run(on, as_json):
    """Prints a row for each scenario; returns how many lost something on the way through us."""
    if "--url" not in on.say("mcp", "--help"):
        return 0
    client = [on.node, str(on.inst / "upstream.mjs")]
    ways = {"direct": client, "us": [*client, on.lazaret, "--"]}
    if not as_json:
        print(conformance.ROW.format("revision", "scenario for clients", *ways, "", ""))
    bad = 0
    for revision, scenarios in SCENARIOS.items():
        for scenario in scenarios:
            seen = {way: once(on, way, command, revision, scenario) for way, command in ways.items()}
            bad += conformance.show(revision, scenario, seen, as_json)
    return bad


def once(on, way, command, revision, scenario):
    place = on.runs / "upstream" / way / revision / scenario
    place.mkdir(parents=True)
    tool = str(on.inst / "node_modules/@modelcontextprotocol/conformance/dist/index.js")
    words = ["client", "--command", " ".join(command), "--scenario", scenario, "--spec-version", revision, "-o", str(place / "out")]
    with open(place / "suite.log", "w") as log:
        try:
            environment = {**on.env, "TRUST": "" if on.enforce else "1"}
            subprocess.run([on.node, tool, *words], env=environment, cwd=on.inst, stdout=log, stderr=log, timeout=SCENARIO_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            print("not done in time", file=log)
    found = list(place.rglob("checks.json"))
    checks = json.loads(found[0].read_text()) if found else [{"id": "ran", "status": "FAILURE"}]
    counted = (it for it in checks if it["status"] != "INFO" and it["id"] not in REFUSED_BY_SCHEMA)
    return collections.Counter((it["id"], it["status"]) for it in counted)
