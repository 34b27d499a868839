// A WebSocket client from npm (`ws`) against `lazaret serve`: a turn, its frames, replay.
// Usage: node ws_client.mjs ws://ADDRESS/ws TOKEN AGENT   (npm install ws)
import { createRequire } from "node:module";
const WebSocket = createRequire(process.cwd() + "/")("ws");

const [url, token, agent] = process.argv.slice(2);

function open() {
  const socket = new WebSocket(url, ["lazaret.v1", `token.${token}`]);
  const waiting = [];
  const frames = [];
  socket.on("message", (data) => {
    frames.push(JSON.parse(data));
    for (const it of waiting.splice(0)) it();
  });
  const until = async (type) => {
    for (;;) {
      const at = frames.findIndex((it) => it.type === type);
      if (at >= 0) return frames.splice(0, at + 1).pop();
      await new Promise((resolve, reject) => {
        waiting.push(resolve);
        socket.once("close", (code) => reject(new Error(`closed ${code} before ${type}`)));
      });
    }
  };
  return { socket, until, say: (it) => socket.send(JSON.stringify(it)) };
}

const first = open();
await first.until("connected");
first.say({ type: "subscribe", agentId: agent });
const { sessionId } = await first.until("subscribed");
first.say({ type: "message", content: "hello" });
const { id } = await first.until("assistant_message");
await first.until("result");
first.socket.close();
const second = open();
await second.until("connected");
second.say({ type: "subscribe", agentId: agent, sessionId, lastMessageId: id - 1 });
const { messages } = await second.until("replay");
if (!messages.some((it) => it.type === "assistant_message")) throw new Error("nothing was replayed");
second.socket.close();
console.log(`ws: a turn of session ${sessionId}, ${messages.length} frames replayed`);
