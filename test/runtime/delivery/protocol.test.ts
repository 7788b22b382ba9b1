import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printHelpLink } from '../../../runtime/core/error-help/help-link.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import {
  BASE_URL,
  type DeliveryHost,
  ROOT_DOMAIN,
  startDeliveryHost,
} from '../../support/delivery-host.ts';
import { over, quarters } from '../../support/pictures.ts';
import {
  ABSOLUTE_FORM,
  improperRequests,
  RAW_PATH,
  rawGet,
  sayRaw,
  statusesIn,
  strangeTargets,
} from '../../support/raw-requests.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let name: string;
let largeBytes: number;

beforeAll(async () => {
  host = await startDeliveryHost({
    db,
    timeouts: { headers_ms: 300, request_ms: 600, check_ms: 50 },
  });
  const project: ProjectRow = await makeProject(db);
  name = `${project.project_slug}.${ROOT_DOMAIN}`;
  const at = { db, content: host.content };
  const bytes = await over(quarters(16, 16)).png().toBuffer();
  const image = { bytes, width: 16, height: 16, content_type: 'image/png' as const };
  await publishImage(at, project, { image, file_slug: 'cat' });
  const large = { ...image, bytes: Buffer.concat([bytes, Buffer.alloc(20_000_000)]) };
  largeBytes = large.bytes.length;
  await publishImage(at, project, { image: large, file_slug: 'large' });
});
afterAll(() => host.close());

const PATH = RAW_PATH;

/** Sends raw text; `%H` stands for the host name. */
const say = (text: string) => sayRaw(host.port, text.replaceAll('%H', name));
const statuses = (said: string) => statusesIn(said).map(String);
const get = rawGet;

describe('a request that is proper HTTP', () => {
  it('is answered, and its connection stays open for the next', async () => {
    const answer = await say(`${get(PATH)}${get(PATH, 'Connection: close\r\n')}`);
    expect(statuses(answer)).toEqual(['200', '200']);
  });

  it('may name its host twice, in the target and in Host, if it is the same', async () => {
    const [, absolute] = ABSOLUTE_FORM;
    const last = get(PATH, 'Connection: close\r\n');
    expect(statuses(await say(`${absolute}${last}`))).toEqual(['200', '200']);
    const strange = await say(get('http://%H//originals/f/cat', 'Connection: close\r\n'));
    expect(statuses(strange)).toEqual(['404']);
  });

  it.each(strangeTargets)(
    'with %s in its target answers one 404 that no cache keeps',
    async (_what, path) => {
      const answer = await say(get(path, 'Connection: close\r\n'));
      expect(statuses(answer)).toEqual(['404']);
      expect(answer).toMatch(/cache-control: no-store/i);
      expect(answer).toContain('"not_found"');
    },
  );
});

describe('what is no proper HTTP', () => {
  it.each(improperRequests)('with %s answers one 400 and closes', async (_what, text) => {
    const answer = await say(text);
    expect(statuses(answer)).toEqual(['400']);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toMatch(/cache-control: no-store/i);
    expect(answer).toMatch(/x-content-type-options: nosniff/i);
    expect(answer).toMatch(/x-request-id: [0-9a-f-]{36}/i);
    expect(answer).toContain('"invalid_request"');
    expect(answer).toContain(`link: ${printHelpLink(BASE_URL, 'invalid_request')}\r\n`);
  });

  it('answers the same 400 where routing would have said 404', async () => {
    const absent = `GET /nowhere HTTP/1.1\r\nHost: absent.${ROOT_DOMAIN}\r\n`;
    const coded = await say(`${absent}Transfer-Encoding: xchunked\r\n\r\n`);
    expect(statuses(coded)).toEqual(['400']);
    const twice = await say(`${absent}Host: %H\r\n\r\n`);
    expect(statuses(twice)).toEqual(['400']);
  });

  it('hides no second Host behind thousands of headers', async () => {
    const answer = await say(get(PATH, `${'A:\r\n'.repeat(3000)}Host: other\r\n`));
    expect(statuses(answer)).toEqual(['400']);
  });

  it('never smuggles: what follows a refused request is not answered', async () => {
    const answer = await say(
      `${get(PATH, 'Transfer-Encoding: xchunked\r\n')}0\r\n\r\n${get(PATH)}`,
    );
    expect(statuses(answer)).toEqual(['400']);
  });
});

describe('a body', () => {
  it.each([
    ['of a length', 'Content-Length: 5\r\n', 'hello'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
    ['that is awaited', 'Content-Length: 5\r\nExpect: 100-continue\r\n', ''],
  ])('%s is not read: one answer, then the connection ends', async (_what, header, body) => {
    const answer = await say(`${get(PATH, header)}${body}${get(PATH)}`);
    expect(statuses(answer)).toEqual(['200']);
    expect(answer).toMatch(/connection: close/i);
  });

  it('is not begun by an offer to upgrade either: one answer, and nothing behind it is lost unsaid', async () => {
    const offer = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const answer = await say(`${get(PATH, offer)}${get(PATH)}`);
    expect(statuses(answer)).toEqual(['200']);
    expect(answer).toMatch(/connection: close/i);
  });

  it('of an unknown expectation is answered as any other', async () => {
    const answer = await say(get(PATH, 'Expect: something\r\nConnection: close\r\n'));
    expect(statuses(answer)).toEqual(['200']);
  });
});

describe('a connection', () => {
  it('on which nothing comes is closed without words', async () => {
    expect(await say('')).toBe('');
  });

  it('is kept between requests for longer than proxies do, while somebody is there', async () => {
    // An hour is the default idle timeout of Envoy.
    expect(host.server.keepAliveTimeout).toBeGreaterThan(3_600_000);
    const socket = connect({ port: host.port, host: '127.0.0.1' });
    socket.write(get(PATH).replaceAll('%H', name));
    await once(socket, 'data');
    await expect.poll(() => timerOf(host.port)).toBe('keep-alive');
    socket.destroy();
  });

  it('whose request head arrives too slowly is closed with one 400', async () => {
    const answer = await say(`GET ${PATH} HTTP/1.1\r\nHost: %H\r\nX-A`);
    expect(statuses(answer)).toEqual(['400']);
  });

  it('whose next request is garbage ends without words inside the answer under way', async () => {
    const answer = await say(`${get('/originals/f/large')}garbage\r\n\r\n`);
    expect(statuses(answer)).toEqual(['200']);
    expect(answer).not.toContain('invalid_request');
    expect(answer.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toHaveLength(largeBytes);
  });

  it('is not disturbed by those before it', async () => {
    expect(statuses(await say(get(PATH, 'Connection: close\r\n')))).toEqual(['200']);
  });
});

/** The timer that Linux runs on the server's side of its only connection. */
async function timerOf(port: number): Promise<string | undefined> {
  const at = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n');
  const established = lines
    .map((line) => line.trim().split(/\s+/))
    .find(([, local = '', , state]) => local.endsWith(at) && state === '01');
  return established?.[5]?.startsWith('02:') ? 'keep-alive' : established?.[5];
}
