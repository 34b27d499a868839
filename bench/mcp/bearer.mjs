// Adds the gateway's token to each request, which the conformance suite cannot: everything else passes as it is.
//
//     node bearer.mjs PORT GATEWAY_PORT TOKEN_FILE
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';

const [port, gateway, file] = process.argv.slice(2);
const token = readFileSync(file, 'utf8').trim();

createServer((asked, answered) => {
  const { host, ...rest } = asked.headers;
  // Both are this machine; a host that is not stays what it is.
  const moved = text => text?.replace(`:${port}`, `:${gateway}`);
  const headers = { ...rest, host: moved(host), authorization: `Bearer ${token}`, ...(rest.origin ? { origin: moved(rest.origin) } : {}) };
  const passed = request({ port: gateway, host: '127.0.0.1', method: asked.method, path: asked.url, headers }, answer => {
    answered.writeHead(answer.statusCode, answer.headers);
    answered.flushHeaders();
    answer.pipe(answered);
  });
  passed.on('error', () => answered.destroy());
  answered.on('close', () => passed.destroy());
  asked.pipe(passed);
}).listen(Number(port), '127.0.0.1');
