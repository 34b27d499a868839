// Calls the plugin as OpenCode does, with answers of every kind. Arguments: the plugin, the folder of hook.sh's files.
import assert from "node:assert/strict"
import fs from "node:fs"
import { pathToFileURL } from "node:url"

const [plugin, folder] = process.argv.slice(2)
process.env.LAZARET_TEST = folder
const { Lazaret } = await import(pathToFileURL(plugin))
const hooks = await Lazaret({ directory: "/w" })

const answer = (text, code = 0) => {
  fs.writeFileSync(`${folder}/answer`, typeof text === "string" ? text : JSON.stringify(text))
  fs.writeFileSync(`${folder}/code`, String(code))
}
const asked = () => {
  const line = fs.readFileSync(`${folder}/asked`, "utf8").trimEnd().split("\n").at(-1)
  const [host, event, option, home, ...input] = line.split(" ")
  assert.equal(host, "opencode")
  assert.equal(option, "--home")
  assert.ok(home.endsWith("/home/.lazaret"), home)
  return [event, JSON.parse(input.join(" "))]
}

const before = async () => {
  const args = { command: "ls", description: "d" }
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args })
  return args
}
answer({ decision: "allow" })
assert.deepEqual(await before(), { command: "ls", description: "d" })
const call = { session: "s", cwd: "/w", tool: "bash", callID: "c" }
assert.deepEqual(asked(), ["tool.execute.before", { ...call, args: { command: "ls", description: "d" } }])
answer({ decision: "allow", args: { command: "pwd" } })
assert.deepEqual(await before(), { command: "pwd" }, "changed in place, and wholly")
answer({ decision: "deny", reason: "WHY" })
await assert.rejects(before(), /^Error: WHY$/)

// Whatever is not an answer is a refusal.
for (const [text, code] of [
  [{ decision: "deny" }, 0],
  [{}, 0],
  [{ decision: "ask" }, 0],
  [{ decision: "allow", args: [] }, 0],
  [{ decision: "allow", args: null }, 0],
  ["", 0],
  ["null", 0],
  ["[]", 0],
  ["allow", 0],
  [{ decision: "allow" }, 1],
  [{ decision: "allow" }, 2],
  ["x".repeat(9 * 1024 * 1024), 0],
]) {
  answer(text, code)
  await assert.rejects(before(), /Lazaret refused/, `${JSON.stringify(text).slice(0, 50)} ${code}`)
}

const after = async (output) => {
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "c", args: {} }, output)
  return output
}
const bash = () => ({ title: "t", metadata: { output: "OUT", exit: 3 }, output: "OUT" })
const mcp = () => ({ content: [{ type: "text", text: "OUT" }], structuredContent: { a: 1 } })
answer({})
assert.deepEqual(await after(bash()), bash())
assert.deepEqual(asked(), ["tool.execute.after", { ...call, args: {}, output: "OUT", failed: true }])
assert.deepEqual(await after(mcp()), mcp())
answer({ output: "NEW" })
assert.deepEqual(await after(bash()), { title: "t", metadata: { output: "NEW", exit: 3 }, output: "NEW" })
assert.deepEqual(await after(mcp()), { content: [{ type: "text", text: "NEW" }] })
answer({ context: "NOTE" })
assert.equal((await after(bash())).output, "OUT\n\nNOTE")
for (const [text, code] of [[{ output: 1 }, 0], ["", 0], [{}, 1]]) {
  answer(text, code)
  await assert.rejects(after(bash()), /Lazaret/)
}
answer({ decision: "allow", context: "FIRST" })
await before()
answer({})
assert.equal((await after(bash())).output, "OUT\n\nFIRST", "what was said before the call is told after it")
assert.equal((await after(bash())).output, "OUT", "once")

const chat = async (session) => {
  const parts = [{ type: "text", text: "hi" }, { type: "file" }]
  await hooks["chat.message"]({ sessionID: session }, { parts })
  return parts
}
answer({ decision: "allow" })
await chat("s")
assert.deepEqual(asked(), ["chat.message", { session: "s", cwd: "/w", text: "hi" }])
answer({ decision: "deny", reason: "WHY" })
await assert.rejects(chat("s"), /^Error: WHY$/)

// A subagent's prompt names the session that it comes from.
answer("", 1)
const info = { id: "sub", parentID: "s" }
await hooks.event({ event: { type: "session.created", properties: { sessionID: "sub", info } } })
assert.deepEqual(asked(), ["session.created", { session: "sub", cwd: "/w", parent: "s" }])
answer({ decision: "allow" })
await chat("sub")
assert.deepEqual(asked()[1].parent, "s")
await hooks.event({ event: { type: "message.updated", properties: {} } })
assert.equal(asked()[0], "chat.message", "nobody asks about other events")

fs.rmSync(`${folder}/hook.sh`)
await assert.rejects(before(), /does not start/)
