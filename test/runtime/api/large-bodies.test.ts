// What bodies may occupy before their callers are known. Spec: Authentication, Rules 2 and 4; Limits (request body).
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  BODIES_HELD_BYTES_MAX,
  BODIES_OF_NETWORK_BYTES_MAX,
  BODIES_RETRY_AFTER_SECONDS,
  COMPLETE_BODY_BYTES_MAX,
} from '../../../runtime/core/limits.ts';
import { useApi } from '../../support/api-server.ts';
import { expectDocumented } from '../../support/documented.ts';

const api = useApi();
const COMPLETE = '/v1/projects/alpha/uploads/upl_1/complete';
const SESSION = 'authorization: Bearer a.b.c';
const KEY_SECRET = `tin_live_${'0'.repeat(36)}`;
const KEY = `x-api-key: ${KEY_SECRET}`;

const sockets: Socket[] = [];
const BEGINNING = 'http.server.request.start';
type Taken = { socket: Socket; response: ServerResponse };
const taken: Taken[] = [];
const take = (request: unknown) => void taken.push(request as Taken);
beforeAll(() => subscribe(BEGINNING, take));
afterAll(() => void unsubscribe(BEGINNING, take));
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  taken.length = 0;
});

/** How many of the bodies that lack their last byte the server holds as far as they go. */
function heldWhole(): number {
  const isHeld = ({ socket, response }: Taken) =>
    !response.headersSent && !socket.destroyed && socket.bytesRead > LAST_BYTE_MISSING;
  return taken.filter(isHeld).length;
}

/** Linux connects from any address of the loopback network. */
function open(path: string, headers: readonly string[], localAddress = '127.0.0.1'): Socket {
  const port = Number(new URL(api.deps().addresses.baseUrl).port);
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  socket.on('error', () => undefined);
  socket.write([`POST ${path} HTTP/1.1`, 'host: a', ...headers, '', ''].join('\r\n'));
  sockets.push(socket);
  return socket;
}

/** The answer to a list of parts that declares its full length, of which this much is sent. */
async function answerTo(bytes: number, credential: readonly string[], from?: string) {
  const path = COMPLETE;
  const socket = open(path, [...credential, `content-length: ${COMPLETE_BODY_BYTES_MAX}`], from);
  socket.write(Buffer.alloc(bytes, ' '));
  return readAnswer(socket, path);
}

async function readAnswer(socket: Socket, path: string) {
  let text = '';
  while (!/\r\n\r\n\{.*\}$/s.test(text)) text += (await once(socket, 'data'))[0];
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const status = Number(head.split(' ')[1]);
  const answer = JSON.parse(body);
  expectDocumented({ method: 'POST', path, status, body: answer });
  const retry_after = /^retry-after: (\d+)$/im.exec(head)?.[1];
  return { said: `${status} ${answer.error.code}`, retry_after };
}

it.each([
  ['no credential', [], '401 unauthorized'],
  ['half a key', ['x-api-key: tin_live_0'], '401 unauthorized'],
  ['no token', ['authorization: Basic YTpi'], '401 unauthorized'],
  [
    'a token for the picker',
    ['authorization: Bearer ls1.a.b.c'],
    '401 library_session_not_allowed',
  ],
])('no body is read from a caller that has %s', async (_what, credential, said) => {
  expect((await answerTo(0, credential)).said).toBe(said);
});

it('no event is read without a signature', async () => {
  const path = '/v1/internal/storage-events';
  const socket = open(path, ['content-length: 1000000']);
  expect((await readAnswer(socket, path)).said).toBe('401 invalid_signature');
});

const FULL = { said: '429 rate_limited', retry_after: String(BODIES_RETRY_AFTER_SECONDS) };
const LAST_BYTE_MISSING = COMPLETE_BODY_BYTES_MAX - 1;
const answerToWhole = async (from: string) =>
  (await answerTo(COMPLETE_BODY_BYTES_MAX, [KEY], from)).said;

/** Begins some more bodies than fit, and waits until those are refused, and the others have arrived. */
async function fill(fitting: number, addressOf: (nth: number) => string): Promise<void> {
  const more = 4;
  const refused: unknown[] = [];
  for (let nth = 0; nth < fitting + more; nth += 1) {
    const answered = answerTo(LAST_BYTE_MISSING, [SESSION], addressOf(nth));
    void answered.then((answer) => refused.push(answer));
  }
  await expect.poll(() => refused.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(more);
  expect(refused).toEqual(refused.map(() => FULL));
  await expect.poll(heldWhole).toBe(fitting);
}

it('large bodies that do not end occupy a bounded memory, and others are served meanwhile', async () => {
  const fitting = Math.floor(BODIES_HELD_BYTES_MAX / COMPLETE_BODY_BYTES_MAX);
  await fill(fitting, (nth) => `127.0.1.${nth + 1}`);
  const usual = await api.withKey(KEY_SECRET)('POST', COMPLETE, { parts: [] });
  expect(usual.status).toBe(401);
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => answerToWhole('127.0.0.1')).toBe('401 unauthorized');
}, 120_000);

it('large bodies from one address leave room for those from others', async () => {
  const fitting = Math.floor(BODIES_OF_NETWORK_BYTES_MAX / COMPLETE_BODY_BYTES_MAX);
  await fill(fitting, () => '127.0.2.1');
  expect(await answerToWhole('127.0.2.1')).toBe(FULL.said);
  expect(await answerToWhole('127.0.2.2')).toBe('401 unauthorized');
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => answerToWhole('127.0.2.1')).toBe('401 unauthorized');
}, 120_000);
