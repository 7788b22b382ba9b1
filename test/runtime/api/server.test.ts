import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiServer } from '../../../runtime/api/server.ts';

describe('the server of the API', () => {
  const server = createApiServer(
    (request, response) => {
      setImmediate(() => response.end(`read ${request.url}`));
    },
    { headers_ms: 200, check_ms: 50 },
  );

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  const sent = async (bytes: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(bytes);
    return text(socket);
  };

  it('names every response, whoever answers it: as the caller did, else anew', async () => {
    const { port } = server.address() as AddressInfo;
    const idOf = async (headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${port}/`, { headers })).headers.get('x-request-id');
    expect(await idOf({ 'x-request-id': 'mine-12345' })).toBe('mine-12345');
    expect(await idOf({ 'x-request-id': 'no' })).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf({})).toMatch(/^[0-9a-f-]{36}$/);
  });

  const HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n';

  it.each([
    ['no HTTP at all', '400 Bad Request', 'what is this\r\n\r\n'],
    ['two lengths', '400 Bad Request', `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    [
      'a head that is too large',
      '431 Request Header Fields Too Large',
      `${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
    ['a head that does not end', '408 Request Timeout', `${HEAD}X: y\r\n`],
  ])(
    'answers %s with %s, the envelope and an x-request-id, and ends the connection',
    async (_what, status, bytes) => {
      const answer = await sent(bytes);
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
      expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
      expect(head).toMatch(/\r\nconnection: close\r\n/);
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_request' } });
    },
  );

  it('answers requests that come one behind the other in their order', async () => {
    const requests = ['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const last = 'GET /4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const answers = await sent([...requests, last].join(''));
    expect(answers.match(/read \/\d/g)).toEqual(['read /1', 'read /2', 'read /3', 'read /4']);
  });

  it('answers what it could read, and not in the place of that what comes behind and it cannot', async () => {
    const answers = await sent(`GET /1 HTTP/1.1\r\nHost: a\r\n\r\nwhat is this\r\n\r\n`);
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answers).toContain('read /1');
    expect(answers).not.toContain('400');
  });
});
