/** A bare Node HTTP server that reads the request body and sends as many bytes as the path says. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    const body = Buffer.alloc(Number(request.url?.slice(1)), 120);
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    response.writeHead(200, headers).end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
