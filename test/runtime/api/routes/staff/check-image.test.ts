// Spec: Staff (the image of a check); Staff previews.
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../../runtime/core/resources/project.ts';
import { createInProcessQueue } from '../../../../../runtime/platform/queue/in-process.ts';
import { type Bucket, StorageUnavailable } from '../../../../../runtime/platform/storage/bucket.ts';
import { startWorker, type Worker } from '../../../../../runtime/worker/serve.ts';
import { codeOf, createProject, newSubject } from '../../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../../support/api-server.ts';
import { over, photograph } from '../../../../support/pictures.ts';
import { makeCheck, makeProcessing, publish, randomHash } from '../../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
const SIZE = { width: 2000, height: 1000 };
const HELD_AND_WAITING = 33;
const reading = { read: undefined as Bucket['read'] | undefined };
let picture: Buffer;
let project: ProjectRecord;
let worker: Worker;

beforeAll(async () => {
  picture = await over(photograph(SIZE.width, SIZE.height)).jpeg().toBuffer();
  const { db, buckets, queue, clock, log } = api.deps();
  const content: Bucket = {
    ...buckets.content,
    read: (key, place) => (reading.read ?? buckets.content.read)(key, place),
  };
  const slots = { ingest: { slots: 0 }, render: { slots: 1 } };
  worker = await startWorker({ db, queue, clock, log, buckets: { ...buckets, content }, ...slots });
});
beforeEach(async () => {
  reading.read = undefined;
  project = await createProject(owner);
});
afterAll(() => worker.stop());

type Scanned = { bytes?: Buffer; width?: number; height?: number; size_bytes?: number };

/** Publishes a picture without processing it, and creates its check. */
async function scan({ bytes = picture, ...facts }: Scanned = {}) {
  const object_key = `masters/${randomHash()}`;
  const content_type = 'image/jpeg';
  await api.deps().buckets.content.write(object_key, bytes, { content_type });
  const upload = await makeProcessing(api.db, project, { file_slug: 'hero.jpg' });
  const known = { ...SIZE, object_key, content_type, mezzanines: [], ...facts };
  const check_id = await makeCheck(api.db, await publish(api.db, upload, known));
  return { object_key, check_id };
}

const look = (id: string, query = '') => staff('GET', `/v1/staff/checks/${id}/image${query}`);
const audited = async (target: string) => {
  const rows = await api.db.query(
    `select actor_kind, actor_id, action from audit_log where target = $1`,
    [target],
  );
  return rows;
};

describe('GET /v1/staff/checks/{id}/image', () => {
  it('returns a large WebP within 1600 pixels by default, not cacheable and audited', async () => {
    const { check_id } = await scan();
    const { status, headers, bytes } = await look(check_id);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'image/webp',
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'inline',
    });
    const seen = await sharp(bytes).metadata();
    expect([seen.format, seen.width, seen.height]).toEqual(['webp', 1600, 800]);
    expect(await audited(check_id)).toEqual([
      { actor_kind: 'staff', actor_id: STAFF_SUBJECT, action: 'check.view' },
    ]);
    expect((await look(check_id, '?size=large')).bytes.equals(bytes)).toBe(true);
  });

  it('returns a thumb within 480 pixels, which is not audited', async () => {
    const { check_id } = await scan();
    const { bytes } = await look(check_id, '?size=thumb');
    const { width, height } = await sharp(bytes).metadata();
    expect([width, height]).toEqual([480, 240]);
    expect(await audited(check_id)).toEqual([]);
  });

  it('never enlarges the image', async () => {
    const [width, height] = [30, 90];
    const bytes = await over(photograph(width, height)).jpeg().toBuffer();
    const { check_id } = await scan({ bytes, width, height });
    const seen = await sharp((await look(check_id)).bytes).metadata();
    expect([seen.width, seen.height]).toEqual([width, height]);
  });

  it('shows what was scanned, even if another revision has replaced it', async () => {
    const [black, white] = await Promise.all(
      [0, 255].map((level) =>
        sharp({ create: { ...SIZE, channels: 3, background: { r: level, g: level, b: level } } })
          .jpeg()
          .toBuffer(),
      ),
    );
    const first = await scan({ bytes: black ?? picture });
    const second = await scan({ bytes: white ?? picture });
    const levelOf = async (id: string) =>
      (await sharp((await look(id, '?size=thumb')).bytes).stats()).channels[0]?.mean ?? -1;
    expect(await levelOf(first.check_id)).toBeLessThan(3);
    expect(await levelOf(second.check_id)).toBeGreaterThan(252);
  });
});

describe('a failing GET /v1/staff/checks/{id}/image', () => {
  it.each(['small', 'LARGE', '', '480'])(
    'returns 400 invalid_request for size %j',
    async (size) => {
      const { check_id } = await scan();
      expect(codeOf(await look(check_id, `?size=${size}`))).toBe('400 invalid_request');
    },
  );

  it('returns 404 not_found for a nonexistent check', async () => {
    expect(codeOf(await look('chk_none'))).toBe('404 not_found');
  });

  it('returns 404 content_missing if the bytes are gone, without an audit entry', async () => {
    const { object_key, check_id } = await scan();
    await api.deps().buckets.content.delete(object_key);
    expect(codeOf(await look(check_id))).toBe('404 content_missing');
    expect(await audited(check_id)).toEqual([]);
  });

  it('returns 413 preview_too_large with max_bytes above 64 MiB', async () => {
    const max = 64 * 1024 * 1024;
    expect((await look((await scan({ size_bytes: max })).check_id)).status).toBe(200);
    const answer = await look((await scan({ size_bytes: max + 1 })).check_id);
    expect(codeOf(answer)).toBe('413 preview_too_large');
    expect(answer.body.error.details).toEqual({ max_bytes: max });
  });

  it('returns 422 preview_unavailable with the reason if the bytes cannot be decoded', async () => {
    const broken = picture.subarray(0, picture.length / 2);
    const answer = await look((await scan({ bytes: broken })).check_id);
    expect(codeOf(answer)).toBe('422 preview_unavailable');
    expect(answer.body.error.details).toEqual({ reason: 'decode_failed' });
  });

  it('returns 503 storage_unavailable while storage does not answer', async () => {
    const { check_id } = await scan();
    reading.read = () => Promise.reject(new StorageUnavailable('the storage is away'));
    expect(codeOf(await look(check_id))).toBe('503 storage_unavailable');
  });

  it('returns 503 preview_busy with Retry-After while the queue is closed', async () => {
    const { check_id } = await scan();
    const queue = createInProcessQueue();
    await queue.close();
    api.change({ queue });
    const answer = await look(check_id);
    expect(codeOf(answer)).toBe('503 preview_busy');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('returns 503 preview_busy while one is rendered and 32 wait, all of which succeed', async () => {
    const { check_id } = await scan();
    const gate = Promise.withResolvers<void>();
    const most = { at_once: 0, now: 0 };
    reading.read = async (...asked) => {
      most.now += 1;
      most.at_once = Math.max(most.at_once, most.now);
      await gate.promise;
      most.now -= 1;
      return api.deps().buckets.content.read(...asked);
    };
    const all = Array.from({ length: HELD_AND_WAITING + 1 }, () => look(check_id, '?size=thumb'));
    const refused = await Promise.race(all);
    expect(codeOf(refused)).toBe('503 preview_busy');
    const { retry_after_seconds } = refused.body.error.details;
    expect(refused.headers['retry-after']).toBe(String(retry_after_seconds));
    gate.resolve();
    const statuses = (await Promise.all(all)).map((answer) => answer.status).sort();
    expect(statuses).toEqual([...Array(HELD_AND_WAITING).fill(200), 503]);
    expect(most.at_once).toBe(1);
  });
});
