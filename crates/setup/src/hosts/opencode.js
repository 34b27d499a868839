// Made by `lazaret init`; `lazaret uninstall` removes it.
// Every tool call is put before lazaret-hook. Whatever goes wrong on the way there is a refusal.
import { spawn } from "node:child_process"

const HOOK = "@HOOK@"
// Named here: a project's environment must not choose another one.
const HOME = "@HOME@"
const TIMEOUT_MS = 30000
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const KEPT_MAX = 1000

const ask = (event, input) =>
  new Promise((resolve, reject) => {
    const refuse = (why) => reject(new Error(`Lazaret refused: ${why}`))
    const child = spawn(HOOK, ["opencode", event, "--home", HOME], { stdio: ["pipe", "pipe", "ignore"] })
    const late = setTimeout(() => {
      child.kill("SIGKILL")
      refuse(`no answer within ${TIMEOUT_MS} ms`)
    }, TIMEOUT_MS)
    const parts = []
    let length = 0
    child.on("error", (error) => {
      clearTimeout(late)
      refuse(`the hook does not start (${error.message}); run \`lazaret verify\``)
    })
    child.stdin.on("error", () => {})
    child.stdout.on("data", (part) => {
      length += part.length
      if (length > ANSWER_BYTES_MAX) child.kill("SIGKILL")
      else parts.push(part)
    })
    child.on("close", (code) => {
      clearTimeout(late)
      if (code !== 0) return refuse(`the hook ended with ${code}`)
      let answer
      try {
        answer = JSON.parse(Buffer.concat(parts).toString("utf8"))
      } catch {
        return refuse("the answer is no JSON")
      }
      const isObject = answer !== null && typeof answer === "object" && !Array.isArray(answer)
      isObject ? resolve(answer) : refuse("the answer is no object")
    })
    child.stdin.end(JSON.stringify(input))
  })

const decided = (answer) => {
  if (answer.decision === "allow") return
  if (answer.decision === "deny") throw new Error(String(answer.reason || "Lazaret refused this call"))
  throw new Error("Lazaret refused: the answer holds no decision")
}

// The host keeps its own reference to the arguments: they are changed in place.
const put = (target, source) => {
  for (const name of Object.keys(target)) if (!(name in source)) delete target[name]
  Object.assign(target, source)
}

// A tool of OpenCode answers with `output`, one of an MCP server with `content`.
const shown = (output) => {
  if (typeof output.output === "string") return output.output
  if (!Array.isArray(output.content)) return JSON.stringify(output)
  const text = (part) => (part && part.type === "text" ? part.text : JSON.stringify(part))
  return output.content.map(text).join("\n")
}

const replace = (output, text) => {
  if (Array.isArray(output.content)) {
    output.content = [{ type: "text", text }]
    delete output.structuredContent
    return
  }
  output.output = text
  if (output.metadata && typeof output.metadata === "object" && "output" in output.metadata)
    output.metadata.output = text
}

const failed = (output) => {
  const exit = output.metadata && output.metadata.exit
  return output.isError === true || (typeof exit === "number" && exit !== 0)
}

// A map that does not grow without end: the oldest entry makes room.
const keep = (map, key, value) => {
  if (map.size >= KEPT_MAX) map.delete(map.keys().next().value)
  map.set(key, value)
}

const added = (text, context) => (context ? `${text}\n\n${context}` : text)

const WATCHED = ["session.created", "session.idle", "session.deleted", "session.compacted"]

export const Lazaret = async ({ directory }) => {
  // Which session started which: a subagent's prompt is not what the user said.
  const parents = new Map()
  // What is to be told about a call once it is done.
  const contexts = new Map()
  const from = (session) => ({ session, cwd: directory, parent: parents.get(session) })
  return {
    event: async ({ event }) => {
      if (!WATCHED.includes(event.type)) return
      const { sessionID, info } = event.properties || {}
      const session = sessionID || (info && info.id)
      if (event.type === "session.created" && info && info.parentID) keep(parents, session, info.parentID)
      // Nothing is decided here.
      await ask(event.type, from(session)).catch(() => {})
    },
    "chat.message": async (input, output) => {
      const texts = (output.parts || []).filter((part) => part.type === "text" && !part.synthetic)
      const text = texts.map((part) => part.text).join("\n")
      const answer = await ask("chat.message", { ...from(input.sessionID), text })
      decided(answer)
      const last = texts[texts.length - 1]
      if (last && answer.context) last.text = added(last.text, answer.context)
    },
    "tool.execute.before": async (input, output) => {
      const { tool, callID } = input
      const args = output.args || {}
      const answer = await ask("tool.execute.before", { ...from(input.sessionID), tool, callID, args })
      decided(answer)
      if (answer.context) keep(contexts, callID, answer.context)
      if (answer.args === undefined) return
      const isObject = answer.args !== null && typeof answer.args === "object" && !Array.isArray(answer.args)
      if (!isObject || !output.args) throw new Error("Lazaret refused: the arguments cannot be replaced")
      put(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      const { tool, callID, args } = input
      const result = { tool, callID, args, output: shown(output), failed: failed(output) }
      const answer = await ask("tool.execute.after", { ...from(input.sessionID), ...result })
      if (answer.decision === "deny") decided(answer)
      const told = [contexts.get(callID), answer.context].filter(Boolean).join("\n\n")
      contexts.delete(callID)
      if (answer.output === undefined && !told) return
      const text = answer.output === undefined ? result.output : answer.output
      if (typeof text !== "string") throw new Error("Lazaret withheld the result: the answer is no text")
      replace(output, added(text, told))
    },
  }
}
