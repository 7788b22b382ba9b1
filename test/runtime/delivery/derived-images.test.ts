import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { printDerivedKey } from '../../../runtime/core/delivery/plan.ts';
import type { RenderRequest } from '../../../runtime/core/delivery/render-request.ts';
import type { FileRow } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { createDerivedImages } from '../../../runtime/delivery/derived-images.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import { QueueBusy, QueueTimeout } from '../../../runtime/platform/queue/queue.ts';
import { StorageUnavailable } from '../../../runtime/platform/storage/bucket.ts';
import { useDatabase } from '../../support/database.ts';
import { change, makeWatermark, publishImage, type StoredImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { makeFolderBuckets } from '../../support/folder-buckets.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { over, photograph, quarters, seededRandom } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const silent = createLog({ level: 'silent', name: 'test' });
let host: DeliveryHost;
let picture: StoredImage;
let mark: StoredImage;
let project: ProjectRow;
let file: FileRow;

beforeAll(async () => {
  host = await startDeliveryHost({ db });
  const bytes = await over(photograph(320, 240)).png().toBuffer();
  picture = { bytes, width: 320, height: 240, content_type: 'image/png' };
  const white = { width: 20, height: 10, channels: 3 as const, background: '#ffffff' };
  const markBytes = await sharp({ create: white }).png().toBuffer();
  mark = { bytes: markBytes, width: 20, height: 10, content_type: 'image/png' };
});
afterAll(() => host.close());
beforeEach(async () => {
  project = await makeProject(db);
  file = await publish('cat', picture);
  host.renders.length = 0;
});

const publish = (file_slug: string, image: StoredImage) =>
  publishImage({ db, content: host.content }, project, { image, file_slug });
const get = (path: string) => host.get(project.project_slug, path);
const expire = () => host.clock.advance(30);
const pixelAt = async (body: Buffer, [left, top]: [number, number]) => [
  ...(await sharp(body).removeAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer()),
];

async function usage(): Promise<{ requests: number; credits: number; transforms: number }> {
  await host.meter.flush();
  const [row] = await db.query<{ requests: number; credits: number; transforms: number }>(
    `select coalesce(sum(requests), 0)::int as requests, coalesce(sum(credits), 0)::int as credits,
       coalesce(sum(transforms), 0)::int as transforms
     from usage_batch_rows where project_id = $1`,
    [project.project_id],
  );
  return row ?? { requests: 0, credits: 0, transforms: 0 };
}

describe('a derived image', () => {
  it('answers a request for one byte range with 206 and only those bytes', async () => {
    const path = '/resize/80x60/f/cat';
    const whole = (await get(path)).body;
    const part = await host.get(project.project_slug, path, { headers: { range: 'bytes=10-19' } });
    expect([part.status, part.headers['content-range']]).toEqual([
      206,
      `bytes 10-19/${whole.length}`,
    ]);
    expect(part.body.equals(whole.subarray(10, 20))).toBe(true);
  });

  it('is rendered as its transform chain says', async () => {
    const answer = await get('/crop/0,0,160,120/resize/80x60/format/webp/quality/90/f/cat');
    expect(answer.headers['content-type']).toBe('image/webp');
    const { format, width, height } = await sharp(answer.body).metadata();
    expect({ format, width, height }).toEqual({ format: 'webp', width: 80, height: 60 });
    const expected = await sharp(picture.bytes)
      .extract({ left: 0, top: 0, width: 160, height: 120 })
      .resize(80, 60)
      .png()
      .toBuffer();
    const { channels } = await sharp(expected).stats();
    const drawn = await sharp(answer.body).stats();
    for (const [at, { mean }] of channels.entries()) {
      expect(Math.abs(mean - (drawn.channels[at]?.mean ?? 0))).toBeLessThan(2);
    }
  });

  it('is rendered once, then served from memory, or from storage by a server that has not cached it', async () => {
    const other = await startDeliveryHost({ db, content: host.content, queue: host.queue });
    const path = '/resize/40x30/f/cat';
    const first = await get(path);
    const again = await get(path);
    expect(again.body.equals(first.body)).toBe(true);
    const prefix = `derived/${project.project_id}/`;
    await expect.poll(() => host.content.list({ prefix, limit: 9 })).toHaveLength(1);
    const elsewhere = await other.get(project.project_slug, path);
    expect(elsewhere.body.equals(first.body)).toBe(true);
    expect(host.renders).toEqual(['done']);
    const sources = (text: string) =>
      [...text.matchAll(/count\{status="200",source="(\w+)"\}/g)].map(([, source]) => source);
    expect(sources((await host.metrics.print()).text)).toEqual(
      expect.arrayContaining(['render', 'memory']),
    );
    expect(sources((await other.metrics.print()).text)).toEqual(['store']);
    await other.stop();
  });

  it('is rendered once for 50 concurrent requests, each of which is metered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => get('/resize/64x48/format/jpeg/f/cat')),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.toString('base64'))).size).toBe(1);
    expect(host.renders).toEqual(['done']);
    expect(await usage()).toEqual({ requests: 50, credits: 50, transforms: 50 });
  });

  it('is rendered from the smallest mezzanine that is large enough', async () => {
    const small = await sharp(picture.bytes).resize(160, 120).negate().png().toBuffer();
    const object_key = `${project.project_id}/half`;
    await host.content.write(object_key, small, { content_type: 'image/png' });
    const half = { long_edge: 160, width: 160, height: 120, object_key, content_type: 'image/png' };
    await publishImage({ db, content: host.content }, project, {
      image: picture,
      file_slug: 'half',
      mezzanines: [{ ...half, size_bytes: small.length }],
    });
    const [fromHalf, fromWhole] = [
      await get('/resize/80x60/f/half'),
      await get('/resize/160x120/f/half'),
    ];
    const [expected] = await pixelAt(await sharp(small).resize(80, 60).png().toBuffer(), [40, 30]);
    const [found] = await pixelAt(fromHalf.body, [40, 30]);
    expect(Math.abs((expected ?? 0) - (found ?? 0))).toBeLessThan(40);
    const [whole] = await pixelAt(fromWhole.body, [80, 60]);
    expect(Math.abs(255 - (whole ?? 0) - (found ?? 0))).toBeLessThan(40);
  });

  it('expands a resolution preset, and shares its render with the equivalent chain', async () => {
    await change(db, project, { resolution_presets: { thumb: 'resize/50x40/format/webp' } });
    const named = await get('/preset:thumb/f/cat');
    const plain = await get('/format/webp/resize/50x40/f/cat');
    expect(named.headers.etag).toBe(plain.headers.etag);
    expect(host.renders).toEqual(['done']);
    for (const path of ['/preset:absent/f/cat', '/preset:thumb/resize/2x2/f/cat']) {
      expect((await get(path)).status).toBe(404);
    }
  });

  it('answers 404 not_found without rendering if the chain breaks the output rules', async () => {
    for (const path of ['/resize/4000x4000/f/cat', '/crop/400,400,5,5/f/cat']) {
      expect((await get(path)).code).toBe('not_found');
    }
    expect(host.renders).toEqual([]);
  });

  it('requires an allowed chain, in any order of its operations, when the URL is unsigned', async () => {
    await change(db, project, { allowed_transform_chains: ['resize/40x30/format/webp'] });
    expect((await get('/format/webp/resize/40x30/f/cat')).status).toBe(200);
    expect((await get('/format/webp/resize/41x30/f/cat')).code).toBe('transform_chain_not_allowed');
    expect((await get('/nonsense/f/cat')).code).toBe('transform_chain_not_allowed');
    expect((await get('/originals/f/cat')).status).toBe(200);
  });
});

describe('a watermark', () => {
  it('is drawn on every derived image, but never on the original, if it is the project default', async () => {
    const plain = await get('/resize/100x75/format/png/f/cat');
    const preset = await makeWatermark(db, project, await publish('mark', mark));
    await change(db, project, { default_watermark_preset_id: preset });
    expire();
    const marked = await get('/resize/100x75/format/png/f/cat');
    expect(await pixelAt(marked.body, [5, 5])).toEqual([255, 255, 255]);
    expect(await pixelAt(marked.body, [60, 60])).toEqual(await pixelAt(plain.body, [60, 60]));
    expect(await pixelAt(plain.body, [5, 5])).not.toEqual([255, 255, 255]);
    expect(marked.headers.etag).not.toBe(plain.headers.etag);
    expect((await get('/originals/f/cat')).body.equals(picture.bytes)).toBe(true);
  });

  it('is the one named in the URL, or the default if that id is unknown', async () => {
    const black = { width: 20, height: 10, channels: 3 as const, background: '#000000' };
    const bytes = await sharp({ create: black }).png().toBuffer();
    const white = await makeWatermark(db, project, await publish('white', mark));
    const dark = await makeWatermark(db, project, await publish('dark', { ...mark, bytes }));
    await change(db, project, { default_watermark_preset_id: white });
    const corner = async (path: string) => pixelAt((await get(path)).body, [5, 5]);
    expect(await corner(`/resize/90x60/watermark:${dark}/format/png/f/cat`)).toEqual([0, 0, 0]);
    expect(await corner('/resize/90x60/watermark:wm_nobody/format/png/f/cat')).toEqual([
      255, 255, 255,
    ]);
    expect(await corner('/resize/90x60/watermark/format/png/f/cat')).toEqual([255, 255, 255]);
    expect(host.renders.length).toBe(2);
  });

  it('is drawn from the raster grid if its file is an SVG', async () => {
    const object_key = `${project.project_id}/grid`;
    await host.content.write(object_key, mark.bytes, { content_type: 'image/png' });
    const grid = { long_edge: 20, width: 20, height: 10, object_key, content_type: 'image/png' };
    const svg = await publishImage({ db, content: host.content }, project, {
      image: { ...mark, bytes: Buffer.from('<svg/>'), content_type: 'image/svg+xml' },
      file_slug: 'svg',
      mezzanines: [{ ...grid, size_bytes: mark.bytes.length }],
    });
    const preset = await makeWatermark(db, project, svg);
    const { body } = await get(`/resize/90x60/watermark:${preset}/format/png/f/cat`);
    expect(await pixelAt(body, [5, 5])).toEqual([255, 255, 255]);
  });

  it('raises the price of a delivery only if one is actually drawn', async () => {
    // A drawn watermark costs 1.2 times as much: a body above 10/12 MiB then takes two credits.
    const random = seededRandom(1);
    const noise = Buffer.from(
      Array.from({ length: 600 * 500 * 3 }, () => Math.floor(random() * 256)),
    );
    const raw = { width: 600, height: 500, channels: 3 as const };
    const bytes = await sharp(noise, { raw }).png().toBuffer();
    expect(bytes.length).toBeGreaterThan(880_000);
    expect(bytes.length).toBeLessThan(1_048_576);
    await publish('noise', { bytes, width: 600, height: 500, content_type: 'image/png' });
    expect((await get('/watermark/f/noise')).body.length).toBeGreaterThan(880_000);
    expect(await usage()).toMatchObject({ requests: 1, credits: 1 });
    const preset = await makeWatermark(db, project, await publish('mark', mark));
    await change(db, project, { default_watermark_preset_id: preset });
    expire();
    expect((await get('/watermark/f/noise')).body.length).toBeGreaterThan(880_000);
    expect(await usage()).toMatchObject({ requests: 2, credits: 3 });
  });
});

describe('a purge', () => {
  it('of a project renders its derived images again once the cached lookup expires', async () => {
    const path = '/resize/44x33/f/cat';
    await get(path);
    await change(db, project, {});
    await get(path);
    expect(host.renders).toEqual(['done']);
    expire();
    await get(path);
    expect(host.renders).toEqual(['done', 'done']);
  });

  it('is not needed for a new revision, which has its own ETag, revision header and pixels', async () => {
    const path = '/resize/44x33/format/png/f/cat';
    const before = await get(path);
    const bytes = await over(quarters(320, 240)).png().toBuffer();
    await publish('cat', { ...picture, bytes });
    expire();
    const after = await get(path);
    expect(after.headers['x-service-revision']).toBe('2');
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect(await pixelAt(after.body, [2, 2])).toEqual([255, 0, 0]);
  });
});

describe('a render that fails', () => {
  beforeEach(() => host.content.delete(`${project.project_id}/${file.file_id}`));

  it('answers 500 internal, uncached and unbilled, and is not retried for 30 seconds', async () => {
    await db.query('update file_revisions set object_key = $2 where file_id = $1', [
      file.file_id,
      `${project.project_id}/gone`,
    ]);
    const path = '/resize/10x10/f/cat';
    for (const _time of [1, 2, 3]) {
      const answer = await get(path);
      expect([answer.status, answer.code]).toEqual([500, 'internal']);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.body.toString()).not.toContain('gone');
    }
    expect(host.renders).toEqual(['failed']);
    host.clock.advance(29.9);
    expect((await get(path)).status).toBe(500);
    expect(host.renders).toEqual(['failed']);
    await host.content.write(`${project.project_id}/gone`, picture.bytes, {
      content_type: 'image/png',
    });
    host.clock.advance(0.2);
    expect((await get(path)).status).toBe(200);
    expect(await usage()).toEqual({ requests: 1, credits: 1, transforms: 1 });
  });

  it('answers 500 internal if the stored source is not an image', async () => {
    const bytes = Buffer.from('this is no picture at all');
    await publish('broken', { ...picture, bytes });
    expect((await get('/resize/10x10/f/broken')).code).toBe('internal');
  });

  it('answers 504 render_timeout, uncached and unbilled, if it exceeds its time limit', async () => {
    const hasty = await startDeliveryHost({ db, content: host.content, wall_clock_ms: 1 });
    const bytes = await over(photograph(2000, 1500)).png({ compressionLevel: 1 }).toBuffer();
    await publishImage({ db, content: hasty.content }, project, {
      image: { ...picture, bytes, width: 2000, height: 1500 },
      file_slug: 'slow',
    });
    const answer = await hasty.get(project.project_slug, '/resize/1999x1499/format/avif/f/slow');
    expect([answer.status, answer.code]).toEqual([504, 'render_timeout']);
    expect(answer.headers['cache-control']).toBe('no-store');
    await hasty.close();
    expect(await usage()).toEqual({ requests: 0, credits: 0, transforms: 0 });
  });
});

describe('unavailable storage', () => {
  it('answers 503 busy with Retry-After 2, and still 503 when the image is requested again', async () => {
    const content = { ...host.content, read: gone, open: gone, head: gone };
    const broken = await startDeliveryHost({ db, content, wall_clock_ms: 0 });
    for (const path of ['/resize/12x12/f/cat', '/originals/f/cat']) {
      const answer = await broken.get(project.project_slug, path);
      expect([answer.status, answer.code, answer.headers['retry-after']]).toEqual([
        503,
        'busy',
        '2',
      ]);
      const head = await broken.get(project.project_slug, path, { method: 'HEAD' });
      expect(head.status).toBe(503);
    }
    await broken.close();
  });
});

// Root ignores file permissions, so this stands in for a failing disk.
const gone = () => Promise.reject(new StorageUnavailable('the disk fails'));

const STAYS = new AbortController().signal;

describe('createDerivedImages', () => {
  /** Keys belong to the test's own project, so no other test holds their leases. */
  const request = (name: string): RenderRequest => {
    const { project_id } = project;
    const window = { x: 0, y: 0, width: 4, height: 4 };
    const plan = {
      window,
      output: { width: 2, height: 2 },
      format: 'png' as const,
      quality: 34,
      watermark: null,
    };
    const of = {
      project_id,
      generation: 1,
      file_id: name,
      revision: 1,
      object_key: name,
      plan,
    };
    const derived_key = printDerivedKey(of);
    return { project_id, derived_key, source_key: 's', window, cost_ms: 1, plan };
  };

  async function make(answer: () => Promise<unknown>, memory_bytes = 1000) {
    const storage = makeFolderBuckets();
    const queue = createInProcessQueue();
    let calls = 0;
    await queue.serve('render', { slots: 4, waiting_max: 4 }, () => {
      calls += 1;
      return answer();
    });
    const clock = createManualClock();
    const derived = createDerivedImages(
      {
        db,
        content: storage.buckets.content,
        queue,
        clock,
        log: silent,
        reads: { note: () => undefined },
      },
      { memory_bytes },
    );
    return { derived, clock, calls: () => calls, content: storage.buckets.content, storage };
  }
  const small = { content_type: 'image/png', size_bytes: 3, bytes: Buffer.from('abc') };

  it('passes on busy with its Retry-After and render_timeout, and remembers neither', async () => {
    const busy = await make(() => Promise.reject(new QueueBusy('render', 7)));
    expect(await busy.derived.find(request('a'), STAYS)).toEqual({
      outcome: 'busy',
      retry_after_seconds: 7,
    });
    await busy.derived.find(request('a'), STAYS);
    expect(busy.calls()).toBe(2);
    const late = await make(() => Promise.reject(new QueueTimeout('render', 1)));
    expect(await late.derived.find(request('a'), STAYS)).toEqual({ outcome: 'render_timeout' });
    await late.derived.find(request('a'), STAYS);
    expect(late.calls()).toBe(2);
  });

  it('does not remember a storage outage, and reports it to every concurrent caller', async () => {
    const { derived, calls } = await make(() =>
      Promise.reject(new StorageUnavailable('the disk fails')),
    );
    const results = await Promise.allSettled([
      derived.find(request('a'), STAYS),
      derived.find(request('a'), STAYS),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(derived.find(request('a'), STAYS)).rejects.toThrow(StorageUnavailable);
    expect(calls()).toBe(2);
  });

  it('does not remember a render that was given up because its viewers had left', async () => {
    const begun = Promise.withResolvers<void>();
    let answer: () => Promise<unknown> = () => {
      begun.resolve();
      return new Promise(() => undefined);
    };
    const { derived } = await make(() => answer());
    const leaving = new AbortController();
    const asked = derived.find(request('left'), leaving.signal);
    await begun.promise;
    leaving.abort();
    expect(await asked).toEqual({ outcome: 'gone' });
    const lease = 'select lease_id from render_leases where derived_key = $1';
    await expect.poll(() => db.query(lease, [request('left').derived_key])).toEqual([]);
    answer = async () => small;
    expect((await derived.find(request('left'), STAYS)).outcome).toBe('done');
  });

  it('reads a large render result from storage, and fails if it is missing or incomplete there', async () => {
    const find = async (name: string, stored: string | null) => {
      const made: Awaited<ReturnType<typeof make>> = await make(async () => {
        const key = request(name).derived_key;
        const type = { content_type: 'image/png' };
        if (stored !== null) await made.content.write(key, Buffer.from(stored), type);
        return { ...small, bytes: null };
      });
      return made.derived.find(request(name), STAYS);
    };
    await expect(find('none', null)).rejects.toThrow('could not be rendered');
    await expect(find('half', 'ab')).rejects.toThrow('could not be rendered');
    const bytes = Buffer.from('abc');
    expect(await find('whole', 'abc')).toEqual({ outcome: 'done', source: 'render', bytes });
  });

  it('does not keep an image in memory that takes more than an eighth of the memory limit', async () => {
    const large = { ...small, size_bytes: 200, bytes: Buffer.alloc(200, 1) };
    const { derived, calls } = await make(async () => large);
    await derived.find(request('a'), STAYS);
    await db.query('delete from render_leases');
    await derived.find(request('a'), STAYS);
    expect(calls()).toBe(2);
    const enough = await make(async () => large, 2000);
    await enough.derived.find(request('b'), STAYS);
    await enough.derived.find(request('b'), STAYS);
    expect(enough.calls()).toBe(1);
  });
});
