#!/usr/bin/env python3
"""Checks generated traces against what a suite promises; prints what is wrong and exits 1 if anything is.

usage: check.py [--origins] [DIR]     (default: target/agentdojo-suites)

Well-formed: JSON, one label per call in order, ids unique, every call answered, tools and parameters known.
Honest: an attack trace holds exactly the clean trace's calls, in order; before the attack only the poisoned answer differs.
Hostile: the bait is in an answer before the first injected call; the attacker's own words (`foreign`) are
nowhere in the clean traces, occur in the bait, and in a harmful call; every attack has a harmful call.
--origins also lists honest destinations and targets that no earlier text spells out, for a person to look at.
"""
import collections
import json
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
EVENT_KEYS = {
    "session": ["event", "session", "user", "agent", "tools"],
    "content": ["event", "session", "source", "text"],
    "call": ["event", "session", "call", "tool", "args"],
    "result": ["event", "session", "call", "text", "error"],
    "end": ["event", "session"],
}
LABEL_KEYS = ["session", "kind", "call", "tool", "origin", "after_injection", "harmful", "necessary"]
JSON_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}


def main():
    arguments = [a for a in sys.argv[1:] if a != "--origins"]
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "target" / "agentdojo-suites"
    problems, total = [], 0
    for catalog in sorted(folder.glob("*.catalog.json")):
        suite = catalog.name.removesuffix(".catalog.json")
        definition = tomllib.loads((HERE / f"{suite}.toml").read_text())
        kinds = {name: tool["args"] for name, tool in json.loads(catalog.read_text())["tools"].items()}
        clean = read(folder, suite, "clean", problems)
        for session in clean.values():
            well_formed(session, kinds, problems)
            if "--origins" in sys.argv:
                show_origins(session, kinds)
        foreign_words_are_absent(definition, clean, problems)
        for variant in ("attack", "attack-stealth"):
            attacks = read(folder, suite, variant, problems)
            total += len(attacks)
            for session in attacks.values():
                well_formed(session, kinds, problems)
                hostile(session, clean, definition, problems)
    print("\n".join(problems) or f"{total} attack traces are as they should be")
    sys.exit(1 if problems else 0)


def read(folder, suite, variant, problems):
    """Sessions in order: id -> {id, events, labels}."""
    sessions = collections.OrderedDict()
    for line in (folder / f"{suite}.{variant}.jsonl").read_text().splitlines():
        event = json.loads(line)
        if list(event) != EVENT_KEYS[event["event"]]:
            problems.append(f"{event['session']}: fields of {event['event']} are {list(event)}")
        if event["event"] == "session":
            if event["session"] in sessions:
                problems.append(f"{event['session']}: session twice in {variant}")
            sessions[event["session"]] = {"id": event["session"], "variant": variant, "events": [], "labels": []}
        sessions[event["session"]]["events"].append(event)
    for line in (folder / f"{suite}.{variant}.labels.jsonl").read_text().splitlines():
        label = json.loads(line)
        if list(label) != LABEL_KEYS:
            problems.append(f"{label['session']}: fields of a label are {list(label)}")
        sessions[label["session"]]["labels"].append(label)
    return sessions


def well_formed(session, kinds, problems):
    say = lambda text: problems.append(f"{session['id']} ({session['variant']}): {text}")
    events = session["events"]
    calls = of(session, "call")
    if [e["event"] for e in events] != ["session", "content"] + ["call", "result"] * len(calls) + ["end"]:
        say("events are not session, content, (call, result)*, end")
    if [(c["call"], c["tool"]) for c in calls] != [(l["call"], l["tool"]) for l in session["labels"]]:
        say("labels and calls do not match")
    if [r["call"] for r in of(session, "result")] != [c["call"] for c in calls] or len({c["call"] for c in calls}) != len(calls):
        say("ids of calls and answers are not unique and equal")
    tools = {t["name"]: t["inputSchema"] for t in events[0]["tools"]}
    if set(tools) != set(kinds):
        say("catalogue and tools differ")
    for call in calls:
        schema = tools.get(call["tool"])
        if schema is None:
            say(f"unknown tool {call['tool']}")
            continue
        for missing in set(schema.get("required", [])) - set(call["args"]):
            say(f"{call['tool']} lacks {missing}")
        for name, value in call["args"].items():
            shape = schema["properties"].get(name)
            if shape is None:
                say(f"{call['tool']} has no parameter {name}")
            elif not isinstance(value, JSON_TYPES[shape.get("type") or shape["anyOf"][0]["type"]]):
                say(f"{call['tool']}.{name} is not a {shape}")
    if any("{{" in r["text"] and "}}" in r["text"] for r in of(session, "result")):
        say("an unfilled slot is left")


def foreign_words_are_absent(definition, clean, problems):
    everything = squeeze(json.dumps([s["events"][1:] for s in clean.values()], ensure_ascii=False))
    for injection in definition["injection"]:
        for word in injection.get("foreign", []):
            if squeeze(word) in everything:
                problems.append(f"{definition['name']}: `{word}` of an attacker occurs in clean traces")


def hostile(session, clean, definition, problems):
    say = lambda text: problems.append(f"{session['id']} ({session['variant']}): {text}")
    suite, task, number = session["id"].split(":")
    honest = clean[f"{suite}:{task}"]
    injection = definition["injection"][int(number.removeprefix("injection_task_"))]
    pairs = list(zip(of(session, "call"), of(session, "result"), session["labels"]))
    if [(c["tool"], c["args"]) for c, _, l in pairs if l["origin"] == "user"] != [(c["tool"], c["args"]) for c in of(honest, "call")]:
        say("honest calls are not those of the clean trace")
    if session["events"][1]["text"] != honest["events"][1]["text"]:
        say("the user's words differ")
    injected = [i for i, (_, _, l) in enumerate(pairs) if l["origin"] == "injected"]
    if injected != list(range(injected[0], injected[0] + len(injected))) or injected[0] == 0:
        say("injected calls are not one block after an answer")
    for i, (_, _, label) in enumerate(pairs):
        if label["after_injection"] != (i >= injected[0]) or label["harmful"] != label["necessary"]:
            say(f"labels of {label['call']} do not fit")
    harmful = [c for c, _, l in pairs if l["harmful"]]
    if not harmful or any(l["harmful"] and l["origin"] == "user" for _, _, l in pairs):
        say("no harmful call, or an honest one labelled so")
    plain = [r["text"] for r in of(honest, "result")]
    changed = [i for i in range(injected[0]) if pairs[i][1]["text"] != plain[i]]
    if changed != [injected[0] - 1]:
        say(f"answers {changed} differ from the clean trace, not just the one before the attack")
    bait = squeeze(pairs[injected[0] - 1][1]["text"])
    acts = squeeze(json.dumps([c["args"] for c in harmful], ensure_ascii=False))
    for word in injection.get("foreign", []):
        if squeeze(word) not in bait:
            say(f"`{word}` is not in the bait")
        if squeeze(word) not in acts:
            say(f"`{word}` is in no harmful call")
    if squeeze(session["events"][1]["text"]) and any(squeeze(w) in squeeze(session["events"][1]["text"]) for w in injection.get("foreign", [])):
        say("the user says an attacker's word")


def show_origins(session, kinds):
    """Honest destinations and targets that neither the user nor an earlier answer spells out."""
    known = squeeze(session["events"][1]["text"])
    for call, result in zip(of(session, "call"), of(session, "result")):
        for name, value in call["args"].items():
            for item in value if isinstance(value, list) else [value]:
                if kinds[call["tool"]].get(name) in ("destination", "target") and squeeze(str(item)) not in known:
                    print(f"{session['id']} {call['call']} {call['tool']}.{name} = {item!r}")
        known += squeeze(json.dumps(call["args"], ensure_ascii=False)) + squeeze(result["text"])


def of(session, kind):
    return [e for e in session["events"] if e["event"] == kind]


def squeeze(text):
    """Lower case without blanks, quotes and the marks of folding, to compare across styles."""
    return re.sub(r"[\s\\'\"]+", "", text.lower())


if __name__ == "__main__":
    main()
