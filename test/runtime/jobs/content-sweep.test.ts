import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publishFile } from '../../../runtime/actions/publish-file.ts';
import { printDerivedKey, type RenderPlan } from '../../../runtime/core/delivery/plan.ts';
import { DAY_MS, HOUR_MS } from '../../../runtime/core/durations.ts';
import { claimUpload } from '../../../runtime/db/claim-upload.ts';
import { upsertDerivedReads } from '../../../runtime/db/derived-reads.ts';
import type { FileRow } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { findSweepPosition } from '../../../runtime/db/sweep-positions.ts';
import { updateUploadAborted } from '../../../runtime/db/upload-ends.ts';
import { updateUploadFailed } from '../../../runtime/db/upload-processing.ts';
import type { UploadRow } from '../../../runtime/db/uploads.ts';
import type { JobContext } from '../../../runtime/jobs/job.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { walkBucket } from '../../../runtime/jobs/walk-bucket.ts';
import { mastersOf } from '../../../runtime/platform/storage/content-keys.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import {
  id,
  makeProcessing,
  makeProject,
  makeUpload,
  must,
  newRevision,
  publish,
} from '../../support/rows.ts';

const { db } = useDatabase();
let jobs: TestJobs;
let project: ProjectRow;
let upload: UploadRow;

// A sweep walks whole buckets: each test begins with empty ones and a database without uploads.
beforeEach(async () => {
  await db.query('truncate organizations, sweep_positions cascade');
  jobs = await makeJobs(db);
  project = await makeProject(db);
});
afterEach(() => jobs.close());

/** Runs the job as of this many milliseconds from now. */
async function sweep(later = 2 * HOUR_MS) {
  jobs.clock.set(new Date(Date.now() + later));
  return jobs.run(table['content-sweep']);
}

const content = () => jobs.deps.buckets.content;
const write = (key: string) =>
  content().write(key, Buffer.from(key), { content_type: 'image/png' });
async function keysUnder(prefix: string): Promise<string[]> {
  const objects = await content().list({ prefix, limit: 100 });
  return objects.map(({ key }) => key.slice(prefix.length));
}

// The state after a lost database was replaced by an empty one next to the old bucket.
describe('masters older than anything in the database', () => {
  it('are kept, however old: they may be all that is left of a lost database', async () => {
    const begin = mastersOf({ project_id: id('prj'), upload_id: id('upl') });
    await write(`${begin}1-master.png`);
    expect(await sweep(400 * DAY_MS)).toMatchObject({ masters: 0 });
    await makeUpload(db, project);
    expect(await sweep(400 * DAY_MS)).toMatchObject({ masters: 0 });
    expect(await keysUnder(begin)).toEqual(['1-master.png']);
  });
});

describe('masters and mezzanines', () => {
  /** An upload at its second attempt; the first was killed after it had stored its objects. */
  beforeEach(async () => {
    const { upload_id } = await makeProcessing(db, project);
    await db.query(
      'update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1',
      [upload_id],
    );
    upload = must(await claimUpload(db, { upload_id, lease_seconds: 60 }));
    for (const name of ['1-master.png', '1-1024.webp', ...SECOND]) await write(keyOf(name));
  });

  const SECOND = ['2-1024.webp', '2-exif', '2-master.png', '2-native.png'];
  const keyOf = (name: string) => `${mastersOf(upload)}${name}`;
  const stored = () => keysUnder(mastersOf(upload));
  const facts = () => ({
    object_key: keyOf('2-master.png'),
    raw_object_key: keyOf('2-native.png'),
    metadata: { exif: keyOf('2-exif') },
    mezzanines: [
      {
        long_edge: 1024,
        width: 1024,
        height: 768,
        content_type: 'image/webp',
        object_key: keyOf('2-1024.webp'),
        size_bytes: 10,
      },
    ],
  });

  it('of a killed attempt are deleted, while everything published is kept', async () => {
    await publish(db, upload, facts());
    expect(await sweep()).toMatchObject({ masters: 2 });
    expect(await stored()).toEqual(SECOND);
    expect(await sweep()).toMatchObject({ masters: 0 });
    expect(await stored()).toEqual(SECOND);
  });

  it('of a failed upload are deleted', async () => {
    const { upload_id, attempt } = upload;
    const failure = { upload_id, attempt, error_code: 'processing_abandoned' } as const;
    await db.transaction((tx) => updateUploadFailed(tx, failure));
    expect(await sweep()).toMatchObject({ masters: 6 });
    expect(await stored()).toEqual([]);
  });

  it('of an upload in progress are kept, however old they are', async () => {
    expect(await sweep(60 * DAY_MS)).toMatchObject({ masters: 0 });
    expect(await stored()).toHaveLength(6);
  });

  it('that are recent are kept, as a superseded attempt may still be writing', async () => {
    await publish(db, upload, facts());
    expect(await sweep(HOUR_MS / 2)).toMatchObject({ masters: 0 });
    expect(await stored()).toHaveLength(6);
  });

  it('of an upload without a row are kept for a month, as a restored database may be behind the bucket', async () => {
    const begin = mastersOf({ project_id: project.project_id, upload_id: id('upl') });
    await write(`${begin}1-master.png`);
    await sweep(29 * DAY_MS);
    expect(await keysUnder(begin)).toEqual(['1-master.png']);
    await sweep(31 * DAY_MS);
    expect(await keysUnder(begin)).toEqual([]);
  });

  it('that are being published during the sweep are kept', async () => {
    let swept: Awaited<ReturnType<typeof sweep>> | undefined;
    await publishFile(
      {
        db,
        clock: jobs.clock,
        failpoint: async (name) => {
          if (name === 'ingest.before_commit') swept = await sweep();
        },
      },
      { ...upload, facts: newRevision(upload, facts()), taken_at: null, location: null },
    );
    expect(swept).toMatchObject({ masters: 0 });
    expect(await sweep()).toMatchObject({ masters: 2 });
    expect(await stored()).toEqual(SECOND);
  });

  it('under unknown keys are left alone', async () => {
    for (const key of ['masters/one', 'masters/a/b/c/d', 'other/key']) await write(key);
    await sweep(60 * DAY_MS);
    for (const key of ['masters/one', 'masters/a/b/c/d', 'other/key']) {
      expect(await content().head(key), key).toBeDefined();
      await content().delete(key);
    }
  });
});

describe('derived images', () => {
  const plan: RenderPlan = {
    window: { x: 0, y: 0, width: 4, height: 4 },
    output: { width: 2, height: 2 },
    format: 'png',
    quality: 34,
    watermark: null,
  };
  const keyOf = (
    { project_id, file_id, revision, object_key }: FileRow,
    generation = project.generation,
  ) => printDerivedKey({ project_id, generation, file_id, revision, object_key, plan });
  let file: FileRow;
  beforeEach(async () => {
    file = await publish(db, await makeProcessing(db, project));
    await write(keyOf(file));
  });
  const isThere = async (key: string) => (await content().head(key)) !== undefined;

  it('of the current revision are kept for a month', async () => {
    await sweep(29 * DAY_MS);
    expect(await isThere(keyOf(file))).toBe(true);
    await sweep(31 * DAY_MS);
    expect(await isThere(keyOf(file))).toBe(false);
  });

  it('that were read are kept for a month after the read, whatever their age', async () => {
    await db.query(`insert into derived_reads values ($1, (now() at time zone 'utc')::date + 20)`, [
      keyOf(file),
    ]);
    await sweep(49 * DAY_MS);
    expect(await isThere(keyOf(file))).toBe(true);
    await sweep(52 * DAY_MS);
    expect(await isThere(keyOf(file))).toBe(false);
  });

  it('of an earlier revision are deleted even if they were read', async () => {
    const before = keyOf({ ...file, revision: 7 });
    await write(before);
    await upsertDerivedReads(db, [before]);
    await sweep();
    expect(await isThere(before)).toBe(false);
  });

  it('from before a purge of the project, or of an earlier revision, are deleted', async () => {
    const before = [keyOf(file, project.generation - 1), keyOf({ ...file, revision: 7 })];
    for (const key of before) await write(key);
    expect(await sweep()).toMatchObject({ derived: 2 });
    for (const key of before) expect(await isThere(key)).toBe(false);
    expect(await isThere(keyOf(file))).toBe(true);
  });

  it('of a deleted file are deleted', async () => {
    await db.transaction(async (tx) => {
      const [row] = await tx.query<{ size_bytes: number }>(
        `update files set status = 'deleted', deleted_at = now() where file_id = $1
         returning size_bytes`,
        [file.file_id],
      );
      await tx.query(
        `update projects set file_count = file_count - 1, storage_bytes = storage_bytes - $2
         where project_id = $1`,
        [project.project_id, row?.size_bytes],
      );
    });
    await sweep();
    expect(await isThere(keyOf(file))).toBe(false);
  });
});

describe('multipart uploads in storage', () => {
  const begin = (key: string) =>
    jobs.deps.buckets.ingest.createMultipart(key, { content_type: 'image/png' });
  const open = async () => {
    const all = await jobs.deps.buckets.ingest.listMultiparts({ prefix: '', limit: 100 });
    return all.map(({ upload_id }) => upload_id);
  };
  const makeMultipart = async () => {
    const { ingest_key, upload_id } = await makeUpload(db, project);
    const storage_upload_id = await begin(ingest_key);
    await db.query(
      `update uploads set storage_upload_id = $2, part_count = 2, part_size = 5242880
       where upload_id = $1`,
      [upload_id, storage_upload_id],
    );
    return { ingest_key, upload_id, storage_upload_id };
  };

  it('that belong to no open session are aborted after an hour', async () => {
    const live = await makeMultipart();
    const ended = await makeMultipart();
    await db.transaction((tx) => updateUploadAborted(tx, ended.upload_id));
    const dangling = await begin('prj/nobody');
    const second = await begin(live.ingest_key);
    await sweep(HOUR_MS / 2);
    expect((await open()).sort()).toEqual(
      [live, ended]
        .map((one) => one.storage_upload_id)
        .concat(dangling, second)
        .sort(),
    );
    expect(await sweep()).toMatchObject({ multiparts: 3 });
    expect(await open()).toEqual([live.storage_upload_id]);
  });

  it('are aborted even behind one that storage refuses to abort', async () => {
    const { ingest } = jobs.deps.buckets;
    const [held, other] = [await begin('prj/held'), await begin('prj/other')];
    const abortMultipart: typeof ingest.abortMultipart = async (key, upload_id) => {
      if (upload_id === held) throw new Error('not now');
      await ingest.abortMultipart(key, upload_id);
    };
    const buckets = { ...jobs.deps.buckets, ingest: { ...ingest, abortMultipart } };
    jobs.clock.set(new Date(Date.now() + 2 * HOUR_MS));
    const run = (context: JobContext) => table['content-sweep'].run({ ...context, buckets });
    expect(await jobs.run({ run })).toMatchObject({ multiparts: 1 });
    expect(await open()).toContain(held);
    expect(await open()).not.toContain(other);
  });
});

describe('a bucket walk', () => {
  it('reads a limited number of objects per run, resumes where it ended, and starts over at the end', async () => {
    const bucket = content();
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `walked/${name}`);
    for (const name of names) await write(name);
    const runs: string[][] = [];
    jobs.clock.set(new Date(Date.now() + HOUR_MS));
    const run = async () => {
      runs.push([]);
      const walk = {
        sweep: 'test',
        bucket,
        prefix: 'walked/',
        grace_ms: 0,
        objects_max: 2,
        judge: async (objects: { key: string }[]) => {
          runs.at(-1)?.push(...objects.map(({ key }) => key));
          return [];
        },
      };
      await jobs.run({
        run: async (context) => ({ deleted: await walkBucket(context, walk) }),
      });
    };
    for (let count = 0; count < 4; count += 1) await run();
    expect(runs).toEqual([names.slice(0, 2), names.slice(2, 4), names.slice(4), names.slice(0, 2)]);
    expect(await findSweepPosition(db, 'test')).toBe('walked/b');
  });

  it('continues behind an object that storage refuses to delete', async () => {
    const names = ['a', 'b', 'c'].map((name) => `held/${name}`);
    for (const name of names) await write(name);
    const refusing = async (key: string) => {
      if (key === names[0]) throw new Error('under a legal hold');
      await content().delete(key);
    };
    jobs.clock.set(new Date(Date.now() + HOUR_MS));
    const walk = {
      ...{ sweep: 'held', prefix: 'held/', grace_ms: 0, objects_max: 10 },
      bucket: { ...content(), delete: refusing },
      judge: async (objects: { key: string }[]) => objects.map(({ key }) => key),
    };
    const run = async (context: JobContext) => ({ deleted: await walkBucket(context, walk) });
    expect(await jobs.run({ run })).toEqual({ deleted: 2 });
    expect(await keysUnder('held/')).toEqual(['a']);
  });
});
