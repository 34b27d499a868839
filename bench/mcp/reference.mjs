// A reference server for the conformance suite, on the official TypeScript SDK, in both eras: what the suite's scenarios call by name.
//
//     node reference.mjs                 on stdin and stdout
//     node reference.mjs --http PORT     on http://127.0.0.1:PORT/mcp, stateless
import { createServer } from 'node:http';
import { McpServer, ResourceTemplate, completable, createMcpHandler, createRequestStateCodec, fromJsonSchema, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

// One red pixel, and a sound without samples.
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const PAUSE_MS = 50;

const say = text => ({ type: 'text', text });
const said = text => ({ content: [say(text)] });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const pause = () => new Promise(done => setTimeout(done, PAUSE_MS));
const empty = fromJsonSchema({ type: 'object', properties: {} });

// The state that travels with the client is signed: the key lives as long as the process.
const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)), ttlSeconds: 600 });

const SCHEMA_2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' }, address: { $ref: '#/$defs/address' }, contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' }, email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

function makeServer() {
  const server = new McpServer(
    { name: 'reference', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true, listChanged: true }, logging: {}, completions: {},
      },
      requestState: { verify: states.verify },
    },
  );
  const tool = (name, run, inputSchema = empty) =>
    server.registerTool(name, { description: `What the suite wants of ${name}.`, inputSchema }, run);
  contentTools(tool);
  clientTools(tool);
  roundTools(tool);
  changeTools(tool, server);
  resources(server);
  prompts(server);
  return server;
}

function contentTools(tool) {
  tool('test_simple_text', () => said('This is a simple text response for testing.'));
  tool('test_image_content', () => ({ content: [image] }));
  tool('test_audio_content', () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }));
  const embedded = { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' };
  tool('test_embedded_resource', () => ({ content: [{ type: 'resource', resource: embedded }] }));
  const mixed = { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' };
  tool('test_multiple_content_types', () => ({ content: [say('Multiple content types test:'), image, { type: 'resource', resource: mixed }] }));
  tool('test_error_handling', () => { throw new Error('This tool intentionally returns an error for testing'); });
  tool('json_schema_2020_12_tool', () => said('It fits.'), fromJsonSchema(SCHEMA_2020));
  const region = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }, required: ['region'] };
  tool('test_parameter_header', it => said(`Region ${it.region}.`), fromJsonSchema(region));
  tool('test_tool_with_logging', async (_, ctx) => {
    await ctx.mcpReq.log('info', 'Tool execution started');
    await pause();
    await ctx.mcpReq.log('info', 'Tool processing data');
    await pause();
    await ctx.mcpReq.log('info', 'Tool execution completed');
    return said('Logged three times.');
  });
  tool('test_tool_with_progress', async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      }
      await pause();
    }
    return said('Done in three steps.');
  });
}

const elicit = (message, properties, required) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, ...(required ? { required } : {}) } });
const sample = (text, maxTokens) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: say(text) }], maxTokens });
const answers = ctx => ctx.mcpReq.inputResponses ?? {};
const hasContent = it => it && typeof it === 'object' && it.action === 'accept' && typeof it.content === 'object';

// Asks once, and says what came back.
function asking(key, request, told) {
  return (args, ctx) => {
    const answer = answers(ctx)[key];
    return answer === undefined ? inputRequired({ inputRequests: { [key]: request(args) } }) : said(told(answer));
  };
}

function clientTools(tool) {
  const one = name => fromJsonSchema({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
  const spoken = it => it.content?.text ?? JSON.stringify(it.content);
  tool('test_sampling', asking('answer', it => sample(it.prompt, 100), it => `LLM response: ${spoken(it)}`), one('prompt'));
  const person = { username: { type: 'string', description: "User's response" }, email: { type: 'string', description: "User's email address" } };
  const response = it => `User response: action=${it.action}, content=${JSON.stringify(it.content)}`;
  tool('test_elicitation', asking('person', it => elicit(it.message, person, ['username', 'email']), response), one('message'));
  const completed = it => `Elicitation completed: action=${it.action}, content=${JSON.stringify(it.content)}`;
  const defaults = {
    name: { type: 'string', default: 'John Doe' }, age: { type: 'integer', default: 30 }, score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' }, verified: { type: 'boolean', default: true },
  };
  tool('test_elicitation_sep1034_defaults', asking('form', () => elicit('Look at the defaults.', defaults), completed));
  const titled = (value, title) => ['First', 'Second', 'Third'].map((it, at) => ({ const: `${value}${at + 1}`, title: `${it} ${title}` }));
  const plain = ['option1', 'option2', 'option3'];
  const enums = {
    untitledSingle: { type: 'string', enum: plain },
    titledSingle: { type: 'string', oneOf: titled('value', 'Option') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
    titledMulti: { type: 'array', items: { anyOf: titled('value', 'Choice') } },
  };
  tool('test_elicitation_sep1330_enums', asking('form', () => elicit('Choose.', enums), completed));
}

const ASK_NAME = () => elicit('What is your name?', { name: { type: 'string' } }, ['name']);

function roundTools(tool) {
  const named = (_, ctx) => {
    const answer = answers(ctx).user_name;
    const name = hasContent(answer) ? answer.content.name : undefined;
    return typeof name === 'string' ? said(`Hello, ${name}!`) : inputRequired({ inputRequests: { user_name: ASK_NAME() } });
  };
  tool('test_input_required_result_elicitation', named);
  tool('test_input_required_result_sampling', asking('capital_question', () => sample('What is the capital of France?', 100), it => `It said: ${it.content?.text}`));
  tool('test_input_required_result_list_roots', asking('client_roots', () => inputRequired.listRoots(), it => `Roots: ${JSON.stringify(it.roots)}`));
  const confirmed = async (_, ctx) => {
    if (ctx.mcpReq.requestState() !== undefined && answers(ctx).confirm) return said('state-ok');
    const confirm = elicit('Please confirm', { ok: { type: 'boolean' } }, ['ok']);
    return inputRequired({ inputRequests: { confirm }, requestState: await states.mint({ step: 1 }, ctx) });
  };
  tool('test_input_required_result_request_state', confirmed);
  tool('test_input_required_result_tampered_state', confirmed);
  tool('test_input_required_result_multiple_inputs', async (_, ctx) => {
    const all = answers(ctx);
    if (all.user_name && all.greeting && all.client_roots) return said('All three came.');
    const inputRequests = { user_name: ASK_NAME(), greeting: sample('Generate a greeting', 50), client_roots: inputRequired.listRoots() };
    return inputRequired({ inputRequests, requestState: await states.mint({ step: 1 }, ctx) });
  });
  tool('test_input_required_result_multi_round', async (_, ctx) => {
    const step = ctx.mcpReq.requestState()?.step ?? 0;
    if (step === 2 && answers(ctx).step2) return said('Both steps are done.');
    const asked = step === 1 && answers(ctx).step1
      ? { step2: elicit('Step 2: What is your favorite color?', { color: { type: 'string' } }, ['color']) }
      : { step1: elicit('Step 1: What is your name?', { name: { type: 'string' } }, ['name']) };
    return inputRequired({ inputRequests: asked, requestState: await states.mint({ step: 'step2' in asked ? 2 : 1 }, ctx) });
  });
  tool('test_input_required_result_capabilities', (_, ctx) => {
    const can = ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
    const inputRequests = {};
    if (can.sampling) inputRequests.sampled = sample('Say a word.', 10);
    if (can.elicitation) inputRequests.user_name = ASK_NAME();
    return Object.keys(inputRequests).length ? inputRequired({ inputRequests }) : said('The client can do neither.');
  });
  tool('test_missing_capability', asking('sampled', () => sample('Say a word.', 10), () => 'It was there.'));
  tool('test_streaming_elicitation', named);
}

function changeTools(tool, server) {
  tool('test_logging_tool', async (_, ctx) => { await ctx.mcpReq.log('info', 'A log message'); return said('Logged.'); });
  tool('test_trigger_tool_change', () => { server.sendToolListChanged(); return said('Announced.'); });
  tool('test_trigger_prompt_change', () => { server.sendPromptListChanged(); return said('Announced.'); });
  tool('test_update_watched', async () => { await server.server.sendResourceUpdated({ uri: 'test://watched-resource' }); return said('Announced.'); });
  tool('test_wait', (_, ctx) => new Promise((done, failed) => {
    const timer = setTimeout(() => done(said('Waited to the end.')), 5000);
    ctx.mcpReq.signal.addEventListener('abort', () => { clearTimeout(timer); failed(new Error('cancelled')); });
  }));
}

function resources(server) {
  const text = (uri, words, mimeType = 'text/plain') => ({ contents: [{ uri, mimeType, text: words }] });
  const about = (description, mimeType = 'text/plain') => ({ description, mimeType });
  server.registerResource('static-text', 'test://static-text', about('A text.'), it => text(it.href, 'This is the content of the static text resource.'));
  server.registerResource('static-binary', 'test://static-binary', about('A picture.', 'image/png'), it => ({ contents: [{ uri: it.href, mimeType: 'image/png', blob: PNG }] }));
  server.registerResource('watched', 'test://watched-resource', about('A resource that changes.'), it => text(it.href, 'Watched.'));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined, complete: { id: it => ['123', '124'].filter(id => id.startsWith(it)) } });
  server.registerResource('template', template, about('Data by id.', 'application/json'),
    (uri, { id }) => text(uri.href, JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }), 'application/json'));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function prompts(server) {
  const user = content => ({ role: 'user', content });
  const asked = text => ({ messages: [user(say(text))] });
  const prompt = (name, run, argsSchema) => server.registerPrompt(name, { description: `What the suite wants of ${name}.`, ...(argsSchema ? { argsSchema } : {}) }, run);
  prompt('test_simple_prompt', () => asked('This is a simple prompt for testing.'));
  const word = completable(z.string(), it => ['paris', 'park', 'party'].filter(one => one.startsWith(it)));
  prompt('test_prompt_with_arguments', ({ arg1, arg2 }) => asked(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`), z.object({ arg1: word, arg2: z.string() }));
  const embedded = uri => user({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } });
  prompt('test_prompt_with_embedded_resource',
    ({ resourceUri }) => ({ messages: [embedded(resourceUri), user(say('Please process the embedded resource above.'))] }), z.object({ resourceUri: z.string() }));
  prompt('test_prompt_with_image', () => ({ messages: [user(image), user(say('Please analyze the image above.'))] }));
  prompt('test_input_required_result_prompt', ctx => {
    const answer = answers(ctx).user_context;
    if (hasContent(answer)) return asked(`Use this context: ${answer.content.context}`);
    return inputRequired({ inputRequests: { user_context: elicit('What context should the prompt use?', { context: { type: 'string' } }, ['context']) } });
  });
}

function serveHttp(port) {
  const handler = createMcpHandler(makeServer);
  createServer(async (request, response) => {
    const body = [];
    for await (const part of request) body.push(part);
    const asked = new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method, headers: request.headers, ...(body.length ? { body: Buffer.concat(body) } : {}),
    });
    const answer = await handler.fetch(asked);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) for await (const part of answer.body) response.write(part);
    response.end();
  }).listen(port, '127.0.0.1');
}

const at = process.argv.indexOf('--http');
if (at > 0) serveHttp(Number(process.argv[at + 1]));
else serveStdio(makeServer);
