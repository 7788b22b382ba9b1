// What bodies may occupy before their callers are known. Spec: Authentication, Rules 2 and 4; Limits (request body).
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import {
  BODIES_HELD_BYTES_MAX,
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
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function open(path: string, headers: readonly string[]): Socket {
  const socket = connect(Number(new URL(api.deps().addresses.baseUrl).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write([`POST ${path} HTTP/1.1`, 'host: a', ...headers, '', ''].join('\r\n'));
  sockets.push(socket);
  return socket;
}

/** The answer to a list of parts that declares its full length, of which this much is sent. */
async function answerTo(bytes: number, path = COMPLETE, credential: readonly string[] = []) {
  const socket = open(path, [...credential, `content-length: ${COMPLETE_BODY_BYTES_MAX}`]);
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
  expect((await answerTo(0, COMPLETE, credential)).said).toBe(said);
});

it('no event is read without a signature', async () => {
  const path = '/v1/internal/storage-events';
  const socket = open(path, ['content-length: 1000000']);
  expect((await readAnswer(socket, path)).said).toBe('401 invalid_signature');
});

it('large bodies that do not end occupy a bounded memory, and others are served meanwhile', async () => {
  const fitting = Math.floor(BODIES_HELD_BYTES_MAX / COMPLETE_BODY_BYTES_MAX);
  const refused: { said: string; retry_after: string | undefined }[] = [];
  for (let nth = 0; nth < fitting + 4; nth += 1) {
    const answered = answerTo(COMPLETE_BODY_BYTES_MAX - 1, COMPLETE, [SESSION]);
    void answered.then((answer) => refused.push(answer));
  }
  const busy = { said: '429 rate_limited', retry_after: String(BODIES_RETRY_AFTER_SECONDS) };
  await expect.poll(() => refused.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(4);
  expect(refused).toEqual(refused.map(() => busy));
  const usual = await api.withKey(KEY_SECRET)('POST', COMPLETE, { parts: [] });
  expect(usual.status).toBe(401);
  for (const socket of sockets.splice(0)) socket.destroy();
  const large = () => answerTo(COMPLETE_BODY_BYTES_MAX, COMPLETE, [KEY]).then(({ said }) => said);
  await expect.poll(large).toBe('401 unauthorized');
}, 120_000);
