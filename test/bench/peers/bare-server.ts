/** As fast as Node can send one buffer: what hot hits are compared with. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port = '0', file = ''] = process.argv.slice(2);
const body = readFileSync(file);
const headers = { 'content-type': 'image/jpeg', 'content-length': body.length };

createServer((_request, response) => response.writeHead(200, headers).end(body)).listen(
  Number(port),
  '127.0.0.1',
);
