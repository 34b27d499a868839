#!/usr/bin/env python3
"""The `EventSource` of a real browser against `lazaret serve`: a page of another origin takes a ticket, opens the stream of a
session, asks something over `/v1`, and sees the frames come; a second stream with the same ticket is refused.

Usage: event_source.py BASE_URL TOKEN AGENT PAGE_PORT   (needs chromium; `serve.allowedOrigins` names the page)
"""
import http.server
import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading

base, token, agent, port = sys.argv[1:5]
PATIENCE_SECONDS = 60
PAGE = """<!doctype html><script type=module>
const [base, token, agent] = %s;
const call = async (path, body) => {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const answer = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
};
const opened = (events) => new Promise((ok, no) => {
  events.onopen = () => ok();
  events.onerror = () => no(new Error("the stream was refused"));
});
const run = async () => {
  const { id } = await call("/api/sessions", { agent });
  const { ticket } = await call("/api/tickets", {});
  const url = `${base}/api/sessions/${id}/events?ticket=${ticket}`;
  const events = new EventSource(url);
  await opened(events);
  const frames = [];
  const ended = new Promise((ok) => {
    events.onmessage = ({ data, lastEventId }) => {
      const frame = JSON.parse(data);
      frames.push({ type: frame.type, number: frame.id ?? null, id: lastEventId });
      if (frame.type === "result") ok();
    };
  });
  const messages = [{ role: "user", content: "hello" }];
  await call("/v1/chat/completions", { model: agent, session_id: id, messages });
  await ended;
  const second = await opened(new EventSource(url)).then(() => "opened", () => "refused");
  return { frames, second };
};
const said = await run().catch((error) => ({ error: String(error) }));
await fetch("/done", { method: "POST", body: JSON.stringify(said) });
</script>"""

done = queue.Queue()


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = (PAGE % json.dumps([base, token, agent])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        done.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
profile = tempfile.mkdtemp()
# It looks at one page of ours; whoever runs this as root has no sandbox for it.
words = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
browser = subprocess.Popen([*words, f"http://127.0.0.1:{port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    said = done.get(timeout=PATIENCE_SECONDS)
finally:
    browser.kill()
    browser.wait()
    shutil.rmtree(profile, ignore_errors=True)
assert "error" not in said, said
types = [it["type"] for it in said["frames"]]
assert "assistant_message" in types and types[-1] in ("result", "status"), types
numbered = [it for it in said["frames"] if it["number"] is not None]
assert numbered and all(it["id"] == str(it["number"]) for it in numbered), said
assert said["second"] == "refused", said
print(f"EventSource of chromium: {len(types)} frames, {len(numbered)} with numbers; a ticket shown twice is refused")
