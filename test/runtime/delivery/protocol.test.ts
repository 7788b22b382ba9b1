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
import { metricValue } from '../../support/metric-value.ts';
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

describe('a well-formed HTTP request', () => {
  it('is answered, and its connection stays open for the next', async () => {
    const answer = await say(`${get(PATH)}${get(PATH, 'Connection: close\r\n')}`);
    expect(statuses(answer)).toEqual(['200', '200']);
  });

  it('may name the same host in both its target and its Host header', async () => {
    const [, absolute] = ABSOLUTE_FORM;
    const last = get(PATH, 'Connection: close\r\n');
    expect(statuses(await say(`${absolute}${last}`))).toEqual(['200', '200']);
    const strange = await say(get('http://%H//originals/f/cat', 'Connection: close\r\n'));
    expect(statuses(strange)).toEqual(['404']);
  });

  it.each(strangeTargets)(
    'with %s in its target is answered with a single uncacheable 404',
    async (_what, path) => {
      const answer = await say(get(path, 'Connection: close\r\n'));
      expect(statuses(answer)).toEqual(['404']);
      expect(answer).toMatch(/cache-control: no-store/i);
      expect(answer).toContain('"not_found"');
    },
  );
});

describe('a malformed HTTP request', () => {
  const refused = async () =>
    Number(
      metricValue(
        (await host.metrics.print()).text,
        'tintype_delivery_refused_total{code="invalid_request"}',
      ) ?? 0,
    );

  it.each(improperRequests)(
    'with %s is answered with a single refusal, which is counted, and the connection is closed',
    async (what, text) => {
      const before = await refused();
      const answer = await say(text);
      expect(await refused()).toBe(before + 1);
      expect(statuses(answer)).toEqual([what === 'a header that is too large' ? '431' : '400']);
      expect(answer).toMatch(/connection: close/i);
      expect(answer).toMatch(/cache-control: no-store/i);
      expect(answer).toMatch(/x-content-type-options: nosniff/i);
      expect(answer).toMatch(/x-request-id: [0-9a-f-]{36}/i);
      expect(answer).toContain('"invalid_request"');
      expect(answer).toContain(`link: ${printHelpLink(BASE_URL, 'invalid_request')}\r\n`);
    },
  );

  it('is answered with 400 even if routing would have answered 404', async () => {
    const absent = `GET /nowhere HTTP/1.1\r\nHost: absent.${ROOT_DOMAIN}\r\n`;
    const coded = await say(`${absent}Transfer-Encoding: xchunked\r\n\r\n`);
    expect(statuses(coded)).toEqual(['400']);
    const twice = await say(`${absent}Host: %H\r\n\r\n`);
    expect(statuses(twice)).toEqual(['400']);
  });

  it('is rejected for a second Host even behind thousands of headers', async () => {
    const answer = await say(get(PATH, `${'A:\r\n'.repeat(3000)}Host: other\r\n`));
    expect(statuses(answer)).toEqual(['400']);
  });

  it('cannot smuggle another one: what follows it is not answered', async () => {
    const answer = await say(
      `${get(PATH, 'Transfer-Encoding: xchunked\r\n')}0\r\n\r\n${get(PATH)}`,
    );
    expect(statuses(answer)).toEqual(['400']);
  });
});

describe('a request body', () => {
  it.each([
    ['of a length', 'Content-Length: 5\r\n', 'hello'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
    ['that is awaited', 'Content-Length: 5\r\nExpect: 100-continue\r\n', ''],
  ])('%s is not read: one response, then the connection closes', async (_what, header, body) => {
    const answer = await say(`${get(PATH, header)}${body}${get(PATH)}`);
    expect(statuses(answer)).toEqual(['200']);
    expect(answer).toMatch(/connection: close/i);
  });

  it('is not expected after an Upgrade offer either: one response, then the connection closes', async () => {
    const offer = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const answer = await say(`${get(PATH, offer)}${get(PATH)}`);
    expect(statuses(answer)).toEqual(['200']);
    expect(answer).toMatch(/connection: close/i);
  });

  it('with an unknown Expect value is answered normally', async () => {
    const answer = await say(get(PATH, 'Expect: something\r\nConnection: close\r\n'));
    expect(statuses(answer)).toEqual(['200']);
  });
});

describe('a connection', () => {
  it('is closed without a response if nothing is sent on it', async () => {
    expect(await say('')).toBe('');
  });

  it('is kept open between requests for longer than proxies do, with TCP keep-alive', async () => {
    // An hour is the default idle timeout of Envoy.
    expect(host.server.keepAliveTimeout).toBeGreaterThan(3_600_000);
    const socket = connect({ port: host.port, host: '127.0.0.1' });
    socket.write(get(PATH).replaceAll('%H', name));
    await once(socket, 'data');
    await expect.poll(() => timerOf(host.port)).toBe('keep-alive');
    socket.destroy();
  });

  it('is closed with a single 408 if its request head arrives too slowly', async () => {
    const answer = await say(`GET ${PATH} HTTP/1.1\r\nHost: %H\r\nX-A`);
    expect(statuses(answer)).toEqual(['408']);
  });

  it('completes the response in progress if garbage follows, and then closes without another', async () => {
    const answer = await say(`${get('/originals/f/large')}garbage\r\n\r\n`);
    expect(statuses(answer)).toEqual(['200']);
    expect(answer).not.toContain('invalid_request');
    expect(answer.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toHaveLength(largeBytes);
  });

  it('is not affected by earlier connections', async () => {
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
