// Spec: Webhook delivery attempt; Public, status. Responses that Node reports only by the end of a request.
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { probeHost } from '../../../../operator/routes/probe-hosts.ts';
import { callbackPost } from '../../../../runtime/platform/callback-post.ts';
import { sendRequest } from '../../../../runtime/platform/cdn/send-request.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { getStatus } from '../../../../runtime/platform/http/get-status.ts';
import { openHttpScanner } from '../../../../runtime/platform/scanner/http-scanner.ts';

const SWITCHES = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n';
let server: Server;
const signal = new AbortController().signal;

afterEach(() => new Promise((closed) => server.close(closed)));

/** Starts a server that answers with these bytes and leaves the connection open. */
async function start(words: string): Promise<string> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(words));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
}

describe('a call answered with 101 Switching Protocols', () => {
  it('ends as a failed callback with status 101', async () => {
    const url = await start(SWITCHES);
    const post = callbackPost({ egress: 'any', clock: systemClock });
    await expect(post({ url, headers: {}, body: '{}', signal })).resolves.toMatchObject({
      response_status: 101,
      error: 'answered 101: only 2xx acknowledges',
    });
  });

  it('fails for a CDN, a scanner, a status probe and a host probe', async () => {
    const url = await start(SWITCHES);
    const request = { method: 'POST', url, headers: {} } as const;
    const scanner = openHttpScanner({ url, clock: systemClock });
    await expect(sendRequest(request, { signal })).rejects.toThrow(/cannot be reached/);
    await expect(scanner.scan(Buffer.from('x'), signal)).rejects.toThrow(/cannot be reached/);
    await expect(getStatus(new URL(url), signal)).rejects.toThrow(/without an answer/);
    await expect(probeHost(new URL(url), signal)).resolves.toMatch(/without an answer/);
  });

  it('is distinguished from a response whose body ends with the connection', async () => {
    server = createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\nno such key'));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const post = callbackPost({ egress: 'any', clock: systemClock });
    const url = `http://127.0.0.1:${port}/`;
    await expect(post({ url, headers: {}, body: '{}', signal })).resolves.toMatchObject({
      response_status: 400,
      response_excerpt: 'no such key',
    });
  });
});

describe('a complete response followed by more bytes', () => {
  it.each([
    ['a body with a 204', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok', 204],
    ['than it announced', 'HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{"scores":{}}, and', 200],
  ])('is accepted from a CDN and a host that send more: %s', async (_, words, status) => {
    const url = await start(words);
    const request = { method: 'POST', url, headers: {} } as const;
    await expect(sendRequest(request, { signal })).resolves.toMatchObject({ status });
    await expect(getStatus(new URL(url), signal)).resolves.toMatchObject({ status });
  });

  it('is accepted from a scanner', async () => {
    const url = await start('HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{"scores":{}}, and more');
    const scanner = openHttpScanner({ url, clock: systemClock });
    await expect(scanner.scan(Buffer.from('x'), signal)).resolves.toEqual({});
  });
});
