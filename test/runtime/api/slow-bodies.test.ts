// Bodies that are rejected before they are read, and bodies that never arrive. Spec: Errors; Limits.
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import type { Request, Response } from 'express';
import { expect, it, vi } from 'vitest';
import { bodyDeadline } from '../../../runtime/api/middleware/body-deadline.ts';
import { REQUEST_BODY_BYTES_MAX } from '../../../runtime/core/limits.ts';
import { useApi } from '../../support/api-server.ts';
import { expectDocumented } from '../../support/documented.ts';

const api = useApi();
const portOf = () => Number(new URL(api.deps().addresses.baseUrl).port);
// Without any credential, a body would not be read.
const POST = 'POST /v1/projects HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a.b.c\r\n';
const STRANGER = 'POST /v1/projects HTTP/1.1\r\nhost: a\r\n';

/** Sends raw bytes and returns the first complete response. */
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
    const answer = { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
    expectDocumented({ method: 'POST', path: '/v1/projects', ...answer });
    expect(head.toLowerCase()).toContain(`/docs/errors/${answer.body.error.code}>; rel="help"`);
    return { status: answer.status, head, error: answer.body.error };
  }
  throw new Error(`no whole answer: ${text}`);
}

type Json = { code: string; message: string; details?: unknown };

it('a body with a too large Content-Length is rejected before any of it has arrived', async () => {
  const { status, error } = await answerTo(`${POST}content-length: ${10 ** 12}\r\n\r\n`);
  expect([status, error.code, error.details]).toEqual([
    413,
    'payload_too_large',
    { max_bytes: REQUEST_BODY_BYTES_MAX },
  ]);
});

it.each([
  ['a body that is too large', POST, REQUEST_BODY_BYTES_MAX + 1, 413],
  ['a body from a caller without a credential', STRANGER, 10, 401],
])(
  '%s with Expect: 100-continue is rejected with no 100 Continue',
  async (_what, head, length, refused) => {
    const asked = `${head}expect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;
    const answer = await answerTo(asked);
    expect(answer.status).toBe(refused);
    expect(answer.head).not.toContain('100 Continue');
  },
);

it('a body with Expect: 100-continue that is read gets a 100 Continue first', async () => {
  const socket = connect(portOf(), '127.0.0.1');
  socket.write(`${POST}expect: 100-continue\r\ncontent-length: 2\r\n\r\n`);
  const [first] = await once(socket, 'data');
  expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('{}');
  const [then] = await once(socket, 'data');
  expect(String(then)).toMatch(/^HTTP\/1.1 401 /);
  socket.destroy();
});

it('a client of HTTP/1.0 gets no 100 Continue', async () => {
  const old = POST.replace('HTTP/1.1', 'HTTP/1.0');
  const answer = await answerTo(`${old}expect: 100-continue\r\ncontent-length: 2\r\n\r\n{}`);
  expect(answer.head).toMatch(/^HTTP\/1.1 401 /);
});

it('a body without a length is rejected at the first byte above the limit', async () => {
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
  const chunked = `${POST}transfer-encoding: chunked\r\n\r\n${chunk(REQUEST_BODY_BYTES_MAX)}`;
  const { status, error } = await answerTo(`${chunked}${chunk(1)}`);
  expect([status, error.code]).toEqual([413, 'payload_too_large']);
});

it.each([
  ['an invalid chunk size', 'zz\r\n'],
  ['bytes after the end of a chunk', '5\r\nhelloXX\r\n'],
  ['a chunk size too large for any number', `${'f'.repeat(18)}\r\n`],
])('a malformed chunked body is rejected immediately: %s', async (_what, bytes) => {
  const { status, head, error } = await answerTo(
    `${POST}transfer-encoding: chunked\r\n\r\n${bytes}`,
  );
  expect([status, error.code]).toEqual([400, 'invalid_request']);
  expect(error.message).toContain('not valid HTTP');
  expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
  expect(head).toMatch(/\r\nconnection: close\r\n/i);
});

it('a malformed body gets no second response after the first', async () => {
  const socket = connect(portOf(), '127.0.0.1');
  socket.write('POST /nothing HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
  let answers = '';
  for await (const chunk of socket) {
    if (answers === '') socket.write('zz\r\n');
    answers += chunk;
  }
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
});

it('a malformed body is ignored if nobody reads it', async () => {
  const asked = 'GET /docs HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n';
  const socket = connect(portOf(), '127.0.0.1');
  socket.write(asked);
  let answers = '';
  for await (const chunk of socket) answers += chunk;
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  expect(answers).toMatch(/<\/html>\s*$/);
});

it.each(['POST /nothing', 'GET /docs'])(
  'a body that nobody reads does not keep its connection open: %s',
  async (asked) => {
    const socket = connect(portOf(), '127.0.0.1').on('error', () => undefined);
    socket.write(`${asked} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n`);
    const dripping = setInterval(() => socket.write('x'), 100);
    await once(socket.resume(), 'close');
    clearInterval(dripping);
  },
);

it('a compressed body is rejected unread, whatever its encoding', async () => {
  for (const encoding of ['gzip', 'br', 'zstd', 'deflate', 'gzip, gzip']) {
    const { status, error } = await answerTo(
      `${POST}content-encoding: ${encoding}\r\ncontent-length: 1000\r\n\r\n`,
    );
    expect([encoding, status, error.code]).toEqual([encoding, 400, 'invalid_request']);
    expect(error.message).toContain('without Content-Encoding');
  }
});

it('a body that does not arrive in time is answered with 408, and its connection is closed', async () => {
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

it('other requests are answered while many clients send heads and bodies byte by byte', async () => {
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

it('a body has 30 seconds to arrive, as documented', () => {
  vi.useFakeTimers();
  try {
    const bytes = new EventEmitter() as Request;
    const answered = vi.fn();
    const response = {
      append: () => response,
      set: () => response,
      status: () => response,
      json: answered,
      locals: {},
    };
    bodyDeadline(api.deps())(bytes, response as unknown as Response, () => undefined);
    vi.advanceTimersByTime(29_999);
    expect(answered).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(answered).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});
