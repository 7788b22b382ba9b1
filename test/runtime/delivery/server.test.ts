import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileRow } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { makeKey, publishImage, signed } from '../../support/delivered.ts';
import {
  ask,
  type DeliveryHost,
  ROOT_DOMAIN,
  startDeliveryHost,
} from '../../support/delivery-host.ts';
import { metricValue } from '../../support/metric-value.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let project: ProjectRow;
let file: FileRow;
let bytes: Buffer;
let origin: string;

beforeAll(async () => {
  host = await startDeliveryHost({ db });
  project = await makeProject(db);
  origin = `${project.project_slug}.${ROOT_DOMAIN}`;
  bytes = await over(photograph(120, 80)).jpeg().toBuffer();
  file = await publishImage({ db, content: host.content }, project, {
    image: { bytes, width: 120, height: 80, content_type: 'image/jpeg' },
    file_slug: 'cat.jpg',
  });
  await db.query('insert into project_domains (domain, project_id, position) values ($1, $2, 1)', [
    'img.shop.example',
    project.project_id,
  ]);
});
afterAll(() => host.close());

const ORIGINAL = '/originals/f/cat.jpg';
const DERIVED = '/resize/30x20/format/webp/f/cat.jpg';

it('a delivery server waits 10 seconds for the head of a request, 30 for all of it, and ends an idle connection after 60', () => {
  const { headersTimeout, requestTimeout, timeout } = host.server;
  expect({ headersTimeout, requestTimeout, timeout }).toEqual({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    timeout: 60_000,
  });
});

describe('delivery hosts', () => {
  it('serve a project under its own host and under its custom domain', async () => {
    for (const name of [origin, 'img.shop.example']) {
      const answer = await host.get(name, ORIGINAL);
      expect(answer.status).toBe(200);
      expect(answer.body.equals(bytes)).toBe(true);
    }
  });

  it.each(['upper case', 'a port', 'both'])('are recognized with %s', async (variant) => {
    const name = variant === 'a port' ? origin : origin.toUpperCase();
    const answer = await host.get(variant === 'upper case' ? name : `${name}:8443`, ORIGINAL);
    expect(answer.status).toBe(200);
  });

  it.each([
    'absent.images.test',
    'images.test',
    'other.example',
    'a.b.images.test',
    'x.img.shop.example',
    'img.shop.example.',
    '127.0.0.1:8081',
    '[::1]:8081',
  ])('that belong to no project answer 404 not_found: %s', async (name) => {
    const answer = await ask(host.port, name, { path: ORIGINAL });
    expect([answer.status, answer.code]).toEqual([404, 'not_found']);
  });

  it('that begin with a dot answer 400 invalid_request', async () => {
    const answer = await ask(host.port, '.images.test', { path: ORIGINAL });
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
  });

  it('accept the same signed URL under the project host and the custom domain', async () => {
    const key = await makeKey(db, project);
    const exp = Math.floor(host.clock.now().getTime() / 1000) + 1000;
    const url = signed(DERIVED, { project, key, exp });
    const [one, other] = [await host.get(origin, url), await host.get('img.shop.example', url)];
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(other.headers.etag).toBe(one.headers.etag);
    expect(other.body.equals(one.body)).toBe(true);
  });

  it('that leave a project stop serving it within 30 seconds, and serve their next project', async () => {
    const leaving = 'img.leaving.example';
    const give = (project_id: string) =>
      db.query(
        `insert into project_domains (domain, project_id, position) values ($1, $2, 2)
         on conflict (domain) do update set project_id = excluded.project_id`,
        [leaving, project_id],
      );
    await give(project.project_id);
    expect((await host.get(leaving, ORIGINAL)).status).toBe(200);
    await db.query('delete from project_domains where domain = $1', [leaving]);
    host.clock.advance(30);
    expect((await host.get(leaving, ORIGINAL)).status).toBe(404);
    const next = await makeProject(db);
    await give(next.project_id);
    host.clock.advance(30);
    expect((await host.get(leaving, ORIGINAL)).code).toBe('not_found');
    const image = { bytes, width: 120, height: 80, content_type: 'image/jpeg' as const };
    await publishImage({ db, content: host.content }, next, { image, file_slug: 'theirs' });
    const theirs = await host.get(leaving, '/originals/f/theirs');
    expect([theirs.status, theirs.headers['cache-tag']]).toEqual([
      200,
      expect.stringContaining(next.project_id),
    ]);
  });

  it('ignore X-Forwarded-Host and Forwarded', async () => {
    const headers = { 'x-forwarded-host': origin, forwarded: `host=${origin}` };
    expect((await host.get('other.example', ORIGINAL, { headers })).status).toBe(404);
  });
});

describe('methods', () => {
  it.each([ORIGINAL, DERIVED])('HEAD has the headers of GET and no body: %s', async (path) => {
    const got = await host.get(origin, path);
    const head = await host.get(origin, path, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.body.length).toBe(0);
    const same = ({ 'x-request-id': _id, date: _date, ...rest }: typeof got.headers) => rest;
    expect(same(head.headers)).toEqual(same(got.headers));
    expect(Number(head.headers['content-length'])).toBe(got.body.length);
  });

  it('HEAD of a refusal has its headers and no body', async () => {
    const head = await host.get(origin, '/originals/f/absent', { method: 'HEAD' });
    expect([head.status, head.body.length]).toEqual([404, 0]);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(50);
  });

  it('OPTIONS allows every origin to read, on any path', async () => {
    const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' };
    for (const path of [DERIVED, ORIGINAL, '/originals/f/absent', '/no/such/path?a=b']) {
      const answer = await host.get(origin, path, { method: 'OPTIONS', headers });
      expect(answer.status, path).toBe(204);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-allow-methods']).toBe('GET, HEAD, OPTIONS');
      expect(answer.headers['x-request-id']).toBeDefined();
    }
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PURGE'])(
    '%s answers 404 not_found and names the allowed methods',
    async (method) => {
      const answer = await host.get(origin, ORIGINAL, { method });
      expect([answer.status, answer.code]).toEqual([404, 'not_found']);
      expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS');
      expect(answer.headers['cache-control']).toBe('no-store');
    },
  );
});

describe('response headers of an image', () => {
  it('allow caches to keep a public image, and carry its purge tags', async () => {
    const { headers } = await host.get(origin, DERIVED);
    expect(headers).toMatchObject({
      'content-type': 'image/webp',
      'cache-control': 'public, max-age=300, s-maxage=31536000',
      'x-service-revision': '1',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'cache-tag': `${project.project_id},${file.file_id}`,
      'surrogate-key': `${project.project_id} ${file.file_id}`,
    });
    expect(headers.etag).toMatch(/^"[\w-]+"$/);
    expect(headers.vary).toBeUndefined();
  });

  it('do not vary with Accept, Cookie or Accept-Encoding', async () => {
    const headers = {
      accept: 'image/avif',
      cookie: 'a=b',
      'accept-encoding': 'br',
    };
    const [plain, other] = [
      await host.get(origin, DERIVED),
      await host.get(origin, DERIVED, { headers }),
    ];
    expect(other.status).toBe(200);
    expect(other.headers.etag).toBe(plain.headers.etag);
    expect(other.body.equals(plain.body)).toBe(true);
  });

  it('echo a well-formed x-request-id, and a generated one otherwise', async () => {
    const sent = 'caller-0123.id_9';
    const taken = await host.get(origin, ORIGINAL, { headers: { 'x-request-id': sent } });
    expect(taken.headers['x-request-id']).toBe(sent);
    for (const bad of ['short', 'has space in it', 'x'.repeat(129)]) {
      const { headers } = await host.get(origin, ORIGINAL, { headers: { 'x-request-id': bad } });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('conditional requests', () => {
  it.each([ORIGINAL, DERIVED])(
    'are answered with 304 for the ETag alone, in a list, weak, or *: %s',
    async (path) => {
      const { headers } = await host.get(origin, path);
      const etag = String(headers.etag);
      for (const value of [etag, `"a", ${etag}`, `W/${etag}`, '*']) {
        const answer = await host.get(origin, path, { headers: { 'if-none-match': value } });
        expect(answer.status).toBe(304);
        expect(answer.body.length).toBe(0);
        expect(answer.headers.etag).toBe(etag);
        expect(answer.headers['cache-control']).toBe(headers['cache-control']);
        expect(answer.headers['x-service-revision']).toBe('1');
      }
      const other = await host.get(origin, path, { headers: { 'if-none-match': '"other"' } });
      expect(other.status).toBe(200);
    },
  );

  it('are answered with 304 without rendering', async () => {
    const path = '/resize/33x22/f/cat.jpg';
    const before = host.renders.length;
    const answer = await host.get(origin, path, { headers: { 'if-none-match': '*' } });
    expect(answer.status).toBe(304);
    expect(host.renders.length).toBe(before);
  });

  it('for two equivalent chains share one ETag and one render', async () => {
    const before = host.renders.length;
    const one = await host.get(origin, '/resize/31x21/quality/70/format/jpg/f/cat.jpg');
    const other = await host.get(origin, '/format/jpeg/quality/70/resize/31x21/fill/f/cat.jpg');
    expect(other.headers.etag).toBe(one.headers.etag);
    expect(host.renders.length).toBe(before + 1);
  });
});

describe('metrics', () => {
  it('count requests by status and source, refusals by code, and only the bytes of image bodies, without naming projects', async () => {
    const sent = async () =>
      Number(metricValue((await host.metrics.print()).text, 'tintype_delivery_bytes_total'));
    const before = await sent();
    const { headers, body } = await host.get(origin, ORIGINAL);
    await host.get(origin, ORIGINAL, { headers: { 'if-none-match': String(headers.etag) } });
    await host.get(origin, ORIGINAL, { method: 'HEAD' });
    await host.get(origin, '/originals/f/absent');
    await host.get(origin, `${ORIGINAL}?exp=9999999999&kid=none&sig=forged`);
    expect((await sent()) - before).toBe(body.length);
    const { text } = await host.metrics.print();
    expect(text).toMatch(
      /tintype_delivery_request_seconds_count\{status="200",source="original"\} \d+/,
    );
    expect(text).toMatch(
      /tintype_delivery_request_seconds_count\{status="304",source="not_modified"\} \d+/,
    );
    expect(text).toMatch(/tintype_delivery_refused_total\{code="not_found"\} \d+/);
    expect(text).toMatch(/tintype_delivery_refused_total\{code="unknown_kid"\} \d+/);
    expect(text).not.toContain(project.project_slug);
  });
});
