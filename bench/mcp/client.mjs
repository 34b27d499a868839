// The official TypeScript SDK as a client: does what a plan says, in its order, and prints what came of each step as one line of JSON.
//
//     node client.mjs v1|v2 legacy|modern PLAN -- COMMAND...
//     node client.mjs v1|v2 legacy|modern PLAN --url URL           with the token in $TOKEN
//
// v1 is @modelcontextprotocol/sdk, v2 @modelcontextprotocol/client. Whatever a server asks of the client is answered by rote.
import { readFileSync } from 'node:fs';
import * as v1Types from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';

const [sdk, era, plan] = process.argv.slice(2);
const after = word => process.argv.includes(word) ? process.argv.slice(process.argv.indexOf(word) + 1) : [];
const [command, ...args] = after('--');
const [url] = after('--url');
const isV1 = sdk === 'v1';
const SETTLE_MS = 300;

const capabilities = {
  sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true },
  ...(isV1 ? { tasks: { requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } } } : {}),
};
const info = { name: 'peer', version: '1.0.0' };
const client = isV1
  ? new ClientV1(info, { capabilities })
  : new ClientV2(info, { capabilities, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } });

// What servers ask is answered without a thought, always alike.
const value = schema => schema.default ?? schema.const ?? schema.enum?.[0] ?? schema.oneOf?.[0]?.const
  ?? { string: 'text', number: 1, integer: 1, boolean: true, array: [] }[schema.type];
const handlers = {
  'elicitation/create': ({ params }) => params.requestedSchema
    ? { action: 'accept', content: Object.fromEntries(Object.entries(params.requestedSchema.properties).map(([name, it]) => [name, value(it)])) }
    : { action: 'accept' },
  'sampling/createMessage': () => ({ role: 'assistant', content: { type: 'text', text: 'A word.' }, model: 'rote', stopReason: 'endTurn' }),
  'roots/list': () => ({ roots: [{ uri: 'file:///tmp/root', name: 'root' }] }),
};
const v1Schemas = {
  'elicitation/create': v1Types.ElicitRequestSchema, 'sampling/createMessage': v1Types.CreateMessageRequestSchema, 'roots/list': v1Types.ListRootsRequestSchema,
};
for (const [method, handler] of Object.entries(handlers)) client.setRequestHandler(isV1 ? v1Schemas[method] : method, handler);

const heard = [];
client.fallbackNotificationHandler = async it => { heard.push(it.method); };

const pause = ms => new Promise(done => setTimeout(done, ms));
const call = (step, options) => isV1
  ? client.callTool({ name: step.name, arguments: step.args ?? {} }, undefined, options)
  : client.callTool({ name: step.name, arguments: step.args ?? {} }, options);

async function task(step) {
  const seen = [];
  const stream = client.experimental.tasks.callToolStream({ name: step.name, arguments: step.args ?? {} }, v1Types.CallToolResultSchema, { task: { ttl: 60000 } });
  for await (const it of stream) seen.push(it.type === 'result' ? it : it.type);
  return { kinds: [...new Set(seen.map(it => it.type ?? it))], result: seen.find(it => it.type === 'result')?.result };
}

async function subscribe(step) {
  const before = heard.length;
  let end;
  if (era === 'modern') {
    const listening = await client.listen({ resourceSubscriptions: [step.uri] });
    end = () => listening.close();
  } else {
    await client.subscribeResource({ uri: step.uri });
    end = () => client.unsubscribeResource({ uri: step.uri });
  }
  if (step.then) await call(step.then);
  await pause(step.wait_ms ?? SETTLE_MS);
  await end();
  return { updated: heard.slice(before).includes('notifications/resources/updated') };
}

const steps = {
  tools: () => client.listTools(),
  resources: () => client.listResources(),
  templates: () => client.listResourceTemplates(),
  prompts: () => client.listPrompts(),
  call: step => call(step),
  read: step => client.readResource({ uri: step.uri }),
  prompt: step => client.getPrompt({ name: step.name, arguments: step.args ?? {} }),
  complete: step => client.complete({ ref: step.ref, argument: step.argument }),
  level: step => client.setLoggingLevel(step.level),
  ping: () => client.ping(),
  progress: async step => {
    const seen = [];
    const result = await call(step, { onprogress: it => seen.push(it.progress) });
    // The last one may come with the result, when nobody listens for it any more.
    return { seen: seen.slice(0, 2), result };
  },
  cancel: async step => {
    const stop = new AbortController();
    setTimeout(() => stop.abort('enough'), step.after_ms);
    const began = Date.now();
    await call(step, { signal: stop.signal }).catch(() => {});
    const wasQuick = Date.now() - began < step.within_ms;
    return { wasQuick, after: await client.listPrompts().then(it => it.prompts.length > 0) };
  },
  subscribe,
  task,
};

const transport = url
  ? new (isV1 ? HttpV1 : HttpV2)(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } } })
  : new (isV1 ? StdioV1 : StdioV2)({ command, args, stderr: 'ignore', env: { ...process.env } });
await client.connect(transport);
console.log(JSON.stringify({ step: 'connect', version: isV1 ? undefined : client.getNegotiatedProtocolVersion(), server: client.getServerVersion() }));
for (const step of JSON.parse(readFileSync(plan))) {
  if (step.era && step.era !== era) continue;
  if (step.sdk && step.sdk !== sdk) continue;
  let outcome;
  try {
    outcome = { result: await steps[step.do](step) };
  } catch (error) {
    outcome = { error: error.code ?? error.name, message: error.message };
  }
  console.log(JSON.stringify({ step: step.do, of: step.name ?? step.uri, ...outcome }));
}
await pause(SETTLE_MS);
console.log(JSON.stringify({ step: 'heard', kinds: [...new Set(heard)].sort() }));
await client.close();
process.exit(0);
