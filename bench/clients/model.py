"""A model that says what a script tells it to, on a port of this machine, in the four protocols of the clients.

The script is a list of threads. A thread has the words by which it is known (`match`, found in what the user of that
conversation says) and its turns, each a list of items: {"text": …} or {"tool": …, "input": …, "id": …, "ns": …}. Which turn it is
follows from the request alone, by counting the model's turns in it, so that a client may ask twice.
"""
import gzip
import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"input_tokens": 10, "output_tokens": 5}
MADE_BY_MODEL = ("function_call", "custom_tool_call", "reasoning", "local_shell_call")


class Model:
    """The server, what it was asked, and what happens when a turn is asked for the first time."""

    def __init__(self, threads, at=None):
        self.threads = threads
        self.at = dict(at or {})
        self.asked = []
        self.lock = threading.Lock()
        model = self

        class Handler(_Handler):
            pass

        Handler.model = model
        ThreadingHTTPServer.daemon_threads = True
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def turn(self, said, turn, has_tools, body):
        """The items of a turn, after whatever is to happen before it has happened."""
        with self.lock:
            self.asked.append(body)
            found = next((it for it in self.threads if it["match"] in said), None)
            if found is None or not has_tools:
                return [{"text": "ok"}]
            happens = self.at.pop((found["match"], turn), None)
            if happens:
                happens()
        turns = found["turns"]
        return turns[turn] if turn < len(turns) else [{"text": "DONE"}]


def words(value):
    """All text in a message, whatever its form."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(words(it) for it in value)
    if isinstance(value, dict):
        return words(value.get("text") or value.get("content") or value.get("parts") or "")
    return ""


def name(prefix):
    return prefix + uuid.uuid4().hex[:20]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        listed = {"id": "scripted", "object": "model", "type": "model", "display_name": "Scripted"}
        self.whole({"object": "list", "data": [listed], "models": [], "has_more": False})

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self):
        body = self.body()
        path = self.path.split("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            self.whole({"input_tokens": 1, "totalTokens": 1})
        elif path.endswith("/messages"):
            self.anthropic(body)
        elif path.endswith("/responses"):
            self.openai(body)
        elif path.endswith("/chat/completions"):
            self.chat(body)
        elif path.endswith((":generateContent", ":streamGenerateContent")):
            self.gemini(body, path.endswith(":streamGenerateContent"))
        else:
            self.whole({"error": {"type": "not_found_error", "message": "no such path"}}, 404)

    def body(self):
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            raw = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                raw += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            return json.loads(raw or b"{}")
        except ValueError:
            return {}

    def whole(self, value, status=200):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, value, kind=None):
        text = value if isinstance(value, str) else json.dumps(value)
        line = f"event: {kind}\n" if kind else ""
        self.wfile.write(f"{line}data: {text}\n\n".encode())
        self.wfile.flush()

    def anthropic(self, body):
        messages = body.get("messages", [])
        turn = sum(it.get("role") == "assistant" for it in messages)
        said = "\n".join(words(it.get("content")) for it in messages if it.get("role") == "user")
        items = self.model.turn(said, turn, bool(body.get("tools")), body)
        blocks = [
            {"type": "text", "text": it["text"]} if "text" in it
            else {"type": "tool_use", "id": it.get("id") or name("toolu_"), "name": it["tool"], "input": it["input"]}
            for it in items
        ]
        stop = "tool_use" if any(it["type"] == "tool_use" for it in blocks) else "end_turn"
        whole = {"id": name("msg_"), "type": "message", "role": "assistant", "model": body.get("model", "scripted"),
                 "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": USAGE}
        if not body.get("stream"):
            return self.whole(whole)
        self.stream()
        say = lambda kind, **more: self.event({"type": kind, **more}, kind)
        say("message_start", message={**whole, "content": [], "stop_reason": None})
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            say("content_block_start", index=index, content_block=start)
            say("content_block_delta", index=index, delta=delta)
            say("content_block_stop", index=index)
        say("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 5})
        say("message_stop")

    def openai(self, body):
        asked = body.get("input", [])
        if isinstance(asked, str):
            asked = [{"role": "user", "content": asked}]
        turn, was_made = 0, False
        for it in asked:
            made = it.get("type") in MADE_BY_MODEL or it.get("role") == "assistant"
            turn += made and not was_made
            was_made = made
        said = "\n".join(words(it.get("content")) for it in asked if it.get("role") == "user")
        output = [responses_item(it) for it in self.model.turn(said, turn, bool(body.get("tools")), body)]
        whole = {"id": name("resp_"), "object": "response", "created_at": 0, "status": "completed",
                 "model": body.get("model", "scripted"), "output": output, "usage": {**USAGE, "total_tokens": 15}}
        if not body.get("stream"):
            return self.whole(whole)
        self.stream()
        say = lambda kind, **more: self.event({"type": kind, **more}, kind)
        say("response.created", response={**whole, "status": "in_progress", "output": []})
        for index, it in enumerate(output):
            say("response.output_item.added", output_index=index, item={**it, "status": "in_progress"})
            say("response.output_item.done", output_index=index, item=it)
        say("response.completed", response=whole)

    def chat(self, body):
        messages = body.get("messages", [])
        turn = sum(it.get("role") == "assistant" for it in messages)
        said = "\n".join(words(it.get("content")) for it in messages if it.get("role") == "user")
        items = self.model.turn(said, turn, bool(body.get("tools")), body)
        text = "".join(it.get("text", "") for it in items)
        calls = [{"index": index, "id": it.get("id") or name("call_"), "type": "function",
                  "function": {"name": it["tool"], "arguments": json.dumps(it["input"])}}
                 for index, it in enumerate(it for it in items if "tool" in it)]
        stop = "tool_calls" if calls else "stop"
        head = {"id": name("chat_"), "created": 0, "model": body.get("model", "scripted")}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if not body.get("stream"):
            message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
            choice = {"index": 0, "message": message, "finish_reason": stop}
            return self.whole({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        self.stream()
        deltas = [({"role": "assistant", "content": text}, None), ({}, stop)]
        if calls:
            deltas.insert(1, ({"tool_calls": calls}, None))
        chunk = {**head, "object": "chat.completion.chunk"}
        for delta, finish in deltas:
            self.event({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        self.event({**chunk, "choices": [], "usage": usage})
        self.event("[DONE]")

    def gemini(self, body, streams):
        contents = body.get("contents", [])
        turn = sum(it.get("role") == "model" for it in contents)
        said = "\n".join(words(it.get("parts")) for it in contents if it.get("role") == "user")
        has_tools = any(it.get("functionDeclarations") for it in body.get("tools", []))
        items = self.model.turn(said, turn, has_tools, body)
        if body.get("generationConfig", {}).get("responseJsonSchema"):
            # One of its own questions: which model, and who speaks next.
            chosen = {"reasoning": "-", "model_choice": "pro", "next_speaker": "user", "complexity_score": 50}
            items = [{"text": json.dumps(chosen)}]
        parts = [
            {"text": it["text"]} if "text" in it
            else {"functionCall": {"name": it["tool"], "args": it["input"], "id": it.get("id") or name("call_")}}
            for it in items
        ]
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        whole = {"candidates": [candidate], "modelVersion": "scripted", "responseId": name(""),
                 "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}
        if not streams:
            return self.whole(whole)
        self.stream()
        self.event(whole)


def responses_item(it):
    if "text" in it:
        content = [{"type": "output_text", "text": it["text"], "annotations": []}]
        return {"type": "message", "id": name("msg_"), "role": "assistant", "status": "completed", "content": content}
    call = {"id": name("fc_"), "call_id": it.get("id") or name("call_"), "name": it["tool"], "status": "completed"}
    if it.get("custom"):
        return {**call, "type": "custom_tool_call", "input": it["input"]}
    call = {**call, "type": "function_call", "arguments": json.dumps(it["input"])}
    return {**call, "namespace": it["ns"]} if it.get("ns") else call


def results(asked):
    """What the model was told its calls gave, in the longest conversation of each request."""
    told = []
    for body in asked:
        for it in body.get("messages", []):
            if it.get("role") == "tool":
                told.append(words(it.get("content")))
            for part in it["content"] if isinstance(it.get("content"), list) else []:
                if isinstance(part, dict) and part.get("type") == "tool_result":
                    told.append(words(part.get("content")))
        for it in body.get("input", []) if isinstance(body.get("input"), list) else []:
            if str(it.get("type", "")).endswith("_call_output"):
                told.append(it["output"] if isinstance(it.get("output"), str) else json.dumps(it.get("output")))
        for it in body.get("contents", []):
            for part in it.get("parts", []):
                if "functionResponse" in part:
                    told.append(json.dumps(part["functionResponse"].get("response")))
    return list(dict.fromkeys(told))
