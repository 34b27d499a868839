"""The official conformance suite against the reference server, directly and through us."""
import collections
import json
import re
import socket
import subprocess
import time

REVISIONS = ["2025-11-25", "2026-07-28"]
SUITE_SECONDS_MAX = 280
START_SECONDS_MAX = 10
ROW = "{:<11} {:<48} {:>8} {:>8} {:>8}  {}"


def run(on, as_json):
    """Prints a row for each scenario; returns how many lost something on the way through us."""
    bad = 0
    reference = [on.node, str(on.inst / "reference.mjs")]
    through = on.through("reference", reference)
    ways = {"direct": lambda *it: bridged(on, reference, *it), "us": lambda *it: bridged(on, through, *it)}
    if "--http " in on.say("mcp", "--help"):
        ways["http"] = lambda *it: by_http(on, through, *it)
    if not as_json:
        print(ROW.format("revision", "scenario", *ways, *[""] * (4 - len(ways))))
    for revision in REVISIONS:
        seen = {way: suite(on, way, start, revision) for way, start in ways.items()}
        for scenario in sorted(set().union(*seen.values())):
            bad += show(revision, scenario, {way: it.get(scenario, collections.Counter()) for way, it in seen.items()}, as_json)
        totals = [tally(sum(it.values(), collections.Counter())) for it in seen.values()]
        if not as_json:
            print(ROW.format(revision, "in all", *totals, *[""] * (4 - len(ways))))
    return bad


def bridged(on, command, place, port, log):
    """A server on stdio behind the bridge."""
    words = [on.node, str(on.inst / "bridge.mjs"), str(port), "--frames", str(place / "frames.txt"), "--", *command]
    return [subprocess.Popen(words, env=on.env, stdout=log, stderr=log)]


def by_http(on, through, place, port, log):
    """The gateway's own endpoint, behind nothing but its token."""
    inner = free_port()
    at = through.index("--")
    words = [*through[:at], "--http", f"127.0.0.1:{inner}", *through[at:]]
    gateway = subprocess.Popen(words, env=on.env, stdout=log, stderr=log)
    wait_for(inner)
    # It listens before anybody can have the token.
    token, until = None, time.monotonic() + 10
    while token is None and time.monotonic() < until:
        token = next((it for it in on.home.rglob("*token*") if it.is_file()), None)
        time.sleep(0.05)
    proxy = [on.node, str(on.inst / "bearer.mjs"), str(port), str(inner), str(token)]
    return [subprocess.Popen(proxy, env=on.env, stdout=log, stderr=log), gateway]


def suite(on, way, start, revision):
    place = on.runs / "conformance" / way / revision
    place.mkdir(parents=True)
    port = free_port()
    started = []
    try:
        with open(place / "server.log", "w") as log:
            started = start(place, port, log)
        wait_for(port)
        words = ["server", "--url", f"http://127.0.0.1:{port}/mcp", "--requirements", revision, "-o", str(place / "out")]
        tool = str(on.inst / "node_modules/@modelcontextprotocol/conformance/dist/index.js")
        with open(place / "suite.log", "w") as log:
            subprocess.run([on.node, tool, *words], env=on.env, stdout=log, stderr=log, timeout=SUITE_SECONDS_MAX)
    finally:
        for it in started:
            it.terminate()
            it.wait()
    return read(place / "out")


def read(place):
    """Checks of each scenario, by their ids and how they ended."""
    found = {}
    for folder in place.iterdir():
        scenario = re.fullmatch(r"server-(.*)-\d{4}-\d\d-\d\dT.*", folder.name)
        checks = folder / "checks.json"
        if scenario and checks.exists():
            counted = collections.Counter((it["id"], it["status"]) for it in json.loads(checks.read_text()))
            found[scenario[1]] = counted
    return found


def tally(checks):
    passed = sum(count for (_, status), count in checks.items() if status == "SUCCESS")
    failed = sum(count for (_, status), count in checks.items() if status == "FAILURE")
    return f"{passed}/{passed + failed}"


def show(revision, scenario, seen, as_json):
    direct = seen["direct"]
    others = {way: sorted(f"{name}: {status}" for name, status in it - direct) for way, it in seen.items() if way != "direct"}
    tallies = {way: tally(it) for way, it in seen.items()}
    if as_json:
        print(json.dumps({"revision": revision, "scenario": scenario, **tallies, "other": others}), flush=True)
    else:
        said = "; ".join(f"{way}: {', '.join(it)}" for way, it in others.items() if it)
        print(ROW.format(revision, scenario, *tallies.values(), *[""] * (3 - len(tallies)), said), flush=True)
    return any(status == "SUCCESS" for way, it in seen.items() for _, status in direct - it)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nobody listens on {port}")
