/** A Node server that sends one buffer as fast as possible: the baseline for hot hits. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port = '0', file = ''] = process.argv.slice(2);
const body = readFileSync(file);
const headers = { 'content-type': 'image/jpeg', 'content-length': body.length };

createServer((_request, response) => response.writeHead(200, headers).end(body)).listen(
  Number(port),
  '127.0.0.1',
);
