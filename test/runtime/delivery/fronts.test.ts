// Real nginx, HAProxy and Varnish in front of delivery, configured as in docs/: malformed requests get one response,
// are not forwarded as different requests, and proper ones work as without a proxy. Spec: Delivery host.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import {
  ask,
  type DeliveryHost,
  ROOT_DOMAIN,
  startDeliveryHost,
} from '../../support/delivery-host.ts';
import { type FrontServer, startFront } from '../../support/front-servers.ts';
import { over, photograph } from '../../support/pictures.ts';
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
import { startVarnishd } from '../../support/varnish-server.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let name: string;
/** Requests that reached delivery, as `METHOD target`. */
const arrived: string[] = [];

beforeAll(async () => {
  host = await startDeliveryHost({ db });
  host.server.on('request', ({ method, url }) => arrived.push(`${method} ${url}`));
  const project = await makeProject(db);
  name = `${project.project_slug}.${ROOT_DOMAIN}`;
  const bytes = await over(photograph(60, 40)).png().toBuffer();
  const image = { bytes, width: 60, height: 40, content_type: 'image/png' as const };
  await publishImage({ db, content: host.content }, project, { image, file_slug: 'cat' });
});
afterAll(() => host.close());

const END = '/originals/f/end';
const end = rawGet(END, 'Connection: close\r\n');
const smuggled = rawGet('/originals/f/smuggled');

/**
 * Headers for request smuggling: two servers may disagree on where the body of such a request ends.
 */
const hidden: readonly (readonly [what: string, text: string])[] = [
  ['a length', `Content-Length: ${smuggled.length}\r\n`],
  ['a length of nothing, and behind it', 'Content-Length: 0\r\nContent-Length: 5\r\n'],
  ['a signed length', `Content-Length: +${smuggled.length}\r\n`],
  ['a length in a list', `Content-Length: 0, ${smuggled.length}\r\n`],
  ['a length with a space before its colon', `Content-Length : ${smuggled.length}\r\n`],
  ['no chunk, and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'],
  ['a length, and no chunk', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
  ['a coding on the next line', 'Transfer-Encoding:\r\n chunked\r\n'],
  ['a coding behind a tab', 'Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n'],
  ['a coding in quotes', 'Transfer-Encoding: "chunked"\r\nContent-Length: 5\r\n'],
  [
    'a header that is cut by a bare CR',
    'X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n',
  ],
  ['an upgrade', 'Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\n'],
  [
    'a connection header that names the length',
    'Connection: Content-Length\r\nContent-Length: 5\r\n',
  ],
];
const hiding = hidden.map(([what, header]) => [what, rawGet(RAW_PATH, header)] as const);

/**
 * Malformed requests that the standards let a proxy repair: it forwards them corrected, for a 200.
 */
const mended: Readonly<Record<string, readonly string[]>> = {
  nginx: ['a bare LF'],
  HAProxy: ['a bare LF', 'the same Host twice', 'a folded header', 'another version'],
  Varnish: ['a bare LF', 'a folded header', 'absolute form'],
};

const strange = [
  ...strangeTargets.map(([what, target]) => ({ what, text: rawGet(target), target })),
  ...[ABSOLUTE_FORM, ...improperRequests].map(([what, text]) => ({ what, text, target: RAW_PATH })),
];

const start = {
  nginx: () => startFront('nginx', host.port),
  'nginx with a cache': () => startFront('nginx with a cache', host.port),
  HAProxy: () => startFront('HAProxy', host.port),
  Varnish: () => startVarnishd(host.port),
};
const kinds = ['nginx', 'HAProxy', 'Varnish'] as const;

function useFront(kind: keyof typeof start): () => number {
  let front: FrontServer;
  beforeAll(async () => {
    front = await start[kind]();
  });
  afterAll(() => front.close());
  return () => front.port;
}

function say(port: number, text: string): Promise<string> {
  arrived.length = 0;
  return sayRaw(port, text.replaceAll('%H', name));
}

describe.each(kinds)('malformed requests through %s', (kind) => {
  const port = useFront(kind);

  it.each(strange)(
    'a request with $what is rejected or normalized, and never read as another request',
    async ({ what, text, target }) => {
      const said = await say(port(), `${text}${end}`);
      const [first = 0, ...rest] = statusesIn(said);
      if (mended[kind]?.includes(what)) expect(first).toBe(200);
      else expect([400, 404, 422, 501, 505]).toContain(first);
      // The next request on the connection gets its own response, or the connection has ended.
      expect(rest).toEqual(rest.length === 0 ? [] : [404]);
      const others = arrived.filter((each) => ![`GET ${target}`, `GET ${END}`].includes(each));
      expect(others.filter((each) => each !== `GET ${RAW_PATH}` || first !== 200)).toEqual([]);
    },
  );

  it.each(hiding)(
    'a request hidden behind %s is seen by both the proxy and the server, or by neither',
    async (_what, text) => {
      const said = await say(port(), `${text}0\r\n\r\n${smuggled}${end}`);
      expect(statusesIn(said).length).toBeGreaterThan(0);
      expect(arrived.length).toBeLessThanOrEqual(statusesIn(said).length);
    },
  );
});

describe.each(['nginx', 'HAProxy'] as const)('well-formed requests through %s', (kind) => {
  const port = useFront(kind);

  it.each([
    ['an original', RAW_PATH, {}],
    ['a derived image', '/resize/30x20/format/webp/f/cat', {}],
    ['HEAD', RAW_PATH, { method: 'HEAD' }],
    ['OPTIONS', RAW_PATH, { method: 'OPTIONS' }],
    ['a part', RAW_PATH, { headers: { range: 'bytes=5-9' } }],
    ['an image that the viewer has', RAW_PATH, { headers: { 'if-none-match': '*' } }],
    ['a refusal', '/originals/f/absent', {}],
    ['another method', RAW_PATH, { method: 'DELETE' }],
  ])('%s gets the same response as without the proxy', async (_what, path, asking) => {
    const [direct, through] = [
      await ask(host.port, name, { path, ...asking }),
      await ask(port(), name, { path, ...asking }),
    ];
    const pickHeaders = ({ headers }: typeof direct) => {
      const { date, connection, server, 'keep-alive': _, 'x-request-id': _id, ...rest } = headers;
      return rest;
    };
    expect(through.status).toBe(direct.status);
    expect(through.body.equals(direct.body)).toBe(true);
    expect(pickHeaders(through)).toEqual(pickHeaders(direct));
    expect(through.headers['x-request-id']).toBeDefined();
  });

  it('an unknown host is answered with 404 not_found', async () => {
    const answer = await ask(port(), 'elsewhere.example', { path: RAW_PATH });
    expect([answer.status, answer.code]).toEqual([404, 'not_found']);
  });

  it('requests on one connection reach the hosts that they name', async () => {
    const other = `GET ${RAW_PATH} HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n`;
    const said = await say(port(), `${rawGet(RAW_PATH)}${other}${rawGet(RAW_PATH)}${end}`);
    expect(statusesIn(said)).toEqual([200, 404, 200, 404]);
  });
});

describe('the nginx cache', () => {
  const port = useFront('nginx with a cache');

  it('answers a repeated request itself, but forwards one with another query', async () => {
    const seen = async (target: string) => {
      const [status] = statusesIn(await say(port(), rawGet(target, 'Connection: close\r\n')));
      return [status, ...arrived];
    };
    expect((await seen(RAW_PATH))[0]).toBe(200);
    expect(await seen(RAW_PATH)).toEqual([200]);
    const other = `${RAW_PATH}?v=2`;
    expect(await seen(other)).toEqual([404, `GET ${other}`]);
  });
});
