// Bodies that are refused before they are read, and bodies that do not come. Spec: Errors; Limits.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { REQUEST_BODY_BYTES_MAX } from '../../../runtime/core/limits.ts';
import { useApi } from '../../support/api-server.ts';

const api = useApi();
const portOf = () => Number(new URL(api.deps().addresses.baseUrl).port);
const POST = 'POST /v1/projects HTTP/1.1\r\nhost: a\r\n';

/** What comes back for a head and what follows it, up to the first whole answer. */
async function answerTo(bytes: string): Promise<{ status: number; head: string; error: Json }> {
  const socket = connect(portOf(), '127.0.0.1');
  socket.on('error', () => undefined).write(bytes);
  let text = '';
  for await (const chunk of socket) {
    text += chunk;
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
    if (body.length < length) continue;
    socket.destroy();
    return { status: Number(head.split(' ')[1]), head, error: JSON.parse(body).error };
  }
  throw new Error(`no whole answer: ${text}`);
}

type Json = { code: string; message: string; details?: unknown };

it('a body that says to be too long is refused before a byte of it has come', async () => {
  const { status, error } = await answerTo(`${POST}content-length: ${10 ** 12}\r\n\r\n`);
  expect([status, error.code, error.details]).toEqual([
    413,
    'payload_too_large',
    { max_bytes: REQUEST_BODY_BYTES_MAX },
  ]);
});

it('and nobody who asks before is told to send it', async () => {
  const asked = `${POST}expect: 100-continue\r\ncontent-length: ${10 ** 9}\r\n\r\n`;
  const { status, head } = await answerTo(asked);
  expect([status, head]).toEqual([413, expect.not.stringContaining('100 Continue')]);
});

it('a body without a length is refused at the first byte that is too many', async () => {
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
  const chunked = `${POST}transfer-encoding: chunked\r\n\r\n${chunk(REQUEST_BODY_BYTES_MAX)}`;
  const { status, error } = await answerTo(`${chunked}${chunk(1)}`);
  expect([status, error.code]).toEqual([413, 'payload_too_large']);
});

it('a compressed body is refused unread, whatever compresses it', async () => {
  for (const encoding of ['gzip', 'br', 'zstd', 'deflate', 'gzip, gzip']) {
    const { status, error } = await answerTo(
      `${POST}content-encoding: ${encoding}\r\ncontent-length: 1000\r\n\r\n`,
    );
    expect([encoding, status, error.code]).toEqual([encoding, 400, 'invalid_request']);
    expect(error.message).toContain('without Content-Encoding');
  }
});

it('a body that does not come in time is given up in words, and the connection ends', async () => {
  api.change({ body_ms_max: 200 });
  const { status, head, error } = await answerTo(`${POST}content-length: 1000\r\n\r\n{`);
  expect([status, error.code]).toEqual([408, 'invalid_request']);
  expect(error.message).toBe(
    'The body did not arrive within 0.2 seconds. Send it again, without a pause.',
  );
  expect(head.toLowerCase()).toContain('connection: close');
  await expect
    .poll(() => api.logged())
    .toContainEqual(expect.objectContaining({ status: 408, code: 'invalid_request' }));
});

it('others are answered while many send their heads and bodies a byte at a time', async () => {
  const port = portOf();
  const slow = Array.from({ length: 200 }, (_, nth) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(nth % 2 ? 'GET /v1/me HTTP/1.1\r\nX: ' : `${POST}content-length: 99\r\n\r\n{`);
    return socket;
  });
  await Promise.all(slow.map((socket) => once(socket, 'connect')));
  for (let n = 0; n < 20; n += 1) {
    for (const socket of slow) socket.write('x');
    expect((await api.anonymous('GET', '/healthz')).status).toBe(200);
  }
  for (const socket of slow) socket.destroy();
});
