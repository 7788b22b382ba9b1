import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findFile } from '../../../../runtime/db/files.ts';
import { findProject, type ProjectRow } from '../../../../runtime/db/projects.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { StorageUnavailable } from '../../../../runtime/platform/storage/bucket.ts';
import { type IngestDeps, ingestUpload } from '../../../../runtime/worker/ingest/ingest-upload.ts';
import { renewLease } from '../../../../runtime/worker/ingest/lease.ts';
import { createSandbox, type Sandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { useDatabase } from '../../../support/database.ts';
import { makeFolderBuckets } from '../../../support/folder-buckets.ts';
import { animatedPng, cameraJpeg, over, photograph } from '../../../support/pictures.ts';
import { makeProcessing, makeProject } from '../../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../../support/uploads.ts';

const { db } = useDatabase();
const storage = makeFolderBuckets();
const { buckets } = storage;
const log = createLog({ level: 'silent', name: 'test' });
const lane = { slots: 1, memory_bytes: 2e9, jobs_per_child: 100, log };
let decoder: Sandbox;
let misbehaving: Sandbox;
let hasty: Sandbox;
let project: ProjectRow;

beforeAll(() => {
  decoder = createSandbox({ ...lane, wall_clock_ms: 30_000 });
  const entry = new URL('./misbehaving-decoder.ts', import.meta.url);
  const small = { ...lane, memory_bytes: 200_000_000, entry };
  misbehaving = createSandbox({ ...small, wall_clock_ms: 30_000 });
  hasty = createSandbox({ ...small, wall_clock_ms: 900 });
});
afterAll(async () => {
  await Promise.all([decoder, misbehaving, hasty].map((each) => each.close()));
  storage.remove();
});
beforeEach(async () => {
  // Keeps uploads that earlier tests left for a retry from being claimed here.
  await db.query(
    `update uploads set lease_until = now() + interval '1 day' where status = 'processing'`,
  );
  project = await makeProject(db, {
    callback_url: 'https://shop.example/hook',
    callback_secret_sealed: Buffer.alloc(32, 1),
  });
});

const deps = (changes: Partial<IngestDeps> = {}): IngestDeps => ({
  db,
  buckets,
  sandbox: decoder,
  clock: systemClock,
  log,
  ingest_bytes_max: 250_000_000,
  ...changes,
});

const world = { db, buckets };
const made = new Map<number, Promise<Buffer>>();
const jpeg = (seed = 1) => {
  const bytes =
    made.get(seed) ??
    over(photograph(1200, 800, seed))
      .jpeg()
      .toBuffer();
  made.set(seed, bytes);
  return bytes;
};
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const counters = async () => {
  const { file_count, storage_bytes, reserved_bytes } =
    (await findProject(db, project.project_id)) ?? {};
  return { file_count, storage_bytes, reserved_bytes };
};
const webhooks = () =>
  db.query<{ delivery_id: string; body: string }>(
    'select delivery_id, body from webhook_deliveries where project_id = $1 order by created_at',
    [project.project_id],
  );

describe('a valid upload', () => {
  it('is published as a file with dimensions, master, mezzanine, metadata and counters', async () => {
    const bytes = await cameraJpeg(photograph(1200, 800), 6);
    const upload = await arrive(world, project, {
      bytes,
      file_slug: 'hero.jpg',
      sha256: sha256(bytes),
    });
    expect((await ingestUpload(deps(), upload.upload_id)).result).toBe('ready');
    const file = await findFile(db, { project_id: project.project_id, file_slug: 'hero.jpg' });
    expect(file).toMatchObject({
      status: 'ready',
      revision: 1,
      content_type: 'image/jpeg',
      width: 800,
      height: 1200,
      has_alpha: false,
      is_lossless: false,
      source_sha256: sha256(bytes),
      source_size_bytes: bytes.length,
      taken_at: new Date('2024-05-06T05:08:09.000Z'),
    });
    expect(file?.latitude).toBeCloseTo(-33.8567, 3);
    const master = await buckets.content.read(file?.object_key ?? '');
    expect(sha256(master ?? Buffer.alloc(0))).toBe(file?.sha256);
    expect((await sharp(master).metadata()).width).toBe(800);
    const mezzanine = await buckets.content.read(file?.mezzanines[0]?.object_key ?? '');
    expect((await sharp(mezzanine).metadata()).height).toBe(1024);
    expect((await buckets.content.read(file?.metadata.exif ?? ''))?.includes('Tintype')).toBe(true);
    expect(await uploadAsItIs(db, upload)).toMatchObject({
      status: 'ready',
      file_id: file?.file_id,
      revision: 1,
      attempt: 1,
    });
    expect(await counters()).toEqual({
      file_count: 1,
      storage_bytes: file?.size_bytes,
      reserved_bytes: 0,
    });
    expect(await buckets.ingest.head(upload.ingest_key)).toBeUndefined();
  });

  it('queues one upload.ready webhook, or none if the project has no callback URL', async () => {
    const upload = await arrive(world, project, { bytes: await jpeg() });
    await ingestUpload(deps(), upload.upload_id);
    const [webhook, ...more] = await webhooks();
    expect(more).toEqual([]);
    expect(webhook?.delivery_id).toBe(`upload.ready:${upload.upload_id}`);
    expect(JSON.parse(webhook?.body ?? '')).toMatchObject({
      event: 'upload.ready',
      data: { upload_id: upload.upload_id, file_slug: upload.file_slug, revision: 1 },
    });
    project = await makeProject(db);
    const silent = await arrive(world, project, { bytes: await jpeg() });
    expect((await ingestUpload(deps(), silent.upload_id)).result).toBe('ready');
    expect(await webhooks()).toEqual([]);
  });

  it('to an existing slug becomes the next revision, purges the cache and marks old objects for deletion', async () => {
    for (const seed of [1, 2, 3]) {
      const upload = await arrive(world, project, { bytes: await jpeg(seed), file_slug: 'same' });
      await ingestUpload(deps(), upload.upload_id);
    }
    const file = await findFile(db, { project_id: project.project_id, file_slug: 'same' });
    expect(file?.revision).toBe(3);
    expect(await counters()).toEqual({
      file_count: 1,
      storage_bytes: file?.size_bytes,
      reserved_bytes: 0,
    });
    const purges = await db.query('select file_slug from purges where project_id = $1', [
      project.project_id,
    ]);
    expect(purges).toEqual(Array.from({ length: 4 }, () => ({ file_slug: 'same' })));
    const doomed = await db.query<{ object_key: string }>(
      `select object_key from doomed_objects where bucket = 'content' and file_id = $1`,
      [file?.file_id],
    );
    expect(doomed).toHaveLength(6);
    expect(doomed.map(({ object_key }) => object_key)).not.toContain(file?.object_key);
    expect((await webhooks()).map(({ body }) => JSON.parse(body).data.revision).sort()).toEqual([
      1, 2, 3,
    ]);
  });

  it('to an existing slug replaces location, capture time and metadata, or clears them', async () => {
    const camera = await cameraJpeg(photograph(1200, 800), 1);
    const revisions = [];
    for (const bytes of [camera, await jpeg(), camera]) {
      const upload = await arrive(world, project, { bytes, file_slug: 'moved' });
      await ingestUpload(deps(), upload.upload_id);
      revisions.push(await findFile(db, { project_id: project.project_id, file_slug: 'moved' }));
    }
    const [first, second, third] = revisions;
    expect(second).toMatchObject({ latitude: null, longitude: null, taken_at: null, metadata: {} });
    const { latitude, longitude, taken_at } = first ?? {};
    expect(third).toMatchObject({ latitude, longitude, taken_at });
    expect(taken_at).toEqual(new Date('2024-05-06T05:08:09.000Z'));
    const doomed = await db.query<{ object_key: string }>(
      `select object_key from doomed_objects where bucket = 'content' and file_id = $1`,
      [first?.file_id],
    );
    const keys = doomed.map(({ object_key }) => object_key);
    expect(keys).toContain(first?.metadata.exif);
    expect(keys).not.toContain(third?.metadata.exif);
  });

  it('keeps a blocked slug blocked', async () => {
    const [one, two] = [
      await arrive(world, project, { bytes: await jpeg(), file_slug: 'bad' }),
      await arrive(world, project, { bytes: await jpeg(2), file_slug: 'bad' }),
    ];
    await ingestUpload(deps(), one.upload_id);
    await db.query(
      `update files set status = 'blocked', blocked_by = 'staff', blocked_at = now(), block_count = 1
       where project_id = $1`,
      [project.project_id],
    );
    await ingestUpload(deps(), two.upload_id);
    const file = await findFile(db, { project_id: project.project_id, file_slug: 'bad' });
    expect(file).toMatchObject({ status: 'blocked', revision: 2 });
  });

  it('is claimed before newer ones if no id is given', async () => {
    const uploads = [
      await arrive(world, project, { bytes: await jpeg() }),
      await arrive(world, project, { bytes: await jpeg() }),
    ];
    await db.query(
      `update uploads set uploaded_at = now() - interval '1 hour' where upload_id = $1`,
      [uploads[1]?.upload_id],
    );
    const first = await ingestUpload(deps(), null);
    expect(first.result === 'ready' && first.file.file_slug).toBe(uploads[1]?.file_slug);
    expect((await ingestUpload(deps(), null)).result).toBe('ready');
    expect((await ingestUpload(deps(), null)).result).toBe('idle');
  });
});

describe('concurrent uploads to one slug', () => {
  it('get consecutive revision numbers', async () => {
    const uploads = await Promise.all(
      [1, 2, 3, 4].map(async (seed) =>
        arrive(world, project, { bytes: await jpeg(seed), file_slug: 'race' }),
      ),
    );
    await Promise.all(uploads.map(({ upload_id }) => ingestUpload(deps(), upload_id)));
    const revisions = await Promise.all(
      uploads.map(async (upload) => (await uploadAsItIs(db, upload)).revision),
    );
    expect(revisions.sort()).toEqual([1, 2, 3, 4]);
    const file = await findFile(db, { project_id: project.project_id, file_slug: 'race' });
    expect(await counters()).toEqual({
      file_count: 1,
      storage_bytes: file?.size_bytes,
      reserved_bytes: 0,
    });
  });
});

describe('an invalid upload', () => {
  const refused = async (
    arrival: Parameters<typeof arrive>[2],
    changes: Partial<IngestDeps> = {},
  ) => {
    const upload = await arrive(world, project, arrival);
    const outcome = await ingestUpload(deps(changes), upload.upload_id);
    const after = await uploadAsItIs(db, upload);
    expect(outcome).toEqual({ result: 'failed', error_code: after.error_code });
    expect(after.status).toBe('failed');
    expect(await counters()).toEqual({ file_count: 0, storage_bytes: 0, reserved_bytes: 0 });
    expect(await buckets.ingest.head(upload.ingest_key)).toBeUndefined();
    expect(await webhooks()).toEqual([]);
    return after.error_code;
  };

  it('fails with sha256_mismatch if its digest is wrong', async () => {
    const bytes = await jpeg();
    expect(await refused({ bytes, sha256: sha256(Buffer.from('other')) })).toBe('sha256_mismatch');
  });

  it('fails with ingest_size_mismatch if it is longer or shorter than declared', async () => {
    const bytes = await jpeg();
    expect(await refused({ bytes, size_bytes: bytes.length + 1 })).toBe('ingest_size_mismatch');
    expect(await refused({ bytes, size_bytes: bytes.length - 1 })).toBe('ingest_size_mismatch');
  });

  it('fails with the matching code if it has another type, is animated or is damaged', async () => {
    const png = await over(photograph(100, 100)).png().toBuffer();
    expect(await refused({ bytes: png })).toBe('unsupported_media_type');
    const moving = animatedPng(png);
    expect(await refused({ bytes: moving, content_type: 'image/png' })).toBe(
      'animated_not_supported',
    );
    const cut = (await jpeg()).subarray(0, 5000);
    expect(await refused({ bytes: cut })).toBe('decode_failed');
  });

  it('fails with file_too_large if it exceeds the size limit of the deployment', async () => {
    expect(await refused({ bytes: await jpeg() }, { ingest_bytes_max: 1000 })).toBe(
      'file_too_large',
    );
  });

  it('fails with ingest_object_missing if its object is gone', async () => {
    const upload = await arrive(world, project, { bytes: await jpeg() });
    await buckets.ingest.delete(upload.ingest_key);
    expect(await ingestUpload(deps(), upload.upload_id)).toEqual({
      result: 'failed',
      error_code: 'ingest_object_missing',
    });
  });

  it('fails with sha256_mismatch if other bytes are read than were uploaded', async () => {
    const bytes = await jpeg();
    const upload = await arrive(world, project, { bytes, sha256: sha256(bytes) });
    const other = Buffer.from(bytes);
    other[other.length - 10] = (other[other.length - 10] ?? 0) ^ 0xff;
    const swapped = {
      ...buckets,
      ingest: { ...buckets.ingest, open: async () => Readable.from([other]) },
    };
    expect(await ingestUpload(deps({ buckets: swapped }), upload.upload_id)).toEqual({
      result: 'failed',
      error_code: 'sha256_mismatch',
    });
  });
});

describe('a failed attempt', () => {
  const attempts = async (behaviour: string, turns: number, sandbox = misbehaving) => {
    const upload = await arrive(world, project, { bytes: Buffer.from(behaviour) });
    const outcomes: string[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      await db.query(
        'update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1 and lease_until is not null',
        [upload.upload_id],
      );
      const outcome = await ingestUpload(deps({ sandbox }), upload.upload_id);
      outcomes.push(outcome.result === 'failed' ? outcome.error_code : outcome.result);
    }
    return outcomes;
  };

  it('ends the upload with processing_timeout at the third timeout', async () => {
    expect(await attempts('hang', 3, hasty)).toEqual(['retry', 'retry', 'processing_timeout']);
  });

  it.each([
    ['crash', 'processing_abandoned'],
    ['killed', 'processing_abandoned'],
    ['garbage', 'processing_abandoned'],
    ['lie', 'processing_abandoned'],
    ['grow', 'image_too_large'],
  ])(
    'ends the upload at the fifth attempt if the decoder misbehaves: %s',
    async (behaviour, code) => {
      expect(await attempts(behaviour, 5)).toEqual(['retry', 'retry', 'retry', 'retry', code]);
    },
  );

  it('does not count while storage is unavailable', async () => {
    const upload = await arrive(world, project, { bytes: await jpeg() });
    const away = {
      ...buckets,
      content: {
        ...buckets.content,
        write: async () => {
          throw new StorageUnavailable('test');
        },
      },
    };
    for (let turn = 0; turn < 8; turn += 1) {
      await db.query(
        'update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1 and lease_until is not null',
        [upload.upload_id],
      );
      expect((await ingestUpload(deps({ buckets: away }), upload.upload_id)).result).toBe('retry');
    }
    await db.query(
      'update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1',
      [upload.upload_id],
    );
    expect((await ingestUpload(deps(), upload.upload_id)).result).toBe('ready');
  });

  it('is not claimed again before its delay is over', async () => {
    const upload = await arrive(world, project, { bytes: Buffer.from('crash') });
    await ingestUpload(deps({ sandbox: misbehaving }), upload.upload_id);
    expect((await ingestUpload(deps(), upload.upload_id)).result).toBe('idle');
  });
});

/**
 * A database, with a promise that resolves when a heartbeat learns that its attempt was overtaken.
 */
function watchBeats() {
  const noticed = Promise.withResolvers<void>();
  const query = async <Row>(text: string, values?: readonly unknown[]) => {
    const rows = await db.query<Row>(text, values);
    if (text.startsWith('update uploads set lease_until') && rows.length === 0) noticed.resolve();
    return rows;
  };
  return { watched: { ...db, query }, overtaken: noticed.promise };
}

describe('two attempts at one upload', () => {
  it('publish only once: the heartbeat of the superseded attempt notices, and the attempt is dropped', async () => {
    const upload = await arrive(world, project, { bytes: await jpeg() });
    const entered = Promise.withResolvers<void>();
    const { watched, overtaken } = watchBeats();
    const reached: string[] = [];
    const slow = ingestUpload(
      deps({
        db: watched,
        lease_seconds: 1,
        failpoint: async (name) => {
          reached.push(name);
          if (name !== 'ingest.decoded') return;
          await db.query(
            `update uploads set lease_until = now() - interval '1 second' where upload_id = $1`,
            [upload.upload_id],
          );
          entered.resolve();
          await overtaken;
        },
      }),
      upload.upload_id,
    );
    await entered.promise;
    const second = await ingestUpload(deps(), upload.upload_id);
    expect(second.result).toBe('ready');
    expect((await slow).result).toBe('dropped');
    expect(reached).not.toContain('ingest.before_publish');
    const file = await findFile(db, {
      project_id: project.project_id,
      file_slug: upload.file_slug,
    });
    expect(file?.revision).toBe(1);
    expect(await buckets.content.head(file?.object_key ?? '')).toBeDefined();
  });

  it('never overlap when the database answers late: a lease counts from when it was requested', async () => {
    const asked: { at: number; answer(): void }[] = [];
    const query = async <Row>(text: string, values?: readonly unknown[]) => {
      const gate = Promise.withResolvers<void>();
      asked.push({ at: performance.now(), answer: gate.resolve });
      await gate.promise;
      return db.query<Row>(text, values);
    };
    const processing = await makeProcessing(db, project);
    const lease = renewLease({ query }, { ...processing, lease_seconds: 1 });
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    const [first = expect.fail('nothing was asked')] = asked;
    await expect.poll(() => performance.now() - first.at).toBeGreaterThan(1000);
    expect(lease.signal.aborted).toBe(false);
    first.answer();
    await expect.poll(() => lease.signal.aborted).toBe(true);
    lease.end();
  });

  it('store their objects under different keys', async () => {
    const upload = await arrive(world, project, { bytes: await jpeg() });
    await ingestUpload(
      deps({
        failpoint: (name) => {
          if (name === 'ingest.before_publish') throw new Error('deliberate');
        },
      }),
      upload.upload_id,
    );
    await db.query(
      'update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1',
      [upload.upload_id],
    );
    const outcome = await ingestUpload(deps(), upload.upload_id);
    expect(outcome.result === 'ready' && outcome.file.object_key).toMatch(/\/2-[0-9a-f]{64}\.jpg$/);
  });
});
