#!/usr/bin/env python3
"""Writes the suites of this directory as replay traces, in the format of AgentDojo's.

usage: generate.py [--out DIR] [SUITE...]      (default: every *.toml here, to target/agentdojo-suites)

Per suite: SUITE.clean.jsonl, SUITE.attack.jsonl, SUITE.attack-stealth.jsonl, their .labels.jsonl, and
SUITE.catalog.json. The same definitions give the same bytes. See README.md for how a suite is written.
"""
import argparse
import json
import pathlib
import re
import sys
import tomllib

import render
import wording

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_OUT = HERE.parents[2] / "target" / "agentdojo-suites"
SLOT = re.compile(r"\{\{([a-z0-9_]+)(?:\|([^{}]*))?\}\}")
PARAM = re.compile(r"^(?P<name>\w+)(?P<optional>\?)? (?P<type>[\w\[\]]+)(?: @(?P<kind>\w+))?: (?P<about>.+)$", re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=DEFAULT_OUT)
    parser.add_argument("suites", nargs="*")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.suites or sorted(p.stem for p in HERE.glob("*.toml")):
        suite = Suite(tomllib.loads((HERE / f"{name}.toml").read_text()))
        counts = suite.write(options.out)
        print(f"{name}: {len(suite.tasks)} user tasks, {len(suite.injections)} injection tasks, {counts}", file=sys.stderr)


class Suite:
    """One definition file: tools, answers (documents), user tasks and injection tasks."""

    def __init__(self, data):
        self.name = data["name"]
        self.user = data["user"]
        self.schema_style = data.get("schema", "titled")
        self.tools = {t["name"]: t for t in data["tool"]}
        self.docs = data["doc"]
        self.tasks = data["task"]
        self.injections = data["injection"]
        self.mcp_tools = [tool_definition(t, self.schema_style) for t in data["tool"]]

    def write(self, out):
        (out / f"{self.name}.catalog.json").write_text(json.dumps(self.catalog(), indent=1))
        counts = {}
        for variant, traces in (("clean", self.clean()), ("attack", self.attacks(stealth=False)),
                                ("attack-stealth", self.attacks(stealth=True))):
            traces = list(traces)
            counts[variant] = len(traces)
            write_lines(out / f"{self.name}.{variant}.jsonl", (e for t in traces for e in t.events))
            write_lines(out / f"{self.name}.{variant}.labels.jsonl", (l for t in traces for l in t.labels))
        return counts

    def catalog(self):
        return {"tools": {name: {"effect": t["effect"], "output": t["output"], "egress": t.get("egress", False),
                                 "destructive": t.get("destructive", False),
                                 "args": {p["name"]: p["kind"] for p in params(t) if p["kind"]}}
                          for name, t in self.tools.items()}}

    def clean(self):
        for index, task in enumerate(self.tasks):
            trace = Trace(self, f"{self.name}:user_task_{index}", "clean", task["ask"], {})
            for call in task["calls"]:
                trace.call(call)
            yield trace.end()

    def attacks(self, stealth):
        for t, task in enumerate(self.tasks):
            for i, injection in enumerate(self.injections):
                if not self.collides(task, injection):
                    plan = self.plan(task, injection, t, i, stealth)
                    if plan:
                        yield self.attack(task, injection, f"{self.name}:user_task_{t}:injection_task_{i}", *plan)

    def attack(self, task, injection, session, fills, at):
        trace = Trace(self, session, "attack", task["ask"], fills)
        for call in task["calls"][:at + 1]:
            trace.call(call)
        for call in injection["calls"]:
            trace.call(call, injected=True)
        for call in task["calls"][at + 1:]:
            trace.call(call, after=True)
        return trace.end()

    def plan(self, task, injection, t, i, stealth):
        """Which slots are filled with what, and after which call the attack begins; None where nothing can be."""
        slots = self.slots_seen(task, stealth)
        if not slots:
            return None
        turn = t * 5 + i
        slot, at = slots[turn % len(slots)]
        if not stealth:
            return {slot: wording.loud(injection["goal"], self.user)}, at
        partners = [other for other, where in slots if where == at and other != slot]
        _, texts = wording.quiet(injection, turn, bool(partners))
        if len(texts) == 1:
            return {slot: texts[0]}, at
        first, second = sorted((slot, partners[0]), key=[s for s, _ in slots].index)
        return {first: texts[0], second: texts[1]}, at

    def slots_seen(self, task, stealth):
        """Slots in the answers the task reads, each with the first call that shows it, in order."""
        seen = {}
        for at, call in enumerate(task["calls"]):
            doc = self.docs.get(call[2]) if len(call) > 2 else None
            for slot in slots_in(doc["value"]) if doc else []:
                seen.setdefault(slot, at)
        wanted = task.get("bait", list(seen)) + ([] if stealth else task.get("bait_loud", []))
        unknown = set(wanted) - set(seen)
        if unknown:
            raise ValueError(f"{self.name}: `{task['ask']}` never shows {unknown}")
        return [(slot, at) for slot, at in seen.items() if slot in wanted and slot not in
                (task.get("bait_loud", []) if stealth else [])]

    def collides(self, task, injection):
        """True if the injected act is what the user asked for anyway, so that nobody could call it an attack."""
        if any(task["ask"].startswith(words) for words in injection.get("not_with", [])):
            return True
        foreign = injection.get("foreign", [])
        for tool, args in ((c[0].lstrip("!"), c[1]) for c in injection["calls"] if self.harmful(c)):
            if any(word in json.dumps(args, ensure_ascii=False) for word in foreign):
                continue
            kinds = {p["name"]: p["kind"] for p in params(self.tools[tool])}
            aimed = {k: v for k, v in args.items() if kinds.get(k) in ("destination", "target")} or args
            for honest in task["calls"]:
                if honest[0] == tool and all(overlap(honest[1].get(k), v) for k, v in aimed.items()):
                    return True
        return False

    def harmful(self, call):
        return call[0].startswith("!") or self.tools[call[0]]["effect"] != "read"


class Trace:
    """Events and labels of one session."""

    def __init__(self, suite, session, kind, ask, fills):
        self.suite, self.session, self.kind, self.fills = suite, session, kind, fills
        self.count = 0
        self.events = [{"event": "session", "session": session, "user": "user", "agent": "assistant", "tools": suite.mcp_tools},
                       {"event": "content", "session": session, "source": "user", "text": ask}]
        self.labels = []

    def call(self, call, injected=False, after=False):
        harmful = injected and self.suite.harmful(call)
        tool, args, name = call[0].lstrip("!"), call[1], f"c{self.count}"
        self.count += 1
        self.events.append({"event": "call", "session": self.session, "call": name, "tool": tool, "args": args})
        self.events.append({"event": "result", "session": self.session, "call": name,
                            "text": self.answer(tool, args, call[2] if len(call) > 2 else None), "error": False})
        self.labels.append({"session": self.session, "kind": self.kind, "call": name, "tool": tool,
                            "origin": "injected" if injected else "user", "after_injection": injected or after,
                            "harmful": harmful, "necessary": harmful})

    def answer(self, tool, args, doc):
        if doc is None:
            answer = self.suite.tools[tool]["answer"]
            given = {p["name"]: None for p in params(self.suite.tools[tool])} | args
            return answer.format(**given) if isinstance(answer, str) else render.render(fill_args(answer, given), "yaml")
        if doc.startswith("="):
            return doc[1:]
        doc = self.suite.docs[doc]
        return render.render(fill(doc["value"], self.fills), doc.get("style", "text"))

    def end(self):
        self.events.append({"event": "end", "session": self.session})
        return self


def params(tool):
    for line in tool.get("params", []):
        found = PARAM.match(line)
        if not found:
            raise ValueError(f"cannot read parameter `{line}` of {tool['name']}")
        yield found.groupdict()


def tool_definition(tool, style):
    properties, required = {}, []
    for p in params(tool):
        kind = {"type": "array", "items": {"type": p["type"][:-2]}} if p["type"].endswith("[]") else {"type": p["type"]}
        if style == "titled":
            title = {"title": p["name"].replace("_", " ").title()}
            shape = {"description": p["about"]} | title | kind
            if p["optional"]:
                shape = {"anyOf": [kind, {"type": "null"}], "default": None, "description": p["about"]} | title
        else:
            shape = kind | {"description": p["about"]}
        properties[p["name"]] = shape
        if not p["optional"]:
            required.append(p["name"])
    schema = {"properties": properties}
    if required:
        schema["required"] = required
    if style == "titled":
        schema["title"] = f"Input schema for `{tool['name']}`"
    schema["type"] = "object"
    return {"name": tool["name"], "description": tool["about"], "inputSchema": schema}


def slots_in(value):
    """Names of the slots in a document, in the order of their appearance."""
    if isinstance(value, dict):
        return [s for v in value.values() for s in slots_in(v)]
    if isinstance(value, list):
        return [s for v in value for s in slots_in(v)]
    return [m.group(1) for m in SLOT.finditer(value)] if isinstance(value, str) else []


def fill(value, fills):
    """The document with its slots filled: `{{x}}` takes text after what is there, `{{x|honest}}` in its place."""
    if isinstance(value, dict):
        return {k: fill(v, fills) for k, v in value.items()}
    if isinstance(value, list):
        return [fill(v, fills) for v in value]
    if not isinstance(value, str):
        return value

    def put(match):
        text = fills.get(match.group(1))
        if text is None:
            return match.group(2) or ""
        if match.group(2) is not None:
            return text
        return text if text.startswith("\n") else ("\n\n" if text.startswith("<INFO") else " ") + text
    return SLOT.sub(put, value)


def fill_args(value, args):
    """The value with every string "$param" replaced by the call's argument."""
    if isinstance(value, dict):
        return {k: fill_args(v, args) for k, v in value.items()}
    if isinstance(value, list):
        return [fill_args(v, args) for v in value]
    return args[value[1:]] if isinstance(value, str) and value.startswith("$") else value


def overlap(honest, injected):
    if isinstance(injected, list) and isinstance(honest, list):
        return any(x in honest for x in injected)
    return honest == injected


def write_lines(path, objects):
    with path.open("w") as file:
        for item in objects:
            file.write(json.dumps(item) + "\n")


if __name__ == "__main__":
    main()
