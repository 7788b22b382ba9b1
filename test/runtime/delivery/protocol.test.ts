import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, ROOT_DOMAIN, startDeliveryHost } from '../../support/delivery-host.ts';
import { over, quarters } from '../../support/pictures.ts';
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

const PATH = '/originals/f/cat';

/** Everything that the server says until it closes, as one string; `name` stands in for %H. */
async function say(text: string, { isOpen = false } = {}): Promise<string> {
  const socket = connect({ port: host.port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.write(Buffer.from(text.replaceAll('%H', name), 'latin1'));
  if (!isOpen) await settled(socket, chunks);
  else await once(socket, 'close');
  socket.destroy();
  return Buffer.concat(chunks).toString('latin1');
}

/** Closed by the server, or a whole answer that leaves the connection open. */
async function settled(socket: ReturnType<typeof connect>, chunks: Buffer[]): Promise<void> {
  const closed = once(socket, 'close');
  const answered = (async () => {
    while (!/\r\n\r\n/.test(Buffer.concat(chunks).toString('latin1'))) await once(socket, 'data');
    const { [0]: head = '' } = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n');
    if (/connection: close/i.test(head)) await closed;
  })();
  await Promise.race([closed, answered.catch(() => undefined)]);
}

const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code);
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: %H\r\n${more}\r\n`;

describe('a request that is proper HTTP', () => {
  it('is answered, and its connection stays open for the next', async () => {
    const answer = await say(`${get(PATH)}${get(PATH, 'Connection: close\r\n')}`, { isOpen: true });
    expect(statuses(answer)).toEqual(['200', '200']);
  });

  it.each([
    ['a percent sign', '/originals/f/c%61t'],
    ['an encoded slash', '/originals%2ff/cat'],
    ['an encoded NUL', '/originals/f/cat%00'],
    ['a percent sign in the query', '/originals/f/cat?exp=%31&kid=a&sig=b'],
    ['a backslash', '/originals\\f\\cat'],
    ['two slashes', '//originals/f/cat'],
    ['two slashes inside', '/originals//f/cat'],
    ['two dots', '/x/../originals/f/cat'],
    ['a dot segment', '/./originals/f/cat'],
    ['upper case', '/originals/f/Cat'],
    ['upper case in the chain', '/RESIZE/2x2/f/cat'],
    ['a semicolon', '/originals/f/cat;a=b'],
    ['a fragment', '/originals/f/cat#x'],
    ['a trailing slash', '/originals/f/cat/'],
    ['a leading zero', '/resize/02x2/f/cat'],
    ['a sign', '/resize/+2x2/f/cat'],
    ['a query', '/originals/f/cat?v=1'],
    ['an empty query', '/originals/f/cat?'],
    ['a doubled parameter', '/originals/f/cat?exp=1&exp=2&kid=a&sig=b'],
    ['no f segment', '/originals/cat'],
    ['nothing but a slash', '/'],
    ['an asterisk', '*'],
  ])('with %s in its target answers one 404 that no cache keeps', async (_what, path) => {
    const answer = await say(get(path, 'Connection: close\r\n'));
    expect(statuses(answer)).toEqual(['404']);
    expect(answer).toMatch(/cache-control: no-store/i);
    expect(answer).toContain('"not_found"');
  });
});

describe('what is no proper HTTP', () => {
  it.each([
    ['two Hosts', `GET ${PATH} HTTP/1.1\r\nHost: %H\r\nHost: other\r\n\r\n`],
    ['the same Host twice', `GET ${PATH} HTTP/1.1\r\nHost: %H\r\nHost: %H\r\n\r\n`],
    ['no Host', `GET ${PATH} HTTP/1.1\r\n\r\n`],
    ['no Host, HTTP/1.0', `GET ${PATH} HTTP/1.0\r\n\r\n`],
    ['an empty Host', `GET ${PATH} HTTP/1.1\r\nHost: \r\n\r\n`],
    ['a Host list', `GET ${PATH} HTTP/1.1\r\nHost: %H, other\r\n\r\n`],
    ['a Host with a path', `GET ${PATH} HTTP/1.1\r\nHost: %H/x\r\n\r\n`],
    ['a Host with a user', `GET ${PATH} HTTP/1.1\r\nHost: a@%H\r\n\r\n`],
    ['absolute form', get(`http://%H${PATH}`)],
    ['absolute form of another host', get(`http://other${PATH}`)],
    ['a target without a slash', get('originals/f/cat')],
    ['a byte beyond ASCII in the target', get('/originals/f/c\xe4t')],
    ['an unknown coding', get(PATH, 'Transfer-Encoding: xchunked\r\n')],
    ['two codings', get(PATH, 'Transfer-Encoding: gzip, chunked\r\n')],
    ['identity coding', get(PATH, 'Transfer-Encoding: identity\r\n')],
    ['chunked twice', get(PATH, 'Transfer-Encoding: chunked, chunked\r\n')],
    ['a space before the colon', get(PATH, 'Transfer-Encoding : chunked\r\n')],
    ['coding and length', get(PATH, 'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n')],
    ['two lengths', get(PATH, 'Content-Length: 3\r\nContent-Length: 4\r\n')],
    ['a negative length', get(PATH, 'Content-Length: -1\r\n')],
    ['a folded header', get(PATH, 'X-A: b\r\n c\r\n')],
    ['a bare LF', `GET ${PATH} HTTP/1.1\nHost: %H\n\n`],
    ['a bare CR in a value', get(PATH, 'X-A: b\rc\r\n')],
    ['a NUL in a value', get(PATH, 'X-A: b\0c\r\n')],
    ['a header that is too large', get(PATH, `X-A: ${'a'.repeat(20_000)}\r\n`)],
    ['an unknown method', `FETCH ${PATH} HTTP/1.1\r\nHost: %H\r\n\r\n`],
    ['another version', `GET ${PATH} HTTP/2.0\r\nHost: %H\r\n\r\n`],
    ['a tunnel', 'CONNECT other:443 HTTP/1.1\r\nHost: %H\r\n\r\n'],
    ['garbage', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n'],
  ])('with %s answers one 400 and closes', async (_what, text) => {
    const answer = await say(text, { isOpen: true });
    expect(statuses(answer)).toEqual(['400']);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toMatch(/cache-control: no-store/i);
    expect(answer).toMatch(/x-content-type-options: nosniff/i);
    expect(answer).toMatch(/x-request-id: [0-9a-f-]{36}/i);
    expect(answer).toContain('"invalid_request"');
  });

  it('answers the same 400 where routing would have said 404', async () => {
    const absent = `GET /nowhere HTTP/1.1\r\nHost: absent.${ROOT_DOMAIN}\r\n`;
    const coded = await say(`${absent}Transfer-Encoding: xchunked\r\n\r\n`, { isOpen: true });
    expect(statuses(coded)).toEqual(['400']);
    const twice = await say(`${absent}Host: %H\r\n\r\n`, { isOpen: true });
    expect(statuses(twice)).toEqual(['400']);
  });

  it('hides no second Host behind thousands of headers', async () => {
    const answer = await say(get(PATH, `${'A:\r\n'.repeat(3000)}Host: other\r\n`), {
      isOpen: true,
    });
    expect(statuses(answer)).toEqual(['400']);
  });

  it('never smuggles: what follows a refused request is not answered', async () => {
    const answer = await say(
      `${get(PATH, 'Transfer-Encoding: xchunked\r\n')}0\r\n\r\n${get(PATH)}`,
      { isOpen: true },
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
    const answer = await say(`${get(PATH, header)}${body}${get(PATH)}`, { isOpen: true });
    expect(statuses(answer)).toEqual(['200']);
    expect(answer).toMatch(/connection: close/i);
  });

  it('of an unknown expectation is answered as any other', async () => {
    const answer = await say(get(PATH, 'Expect: something\r\nConnection: close\r\n'));
    expect(statuses(answer)).toEqual(['200']);
  });
});

describe('a connection', () => {
  it('whose request head arrives too slowly is closed with one 400', async () => {
    const answer = await say(`GET ${PATH} HTTP/1.1\r\nHost: %H\r\nX-A`, { isOpen: true });
    expect(statuses(answer)).toEqual(['400']);
  });

  it('whose next request is garbage ends without words inside the answer under way', async () => {
    const answer = await say(`${get('/originals/f/large')}garbage\r\n\r\n`, { isOpen: true });
    expect(statuses(answer)).toEqual(['200']);
    expect(answer).not.toContain('invalid_request');
    expect(answer.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toHaveLength(largeBytes);
  });

  it('is not disturbed by those before it', async () => {
    expect(statuses(await say(get(PATH, 'Connection: close\r\n')))).toEqual(['200']);
  });
});
