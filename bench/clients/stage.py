"""The place of one case: a home, a project and a state directory of its own, in a network namespace with nothing but loopback.

`run` starts this file inside the namespaces: stage.py ROOT CLIENT CASE PROGRAMS RECORD. What came of it goes to result.json.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import cases
import clients
import model

SECONDS_MAX = 45
COMMAND_SECONDS_MAX = 20
SHIM = """#!/bin/sh
# Keeps what the client says to the hook and what it is answered.
n="{wire}/$(date +%s%N).$$"
printf '%s\\n%s\\n' "$1" "$2" >"$n.who"
cat >"$n.in"
"{hook}" "$@" <"$n.in" >"$n.out" 2>"$n.err"
s=$?
echo $s >"$n.exit"
cat "$n.out"; cat "$n.err" >&2
exit $s
"""


class Stage:
    """A case while it runs, and what can be seen of it afterwards."""

    def __init__(self, root, client, case, programs, records):
        self.dir = root / "runs" / client / case
        shutil.rmtree(self.dir, ignore_errors=True)
        for it in ("home", "work", "tmp", "bin", "wire"):
            (self.dir / it).mkdir(parents=True)
        self.work = self.dir / "work"
        self.client = clients.ALL[client](root)
        self.case = cases.ALL[case]
        self.checks = []
        self.model = None
        self.programs = programs
        self.environment = {
            "HOME": str(self.dir / "home"), "LAZARET_HOME": str(self.dir / "state"), "USER": "me", "LANG": "C.UTF-8",
            "PATH": f"{self.dir / 'bin'}:{os.environ['PATH']}", "TERM": "dumb", "NO_COLOR": "1", "TMPDIR": str(self.dir / "tmp"),
        }
        self.link(records)

    def link(self, records):
        """Puts the two programs beside each other, as an installation does, so that a case can take one away."""
        inner = self.dir / "bin" / "real" if records else self.dir / "bin"
        inner.mkdir(exist_ok=True)
        for it in ("lazaret", "lazaret-hook"):
            os.link(self.programs / it, inner / it)
        self.hook = self.dir / "bin" / "lazaret-hook"
        self.lazaret_file = inner / "lazaret"
        if records:
            os.link(self.programs / "lazaret", self.dir / "bin" / "lazaret")
            self.put("bin/lazaret-hook", SHIM.format(wire=self.dir / "wire", hook=inner / "lazaret-hook"))
            self.hook.chmod(0o755)

    def put(self, path, content):
        file = self.dir / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return file

    def lazaret(self, *words, given=""):
        """Runs our program as the user would."""
        command = [str(self.dir / "bin" / "lazaret"), *words]
        done = subprocess.run(command, env=self.environment, cwd=self.work, input=given, text=True,
                              capture_output=True, timeout=COMMAND_SECONDS_MAX)
        with open(self.dir / "lazaret.log", "a") as log:
            log.write(f"$ {' '.join(words)}\n{done.stdout}{done.stderr}-> {done.returncode}\n")
        return done

    def lines(self, *words):
        """What a command says in lines of JSON."""
        return [json.loads(it) for it in self.lazaret(*words, "--json").stdout.splitlines() if it.startswith("{")]

    def must(self, what, done):
        last = (done.stdout + done.stderr).strip().splitlines()
        self.check(what, done.returncode == 0, f"exit {done.returncode}: {last[-1] if last else ''}")

    def check(self, what, is_so, saw=""):
        self.checks.append({"what": what, "ok": bool(is_so), "saw": "" if is_so else str(saw)[:600]})

    def run(self):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        case = self.case
        threads, at = case.script(self)
        self.model = model.Model(threads, at)
        self.client.prepare(self, case.with_server)
        case.before_init(self)
        self.must("init", self.lazaret("init", "--yes", "--agent", self.client.name))
        if case.trusted:
            self.must("trust", self.lazaret("trust", str(self.work)))
        case.before_run(self)
        began = time.time()
        self.exit = self.start_client(case.prompt)
        self.seconds = round(time.time() - began, 1)
        self.told = model.results(self.model.asked)
        self.look()
        case.judge(self)

    def start_client(self, prompt):
        environment = {**self.environment, **self.client.env(self)}
        command = self.client.command(self, prompt)
        with open(self.dir / "stdout", "w") as out, open(self.dir / "stderr", "w") as err:
            child = subprocess.Popen(command, env=environment, cwd=self.work, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     start_new_session=True)
            try:
                return child.wait(SECONDS_MAX)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                return "too slow"

    def look(self):
        """What our side shows afterwards."""
        away = self.dir / "away"
        if away.exists():
            away.rename(self.lazaret_file)
        self.records = [it["record"] for it in self.lines("evidence", "query")]
        self.approvals = self.lines("approvals", "--all")
        self.status = (self.lines("status") or [{}])[0]
        if self.case.trusted:
            self.check("the folder is trusted", str(self.work) in self.status.get("trusted", []), self.status.get("trusted"))
        self.put("asked.json", self.model.asked)
        self.put("records.json", self.records)

    def ran(self, marker="ran"):
        return (self.work / marker).exists()

    def was_told(self, text):
        return any(text in it for it in self.told)

    def decisions(self, text=""):
        """The verdicts on calls of the agent whose arguments hold `text`, oldest first."""
        found = []
        for it in self.records:
            said = it["payload"].get("inline") or {}
            if it["type"] == "ToolCall" and "lazaret-verify" not in it["meta"].get("session", "") and text in json.dumps(said):
                found.append(said.get("decision"))
        return found

    def kinds(self):
        return [it["meta"]["kind"] for it in self.records]

    def daemon_pid(self):
        said = self.lazaret("daemon", "status", "--json").stdout
        return json.loads(said)["pid"] if '"pid"' in said else None

    def kill_daemon(self):
        pid = self.daemon_pid()
        self.killed = pid
        if pid:
            os.kill(pid, signal.SIGKILL)

    def transcript(self):
        """What the client said to the hook and was answered, in order, if it was kept."""
        lines = []
        for file in sorted((self.dir / "wire").glob("*.who"), key=lambda it: it.name):
            read = lambda end: file.with_suffix(end).read_text() if file.with_suffix(end).exists() else ""
            host, event = file.read_text().split()
            try:
                given = json.loads(read(".in"))
            except ValueError:
                given = read(".in")
            if "lazaret-verify" in json.dumps(given):
                continue
            lines.append({"host": host, "event": event, "input": given, "exit": int(read(".exit") or -1),
                          "stdout": read(".out"), "stderr": read(".err")})
        return lines


def main():
    root, client, case, programs, records = sys.argv[1:]
    stage = Stage(pathlib.Path(root), client, case, pathlib.Path(programs), records == "yes")
    problem = ""
    try:
        stage.run()
    except Exception as error:  # noqa: BLE001 a case that breaks is a result, too
        problem = f"{type(error).__name__}: {error}"
        stage.check("the case ran to its end", False, problem)
    stage.put("wire.json", stage.transcript())
    stage.put("result.json", {"client": client, "case": case, "exit": getattr(stage, "exit", None),
                              "seconds": getattr(stage, "seconds", None), "checks": stage.checks, "notes": stage.case.notes})


if __name__ == "__main__":
    main()
