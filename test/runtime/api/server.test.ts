import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiServer } from '../../../runtime/api/server.ts';

describe('the server of the API', () => {
  const server = createApiServer((_request, response) => response.end('read'));

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  const sent = async (bytes: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.end(bytes);
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

  it.each([
    ['no HTTP at all', 'what is this\r\n\r\n'],
    ['two lengths', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a head that is too large', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])(
    'answers %s with the envelope and an x-request-id, and ends the connection',
    async (_what, bytes) => {
      const answer = await sent(bytes);
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
      expect(head).toMatch(/\r\nconnection: close\r\n/);
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_request' } });
    },
  );
});
