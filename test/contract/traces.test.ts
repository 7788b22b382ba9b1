// The OpenTelemetry traces and logs of a deployment: one upload is one trace and one request id across all processes.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OtlpServer, type SeenSpan, startOtlpServer } from '../support/otlp-server.ts';
import { over, photograph } from '../support/pictures.ts';
import { call, deliver, put } from './support/client.ts';
import { type Deployment, startDeployment } from './support/deployment.ts';
import { runTintype } from './support/tintype.ts';

const REQUEST_ID = 'upload-of-one-picture';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER_SPAN_ID = '00f067aa0ba902b7';

let collector: OtlpServer;
let deployment: Deployment;
let key: string;
let photo: Buffer;

beforeAll(async () => {
  collector = await startOtlpServer();
  const { url } = collector;
  deployment = await startDeployment((usual) => ({
    ...usual,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    TINTYPE_LOG_LEVEL: 'debug',
  }));
  photo = await over(photograph(900, 600)).jpeg({ quality: 90 }).toBuffer();
  const alice = await deployment.session('alice');
  await alice('POST', '/v1/projects', { project_slug: 'shop' });
  key = (await alice('POST', '/v1/projects/shop/keys', { name: 'server' })).body.plaintext_secret;
}, 300_000);

afterAll(async () => {
  await deployment?.stop();
  await collector?.close();
});

const withTrail = {
  'x-request-id': REQUEST_ID,
  traceparent: `00-${TRACE_ID}-${CALLER_SPAN_ID}-01`,
};

/** Creates, sends and completes an upload, with the caller's request id and trace. */
async function uploadOnTrail(file_slug: string): Promise<string> {
  const path = '/v1/projects/shop/uploads';
  const headers = { ...withTrail, 'x-api-key': key };
  const body = { content_type: 'image/jpeg', size_bytes: photo.length, file_slug };
  const created = await call(deployment, { method: 'POST', path, body, headers });
  const { upload_id, direct } = created.body;
  await put(direct.put_url, direct.headers, photo);
  await call(deployment, { method: 'POST', path: `${path}/${upload_id}/complete`, headers });
  return upload_id;
}

const ofTrace = () => collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
const named = (name: string) => ofTrace().filter((span) => span.name === name);

/** Returns the names of a span's ancestors, from its parent to the root of the trace. */
function namesAbove(span: SeenSpan): string[] {
  const parent = ofTrace().find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? [] : [parent.name, ...namesAbove(parent)];
}

describe('the traces of a deployment', { shuffle: false }, () => {
  describe('one upload', () => {
    let uploadId: string;
    const COMPLETE = 'POST /v1/projects/:slug/uploads/:id/complete';

    beforeAll(async () => {
      uploadId = await uploadOnTrail('photo.jpg');
      // These spans end last, so they are exported last.
      await vi.waitUntil(() => named(COMPLETE).length + named('process ingest').length === 2, {
        timeout: 40_000,
      });
    });

    it('is one trace, from the caller through API, broker and worker to the decoder', () => {
      const [decoder] = named('decoder ingest');
      expect(decoder?.service).toBe('tintype-worker');
      expect(decoder && namesAbove(decoder)).toEqual([
        'ingest',
        'process ingest',
        'send ingest',
        COMPLETE,
      ]);
      const [complete] = named(COMPLETE);
      expect(complete).toMatchObject({ service: 'tintype-api', parentSpanId: CALLER_SPAN_ID });
    });

    it('has spans for PostgreSQL and storage in the API and in the worker', () => {
      const seen = new Set(ofTrace().map(({ service, name }) => `${service}: ${name}`));
      expect([...seen]).toEqual(
        expect.arrayContaining([
          'tintype-api: postgresql select',
          'tintype-api: storage head',
          'tintype-worker: storage open',
          'tintype-worker: storage write',
          'tintype-worker: postgresql update',
          'tintype-worker: postgresql commit',
        ]),
      );
    });

    it('has no span without its parent', () => {
      const ids = new Set([CALLER_SPAN_ID, ...ofTrace().map(({ spanId }) => spanId)]);
      expect(ofTrace().filter(({ parentSpanId }) => !ids.has(parentSpanId ?? ''))).toEqual([]);
    });

    it('has its request id in every span, and in the logs of the API and the worker', () => {
      const ids = ofTrace().map(({ attributes }) => attributes['tintype.request_id']);
      expect(new Set(ids)).toEqual(new Set([REQUEST_ID]));
      const linesOf = (name: 'api' | 'worker') =>
        deployment.processes[name].lines
          .map((line) => JSON.parse(line))
          .filter(({ request_id }) => request_id === REQUEST_ID);
      expect(linesOf('api').map(({ trace_id }) => trace_id)).toContain(TRACE_ID);
      expect(linesOf('worker')).toContainEqual(
        expect.objectContaining({ trace_id: TRACE_ID, upload_id: uploadId }),
      );
    });
  });

  describe('one delivery', () => {
    it('is one trace from the delivery host to the renderer', async () => {
      const path = '/resize/300x200/format/webp/f/photo.jpg';
      const answer = await deliver(deployment, { project: 'shop', path, headers: withTrail });
      expect([answer.status, answer.headers['x-request-id']]).toEqual([200, REQUEST_ID]);
      await expect.poll(() => named('GET delivery').length).toBe(1);
      await expect.poll(() => named('decoder render').length).toBe(1);
      const [renderer] = named('decoder render');
      expect(renderer && namesAbove(renderer)).toEqual([
        'render webp',
        'process render',
        'call render',
        'GET delivery',
      ]);
    });
  });

  describe('a purge', () => {
    it('reaches the CDN with a request id and a trace of its own', async () => {
      const path = '/v1/projects/shop/files/photo.jpg';
      const { seen } = deployment.cdn;
      await call(deployment, { method: 'DELETE', path, headers: { 'x-api-key': key } });
      await expect.poll(() => seen.length).toBe(1);
      const { headers } = seen[0] ?? {};
      expect(headers?.['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      const sent = () => collector.spans.find(({ name }) => name === 'BAN CDN');
      await expect.poll(sent).toBeDefined();
      expect(headers?.traceparent).toContain(sent()?.spanId);
      expect(sent()?.attributes['tintype.request_id']).toBe(headers?.['x-request-id']);
    });
  });

  describe('a CronJob’s run', () => {
    it('is one trace, exported before the process ends', async () => {
      const { env } = deployment;
      const before = collector.spans.length;
      const { code } = await runTintype(['job', 'retention', '--data', '/nowhere'], { env });
      expect(code).toBe(0);
      const fresh = collector.spans.slice(before);
      const ofJob = fresh.filter(({ service }) => service === 'tintype-job');
      const [run, ...others] = ofJob.filter(({ name }) => name === 'job retention');
      expect(others).toEqual([]);
      expect(run?.attributes).toMatchObject({ 'tintype.result': 'done' });
      expect(new Set(ofJob.map(({ traceId }) => traceId))).toEqual(new Set([run?.traceId]));
      expect(ofJob.map(({ name }) => name)).toContain('postgresql update');
    });
  });

  describe('a trace', () => {
    it('says nothing of queries, headers, values and secrets', () => {
      const text = collector.bodies.join('\n');
      const { env } = deployment;
      const secrets = Object.entries(env).filter(([name]) => /SECRET|KEYS|TOKEN/.test(name));
      expect(secrets.length).toBeGreaterThan(4);
      for (const [name, value] of secrets) expect(text.includes(value), name).toBe(false);
      for (const word of [
        key,
        new URL(env['TINTYPE_DATABASE_URL'] ?? '').password || key,
        'X-Amz-',
      ])
        expect(text).not.toContain(word);
      const attributes = collector.spans.flatMap((span) => Object.keys(span.attributes));
      expect(attributes.filter((name) => /header|query(?!\.text)|url|body/.test(name))).toEqual([]);
    });

    it('is started by the API if the caller names none', async () => {
      const before = collector.spans.length;
      await call(deployment, { method: 'GET', path: '/healthz' });
      const fresh = () => collector.spans.slice(before).find(({ name }) => name === 'GET /healthz');
      await expect.poll(fresh).toBeDefined();
      expect(fresh()).toMatchObject({ kind: 2, isFailed: false });
      expect(fresh()?.parentSpanId ?? '').toBe('');
    });
  });
});
