/**
 * Sweeps that run while an upload is published: at each step of an attempt, between listing and deletion of the sweep,
 * between the content and its row, and after a failed attempt. On both storages, no sweep deletes an object that a row
 * refers to, and the last sweep deletes all others. Spec: Upload session (status).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findUpload, type UploadRow } from '../../runtime/db/uploads.ts';
import { contentSweep } from '../../runtime/jobs/content-sweep.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { type FailpointName, failpoints } from '../../runtime/platform/failpoint.ts';
import { createLog } from '../../runtime/platform/log.ts';
import type { Bucket } from '../../runtime/platform/storage/bucket.ts';
import { ingestUpload } from '../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../runtime/worker/sandbox/sandbox.ts';
import { useDatabase } from '../support/database.ts';
import { over, photograph } from '../support/pictures.ts';
import { makeProject, must } from '../support/rows.ts';
import { arrive } from '../support/uploads.ts';
import { brokenObjects, brokenRows } from './support/promises.ts';
import { makeStorage, STORAGE_KINDS, type TestStorage } from './support/storages.ts';
import { sweepDaysLater, sweepDeps, sweepObjects } from './support/sweeps.ts';

const steps = failpoints.filter((name) => name.startsWith('ingest.'));
/**
 * Steps at which attempts fail: with nothing stored, with some objects, with all of them, and with
 * uncommitted rows.
 */
const breaks = [
  'ingest.opened',
  'ingest.master_written',
  'ingest.mezzanines_written',
  'ingest.before_commit',
] as const;
const log = createLog({ level: 'silent', name: 'test' });
let sandbox: Sandbox;
let bytes: Buffer;

beforeAll(async () => {
  bytes = await over(photograph(1200, 90)).jpeg().toBuffer();
  const memory_bytes = 1_000_000_000;
  sandbox = createSandbox({
    slots: 2,
    wall_clock_ms: 60_000,
    memory_bytes,
    jobs_per_child: 1000,
    log,
  });
});
afterAll(() => sandbox.close());

describe.each(STORAGE_KINDS)('a sweep during publication, on %s', (kind) => {
  const { db } = useDatabase({ maxConnections: 16 });
  let storage: TestStorage;
  beforeAll(async () => {
    storage = await makeStorage(kind);
  });
  afterAll(() => storage.remove());

  const come = async () => {
    const project = await makeProject(db, {
      callback_url: 'https://shop.example/hook',
      callback_secret_sealed: Buffer.alloc(32, 1),
    });
    return arrive({ db, buckets: storage.buckets }, project, { bytes });
  };
  const work = ({ upload_id }: UploadRow, failpoint?: (name: FailpointName) => Promise<void>) => {
    const deps = { db, buckets: storage.buckets, sandbox, clock: systemClock, log };
    const asked = failpoint === undefined ? {} : { failpoint };
    return ingestUpload({ ...deps, ingest_bytes_max: 1e9, ...asked }, upload_id);
  };
  const endLease = ({ upload_id }: UploadRow) =>
    db.query(
      `update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1`,
      [upload_id],
    );
  /**
   * Runs sweeps one after the other: only one run of a job is active at a time, and steps of
   * decoding overlap.
   */
  let last = Promise.resolve();
  const sweep = () => {
    last = last.then(() => sweepObjects(db, storage));
    return last;
  };

  /** Expects a published upload with its row, all its objects, and nothing else. */
  async function expectWhole(upload: UploadRow): Promise<void> {
    expect(must(await findUpload(db, upload.upload_id)).status).toBe('ready');
    // The step that reports that the decoder has all bytes may last longer than the attempt, and so
    // may its sweep.
    await last;
    await sweepDaysLater(db, storage);
    expect(await brokenRows(db)).toEqual([]);
    expect(await brokenObjects(db, storage.look)).toEqual([]);
  }

  it.each(steps)('leaves an attempt complete if it runs at %s', async (step) => {
    const upload = await come();
    const swept = await work(upload, async (name) => (name === step ? sweep() : undefined));
    expect(swept.result).toBe('ready');
    await expectWhole(upload);
  });

  it.each(breaks)(
    'leaves a second attempt complete if it runs at each step; the first one failed at %s',
    async (step) => {
      const upload = await come();
      const first = await work(upload, async (name) => {
        if (name === step) throw new Error('the attempt breaks off');
      });
      expect(first.result).toBe('retry');
      await sweep();
      await endLease(upload);
      expect((await work(upload, sweep)).result).toBe('ready');
      await expectWhole(upload);
    },
  );

  /** Runs an attempt that stops at a step until it is released. */
  function standing(upload: UploadRow, step: FailpointName) {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ended = work(upload, async (name) => {
      if (name !== step) return;
      reached.resolve();
      await released.promise;
    });
    return {
      reached: Promise.race([reached.promise, ended]),
      goOn: async () => {
        released.resolve();
        return (await ended).result;
      },
    };
  }

  it.each(['list', 'delete'] as const)(
    'keeps objects that are published right after its %s',
    async (moment) => {
      const [upload, other] = [await come(), await come()];
      const waiting = standing(upload, 'ingest.before_publish');
      await waiting.reached;
      // Gives the sweep an object to delete, so that the test can interrupt the deletion.
      const left = `masters/${other.project_id}/${other.upload_id}/9-left.jpg`;
      await storage.buckets.content.write(left, bytes, { content_type: 'image/jpeg' });
      await work(other);
      const deps = await sweepDeps(db, storage);
      const content = interrupted(deps.buckets.content, moment, waiting.goOn);
      const context = { ...deps, buckets: { ...deps.buckets, content } };
      const signal = new AbortController().signal;
      const counts = await contentSweep({ ...context, at: deps.clock.now(), run: 'test', signal });
      expect(counts['masters']).toBe(1);
      expect(await waiting.goOn()).toBe('ready');
      await expectWhole(upload);
    },
  );

  it.each(['ingest.master_written', 'ingest.before_publish'] as const)(
    'removes what an overtaken attempt wrote, which publishes nothing: %s',
    async (step) => {
      const upload = await come();
      const first = standing(upload, step);
      await first.reached;
      await endLease(upload);
      expect((await work(upload)).result).toBe('ready');
      await sweep();
      expect(await first.goOn()).toBe('dropped');
      await expectWhole(upload);
    },
  );
});

/** Wraps a sweep's bucket to run `act` after the first call of this method, before it returns. */
function interrupted(
  bucket: Bucket,
  moment: 'list' | 'delete',
  act: () => Promise<unknown>,
): Bucket {
  let isFirst = true;
  const once = async () => {
    if (isFirst) await act();
    isFirst = false;
  };
  return {
    ...bucket,
    list: async (options) => {
      const page = await bucket.list(options);
      if (moment === 'list') await once();
      return page;
    },
    delete: async (key) => {
      if (moment === 'delete') await once();
      await bucket.delete(key);
    },
  };
}
