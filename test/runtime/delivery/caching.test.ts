// The caching table, row by row over HTTP: response, cache headers, renders and metering of each row, and HEAD as GET.
// Spec: Caching and response headers; Metering.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import table from '../../spec/caching.json' with { type: 'json' };
import { useDatabase } from '../../support/database.ts';
import { change, makeKey, publishImage, signed, type TestKey } from '../../support/delivered.ts';
import { type Answer, type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let project: ProjectRow;
let key: TestKey;

beforeAll(async () => {
  host = await startDeliveryHost({ db });
  project = await makeProject(db);
  key = await makeKey(db, project);
  await change(db, project, { raw_download_enabled: true });
  const at = { db, content: host.content };
  const bytes = await over(photograph(120, 80)).jpeg().toBuffer();
  const image = { bytes, width: 120, height: 80, content_type: 'image/jpeg' as const };
  const raw = { metadata: {}, raw_object_key: null };
  await publishImage(at, project, { image, file_slug: 'cat', ...raw });
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
  const drawing = { bytes: svg, width: 2048, height: 2048, content_type: 'image/svg+xml' as const };
  await publishImage(at, project, { image: drawing, file_slug: 'drawing' });
  await get(targets.derived);
  await usage();
});
afterAll(() => host.close());

const targets: Readonly<Record<string, string>> & { derived: string } = {
  derived: '/resize/60x40/f/cat',
  original: '/originals/f/cat',
  svg: '/originals/f/drawing',
  raw: '/download/raw/f/cat',
  absent: '/originals/f/absent',
  nonsense: '/resize/none/f/cat',
  query: '/originals/f/cat?width=3',
};

type Row = {
  answer: string;
  sends: {
    target: string;
    method?: string;
    is_cold?: boolean;
    is_signed?: boolean;
    if_none_match?: string;
    range?: string;
    if_range?: string;
  };
  status: number;
  /** Null: no header. */
  cache_control: string | null;
  has: string[];
  lacks: string[];
  body: string;
  renders: number;
  /** The kind of delivery that is metered, or `nothing`. */
  metered: string;
  code?: string;
};
const rows: Row[] = table.rows;

type Usage = { requests: number; transforms: number; bytes: number; credits: number };
let before: Usage = { requests: 0, transforms: 0, bytes: 0, credits: 0 };

/** Usage metered since the previous call. */
async function usage(): Promise<Usage> {
  await host.meter.flush();
  const [now = before] = await db.query<Usage>(
    `select coalesce(sum(requests), 0)::int as requests, coalesce(sum(transforms), 0)::int as transforms,
       coalesce(sum(bytes), 0)::int as bytes, coalesce(sum(credits), 0)::int as credits
     from usage_batch_rows`,
  );
  const names = ['requests', 'transforms', 'bytes', 'credits'] as const;
  const since = Object.fromEntries(names.map((name) => [name, now[name] - before[name]]));
  before = now;
  return since as Usage;
}

const get = (path: string, asking = {}) => host.get(project.project_slug, path, asking);

/** Each row with `is_cold` gets a width of its own, which no other request has asked for. */
function pathOf({ sends }: Row, at: number): string {
  const path = sends.is_cold ? `/resize/${100 + at}x50/f/cat` : (targets[sends.target] ?? '');
  if (!sends.is_signed) return path;
  return signed(path, {
    project,
    key,
    exp: Math.floor(host.clock.now().getTime() / 1000) + 1000,
  });
}

/** The ETag of an image that was never rendered comes from a 304 response. */
async function headersOf({ sends }: Row, path: string): Promise<Record<string, string>> {
  const tag = async () =>
    String((await get(path, { headers: { 'if-none-match': '*' } })).headers.etag);
  const written = async (value: string) => (value === 'its tag' ? tag() : value);
  const headers: Record<string, string> = {};
  if (sends.if_none_match) headers['if-none-match'] = await written(sends.if_none_match);
  if (sends.if_range) headers['if-range'] = await written(sends.if_range);
  if (sends.range) headers['range'] = sends.range;
  return headers;
}

/** Placeholders such as `<seconds to exp>` match any number. */
const pattern = (value: string) => new RegExp(`^${value.replace(/<[^>]*>/g, '\\d+')}$`);

function expectHeaders(answer: Answer, row: Row): void {
  const found = answer.headers['cache-control'] ?? null;
  if (row.cache_control === null) expect(found).toBeNull();
  else expect(found).toMatch(pattern(row.cache_control));
  const names = Object.keys(answer.headers);
  expect(names).toEqual(expect.arrayContaining([...row.has, ...table.everywhere]));
  expect(names.filter((name) => row.lacks.includes(name))).toEqual([]);
}

/** Every delivery of this size costs one credit; only derived images count as transforms. */
function meteredOf({ metered }: Row, bytes: number): Usage {
  if (metered === 'nothing') return { requests: 0, transforms: 0, bytes: 0, credits: 0 };
  return { requests: 1, transforms: metered === 'derived' ? 1 : 0, bytes, credits: 1 };
}

const lengths: Readonly<Record<string, (answer: Answer) => number>> = {
  whole: ({ headers }) => Number(headers['content-length']),
  part: () => 10,
  none: () => 0,
  refusal: ({ headers }) => Number(headers['content-length']),
};
const lasting = ({ headers }: Answer) => {
  const { date: _date, 'x-request-id': _id, connection: _connection, ...rest } = headers;
  return rest;
};
const withoutSeconds = (headers: object) =>
  JSON.parse(JSON.stringify(headers).replace(/s-maxage=9\d\d\b/, 's-maxage=900'));

describe('the caching table', () => {
  it.each(rows.map((row, at) => ({ ...row, at })))('$answer: $status', async ({ at, ...row }) => {
    const path = pathOf(row, at);
    const headers = await headersOf(row, path);
    await usage();
    const rendered = host.renders.length;
    const { method = 'GET' } = row.sends;
    const answer = await get(path, { method, headers });
    expect([answer.status, answer.code]).toEqual([row.status, row.code]);
    expectHeaders(answer, row);
    expect(answer.body.length).toBe(lengths[row.body]?.(answer));
    expect(host.renders.length - rendered).toBe(row.renders);
    const isImage = row.metered !== 'nothing';
    expect(await usage()).toEqual(meteredOf(row, isImage ? answer.body.length : 0));
  });

  const gets = rows.filter(({ sends }) => sends.method === undefined);
  it.each(gets.map((row, at) => ({ ...row, at })))(
    '$answer: HEAD answers like GET, without a body',
    async ({ at, ...row }) => {
      // HEAD ignores ranges: it responds as for the whole image.
      const { range: _range, if_range: _ifRange, ...sends } = row.sends;
      const path = pathOf(row, 1000 + at);
      const headers = await headersOf({ ...row, sends }, path);
      const got = await get(path, { headers });
      await usage();
      const range = row.sends.range ? { range: row.sends.range } : {};
      const rendered = host.renders.length;
      const head = await get(path, { method: 'HEAD', headers: { ...headers, ...range } });
      expect([head.status, head.body.length]).toEqual([got.status, 0]);
      expect(withoutSeconds(lasting(head))).toEqual(withoutSeconds(lasting(got)));
      expect(host.renders.length).toBe(rendered);
      expect(await usage()).toEqual(meteredOf(headMetered(row), 0));
    },
  );
});

/** An unsatisfiable range is rejected for GET only. */
function headMetered(row: Row): Row {
  return row.status === 416 ? { ...row, metered: row.sends.target } : row;
}
