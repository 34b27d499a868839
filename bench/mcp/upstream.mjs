// What the conformance suite takes for a client: the official SDK, directly or through `lazaret mcp --url`, which then is the client.
//
//     node upstream.mjs [LAZARET --] URL
//
// It lists the tools and calls each: with what the scenario says, or with something that fits its schema.
import { execFileSync } from 'node:child_process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const words = process.argv.slice(2);
const url = words.at(-1);
const gateway = words.includes('--') ? words[0] : undefined;
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25';
const isModern = version >= '2026-07-28';
const TOOL_MS_MAX = 10000;

const client = new Client({ name: 'peer', version: '1.0.0' }, {
  capabilities: { sampling: {}, elicitation: { form: { applyDefaults: true } } },
  versionNegotiation: { mode: isModern ? { pin: version } : 'legacy' },
});
client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
client.setRequestHandler('sampling/createMessage', () => ({ role: 'assistant', content: { type: 'text', text: 'A word.' }, model: 'rote' }));

// A trusted server is known by its address: each has a name of its own.
const name = `conformance-${new URL(url).port}`;
if (gateway && process.env.TRUST) execFileSync(gateway, ['mcp', 'trust', name, 'trusted', '--by', 'bench']);
const command = gateway && { command: gateway, args: ['mcp', '--name', name, '--url', url], env: { ...process.env }, stderr: 'inherit' };
await client.connect(command ? new StdioClientTransport(command) : new StreamableHTTPClientTransport(new URL(url)));

const made = schema => ({ string: 'text', number: 5, integer: 5, boolean: true, array: [], object: {} })[schema.type] ?? 'text';
const fitting = schema => Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, it]) => [name, made(it)]));
const { tools } = await client.listTools();
const focal = tools.find(it => it.name === 'json_schema_2020_12_tool');
const calls = context.toolCalls ?? tools.filter(it => it !== focal || scenario === undefined).map(it => ({
  name: it.name, arguments: it.name === 'json_schema_echo' ? { schema: focal?.inputSchema } : fitting(it.inputSchema),
}));
for (const { name, arguments: given } of calls) {
  try {
    const result = await client.callTool({ name, arguments: given ?? {} }, { timeout: TOOL_MS_MAX });
    console.error(name, JSON.stringify(result).slice(0, 200));
  } catch (error) {
    console.error(name, String(error));
  }
}
for (const list of ['listResources', 'listPrompts']) {
  try {
    const found = await client[list]();
    if (found.resources?.[0]) await client.readResource({ uri: found.resources[0].uri });
    if (found.prompts?.[0]) await client.getPrompt({ name: found.prompts[0].name });
  } catch (error) {
    console.error(list, String(error));
  }
}
await client.close();
process.exit(0);
