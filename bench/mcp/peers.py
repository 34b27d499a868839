"""The official SDKs as clients of real servers, directly and through us: on stdio, where every line on both sides of the gateway is
compared, and by `lazaret mcp --http`."""
import collections
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PLANS = json.loads((HERE / "plans.json").read_text())
CLIENTS = ["v1", "v2", "py"]
CLIENT_SECONDS_MAX = 90
WAYS = ["direct", "us", "http"]
ROW = "{:<11} {:<4} {:<7} {:>7} {:>7} {:>7}  {:<22} {}"


def run(on, servers, as_json):
    """Prints a row for each client and server; returns how many differ."""
    bad = 0
    if servers and not as_json:
        print(ROW.format("server", "sdk", "era", *WAYS, "lines as they came", ""))
    for server in servers:
        for client in CLIENTS:
            for era in PLANS[server]["eras"]:
                # The first generation of the TypeScript SDK knows one era.
                if (client, era) != ("v1", "modern"):
                    bad += show(compare(on, server, client, era), as_json)
    return bad


def compare(on, server, client, era):
    place = on.runs / server / f"{client}-{era}"
    seen = {way: once(on, place / way, server, client, era, way) for way in WAYS}
    steps = [it for it in PLANS[server]["steps"] if it.get("era", era) == era and it.get("sdk", client) == client]
    differ = [it for way in WAYS[1:] for it in differences(steps, way, seen["direct"], seen[way])]
    tallies = {way: worked(seen[way], steps) for way in WAYS}
    return {"server": server, "client": client, "era": era, **tallies, "lines": lines(place / "us"), "differ": differ}


def differences(steps, way, direct_all, ours_all):
    """Steps with another outcome than directly."""
    for at in range(max(len(direct_all), len(ours_all))):
        direct, ours = (it[at] if at < len(it) else None for it in (direct_all, ours_all))
        step = steps[at - 1] if 0 < at <= len(steps) else {}
        if direct != ours and not alike(step, direct, ours):
            yield {"direct": direct, way: ours}


def once(on, place, server, client, era, way):
    (place / "files").mkdir(parents=True)
    files = on.folder(place / "files") if server in ("filesystem", "git") else place / "files"
    names = {"$NODE": on.node, "$INST": str(on.inst), "$PY": str(on.py), "$FILES": str(files), "$REPO": str(files), "$PORT": str(on.port)}

    def filled(it):
        for name, value in names.items():
            it = it.replace(name, value)
        return it

    plan = place / "plan.json"
    plan.write_text(filled(json.dumps(PLANS[server]["steps"])))
    tap = lambda name, command: [sys.executable, "-B", str(HERE / "tap.py"), str(place / name), "--", *command]
    command = tap("server.frames", [filled(it) for it in PLANS[server]["command"]])
    if way == "us":
        command = tap("client.frames", on.through(server, command))
    environment, target, gateway = on.env, ["--", *command], None
    if way == "http":
        gateway, url, token = on.by_http(server, command, place)
        environment, target = {**on.env, "TOKEN": token}, ["--url", url]
    peer = [str(on.py / "python"), str(HERE / "client.py")] if client == "py" else [on.node, str(on.inst / "client.mjs"), client]
    with open(place / "out.jsonl", "w") as out, open(place / "err.txt", "w") as err:
        try:
            subprocess.run([*peer, era, str(plan), *target], env=environment, stdout=out, stderr=err, timeout=CLIENT_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            print('{"step": "not done in time"}', file=out)
        finally:
            if gateway:
                gateway.terminate()
                gateway.wait()
    text = (place / "out.jsonl").read_text().replace(str(files), "FILES")
    return [json.loads(it) for it in text.splitlines()]


def worked(seen, steps):
    results = [it for it in seen if "result" in it]
    return f"{len(results)}/{len(steps)}"


def alike(step, direct, us):
    """Is what came alike as far as the step can say?"""
    if step.get("moves"):
        return shape(direct) == shape(us)
    if step.get("stopped"):
        return refused(us) and not is_refusal_of_ours(direct)
    return bool(step.get("ours")) and refused(direct) and refused(us)


def is_refusal_of_ours(it):
    return "Lazaret stopped this" in json.dumps(it)


def refused(it):
    """Was the call not made? Where the gateway refuses, it has its own words."""
    return it is not None and ("error" in it or it.get("result", {}).get("isError") is True)


def shape(it):
    """What stays where a server says something else each time: the fields, and not what is in them."""
    if isinstance(it, dict):
        return {name: shape(value) for name, value in it.items()}
    if isinstance(it, list):
        return [shape(value) for value in it]
    return type(it).__name__


def lines(place):
    """How many lines passed as they came, of those that were sent to either side."""
    sides = {name: (place / name).read_bytes().splitlines() if (place / name).exists() else [] for name in ("client.frames", "server.frames")}
    counted = {}
    for mark, source, target in ((b"> ", "client.frames", "server.frames"), (b"< ", "server.frames", "client.frames")):
        sent = collections.Counter(it for it in sides[source] if it.startswith(mark))
        came = collections.Counter(it for it in sides[target] if it.startswith(mark))
        counted[mark.decode().strip()] = {"same": (sent & came).total(), "sent": sent.total(), "ours": (came - sent).total()}
        (place / f"changed{'-up' if mark == b'> ' else '-down'}.txt").write_bytes(
            b"".join(b"sent " + it + b"\n" for it in (sent - came)) + b"".join(b"came " + it + b"\n" for it in (came - sent)))
    return counted


def show(row, as_json):
    if as_json:
        print(json.dumps(row), flush=True)
        return bool(row["differ"])
    up, down = row["lines"][">"], row["lines"]["<"]
    counted = f"up {up['same']}/{up['sent']}, down {down['same']}/{down['sent']}"
    verdict = f"{len(row['differ'])} steps differ" if row["differ"] else "the same"
    print(ROW.format(row["server"], row["client"], row["era"], *(row[way] for way in WAYS), counted, verdict), flush=True)
    for it in row["differ"]:
        for way in it:
            print(f"            {way}: {json.dumps(it[way])[:300]}", flush=True)
    return bool(row["differ"])
