// A thin bridge from HTTP to servers on stdio: the conformance suite speaks HTTP alone. It knows as little of MCP as it can.
//
//     node bridge.mjs PORT [--frames FILE] -- COMMAND...
//
// Requests of the era without a handshake share one process; each session of the era with one has its own. Ids of requests are made
// unique on the way in and put back on the way out. Whatever a process says outside of an answer goes to the youngest open request,
// progress to the request with its token, what belongs to a subscription to that subscription, and else to the open GET stream.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { randomUUID } from 'node:crypto';

const MODERN = '2026-07-28';
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const STATUS = { '-32601': 404, '-32602': 400, '-32020': 400, '-32021': 400, '-32022': 400 };
const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

const split = process.argv.indexOf('--');
const options = process.argv.slice(2, split);
const [program, ...words] = process.argv.slice(split + 1);
const frames = options.includes('--frames') ? options[options.indexOf('--frames') + 1] : undefined;

class Served {
  constructor(isModern) {
    this.isModern = isModern;
    this.open = new Map();
    this.stream = undefined;
    this.count = 0;
    this.child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.child.stdout }).on('line', line => this.take(line));
    this.child.on('exit', () => this.open.forEach(it => it.fail('the server has ended')));
    // On stdio the first message says the era of the connection; over HTTP every request does.
    const params = { _meta: { [VERSION]: MODERN, [CAPABILITIES]: {} } };
    if (isModern) ['server/discover', 'prompts/list'].forEach(method => this.write({ jsonrpc: '2.0', id: `first ${method}`, method, params }));
  }

  write(message) {
    const line = JSON.stringify(message);
    if (frames) appendFileSync(frames, `> ${line}\n`);
    this.child.stdin.write(line + '\n');
  }

  ask(message, exchange) {
    const id = `bridge-${++this.count}`;
    exchange.id = message.id;
    exchange.token = message.params?._meta?.progressToken;
    this.open.set(id, exchange);
    exchange.cancel = () => {
      if (this.open.delete(id) && this.isModern) this.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    };
    this.write({ ...message, id });
  }

  take(line) {
    if (frames) appendFileSync(frames, `< ${line}\n`);
    const message = JSON.parse(line);
    if (message.method === undefined) {
      const exchange = this.open.get(message.id);
      this.open.delete(message.id);
      return exchange?.end({ ...message, id: exchange.id });
    }
    const subscription = message.params?._meta?.[SUBSCRIPTION];
    if (subscription !== undefined) {
      const exchange = this.open.get(subscription);
      if (exchange) message.params._meta[SUBSCRIPTION] = exchange.id;
      return exchange?.event(message);
    }
    const token = message.params?.progressToken;
    const open = [...this.open.values()];
    const found = token === undefined ? open.at(-1) : open.find(it => it.token === token);
    if (found) return found.event(message);
    this.stream?.write(event(message));
  }

  end() {
    this.child.stdin.end();
    this.child.kill();
  }
}

const event = message => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

// One POST: a single JSON object, or a stream where something comes before it.
class Exchange {
  constructor(response, isModern, headers) {
    Object.assign(this, { response, isModern, headers });
    response.on('close', () => { if (!response.writableFinished) this.cancel?.(); });
  }

  event(message) {
    if (!this.response.headersSent) {
      this.response.writeHead(200, { ...this.headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    }
    this.response.write(event(message));
  }

  end(message) {
    if (this.response.headersSent) return this.response.end(event(message));
    const status = (this.isModern && message.error && STATUS[message.error.code]) || 200;
    answer(this.response, status, message, this.headers);
  }

  fail(reason) {
    this.end({ jsonrpc: '2.0', id: this.id, error: { code: -32603, message: reason } });
  }
}

function answer(response, status, body, headers = {}) {
  response.writeHead(status, { ...headers, 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

const refuse = (response, status, code, message, id = null) => answer(response, status, { jsonrpc: '2.0', id, error: { code, message } });

let shared;
const sessions = new Map();

async function post(request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const message = JSON.parse(Buffer.concat(parts));
  const said = message.params?._meta?.[VERSION];
  const header = request.headers['mcp-protocol-version'];
  const isModern = said !== undefined || header >= MODERN;
  if (isModern && said !== undefined && header !== said) return refuse(response, 400, -32020, 'the header names another version', message.id);
  if (isModern && request.headers['mcp-method'] !== message.method) return refuse(response, 400, -32020, 'Mcp-Method names another method', message.id);
  let served, headers = {};
  if (isModern) {
    served = shared ??= new Served(true);
  } else if (message.method === 'initialize') {
    const session = randomUUID();
    sessions.set(session, served = new Served(false));
    headers = { 'mcp-session-id': session };
  } else {
    served = sessions.get(request.headers['mcp-session-id']);
    if (!served) return refuse(response, 404, -32600, 'there is no such session');
  }
  if (message.id === undefined || message.method === undefined) {
    served.write(message);
    response.writeHead(202).end();
    return;
  }
  served.ask(message, new Exchange(response, isModern, headers));
}

createServer((request, response) => {
  const origin = request.headers.origin;
  if (!LOCAL.test(request.headers.host) || (origin && !LOCAL.test(new URL(origin).host))) return refuse(response, 403, -32600, 'not from here');
  const session = sessions.get(request.headers['mcp-session-id']);
  if (request.method === 'POST') return post(request, response).catch(error => refuse(response, 400, -32700, String(error)));
  if (!session) return refuse(response, request.headers['mcp-session-id'] ? 404 : 405, -32600, 'there is no such session');
  if (request.method === 'DELETE') {
    session.end();
    sessions.delete(request.headers['mcp-session-id']);
    return response.writeHead(204).end();
  }
  session.stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
}).listen(Number(options[0]), '127.0.0.1', () => console.error(`bridge on ${options[0]}`));

process.on('SIGTERM', () => { shared?.end(); sessions.forEach(it => it.end()); process.exit(0); });
