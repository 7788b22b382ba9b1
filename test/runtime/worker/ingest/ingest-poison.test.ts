import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { ingestUpload } from '../../../../runtime/worker/ingest/ingest-upload.ts';
import { createAdmission } from '../../../../runtime/worker/sandbox/admission.ts';
import { createSandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { useDatabase } from '../../../support/database.ts';
import { makeFolderBuckets } from '../../../support/folder-buckets.ts';
import { over, photograph } from '../../../support/pictures.ts';
import { makeProject } from '../../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../../support/uploads.ts';

const { db } = useDatabase();
const storage = makeFolderBuckets();
const log = createLog({ level: 'silent', name: 'test' });
const sandbox = createSandbox({
  slots: 2,
  wall_clock_ms: 60_000,
  memory_bytes: 400_000_000,
  jobs_per_child: 5,
  answer_bytes_max: 40_000_000,
  admission: createAdmission({ memory_bytes: 400_000_000 }),
  log,
  entry: new URL('./poisoned-decoder.ts', import.meta.url),
});
afterAll(async () => {
  await sandbox.close();
  storage.remove();
});

const world = { db, buckets: storage.buckets };
const deps = { ...world, sandbox, clock: systemClock, log, ingest_bytes_max: 100_000_000 };

/** Runs two workers concurrently until neither finds work. Returns the number of attempts. */
async function workUntilIdle(): Promise<number> {
  const work = async (): Promise<number> => {
    const outcome = await ingestUpload(deps, null);
    return outcome.result === 'idle' ? 0 : 1 + (await work());
  };
  const [one, two] = await Promise.all([work(), work()]);
  return one + two;
}

/**
 * Ends the delay before retries. Call only while no worker runs: then every lease is such a delay.
 */
const endPauses = () =>
  db.query(
    `update uploads set lease_until = now() - make_interval(secs => 1) where status = 'processing'`,
  );

const poisons = [
  { behaviour: 'hang', error_code: 'processing_timeout', attempt: 3 },
  { behaviour: 'spin', error_code: 'processing_timeout', attempt: 3 },
  { behaviour: 'abort', error_code: 'processing_abandoned', attempt: 5 },
  { behaviour: 'segfault', error_code: 'processing_abandoned', attempt: 5 },
  { behaviour: 'exit', error_code: 'processing_abandoned', attempt: 5 },
  { behaviour: 'garbage', error_code: 'processing_abandoned', attempt: 5 },
  { behaviour: 'flood', error_code: 'processing_abandoned', attempt: 5 },
  { behaviour: 'grow', error_code: 'image_too_large', attempt: 5 },
] as const;

describe('poisonous uploads among good ones', () => {
  it('fail with their own code after their own attempts; good uploads are ready at the first attempt', async () => {
    const bytes = await over(photograph(320, 240)).jpeg().toBuffer();
    const project = await makeProject(db);
    const good = [];
    const bad = [];
    for (const { behaviour, ...end } of poisons) {
      const poison = Buffer.from(`poison:${behaviour} `.padEnd(200, '.'));
      bad.push({ upload: await arrive(world, project, { bytes: poison }), end });
      for (let n = 0; n < 3; n += 1) good.push(await arrive(world, project, { bytes }));
    }
    while ((await workUntilIdle()) > 0) await endPauses();
    const ends = await Promise.all(good.map((upload) => uploadAsItIs(db, upload)));
    expect(ends.map(({ status, attempt }) => `${status} ${attempt}`)).toEqual(
      good.map(() => 'ready 1'),
    );
    for (const { upload, end } of bad) {
      expect(await uploadAsItIs(db, upload)).toMatchObject({ status: 'failed', ...end });
    }
  }, 300_000);
});

describe('an upload whose project is suspended after its bytes arrived', () => {
  it('is still published', async () => {
    const project = await makeProject(db);
    const bytes = await over(photograph(320, 240)).jpeg().toBuffer();
    const upload = await arrive(world, project, { bytes });
    await db.query(
      `update projects set status = 'suspended', suspended_by = 'owner' where project_id = $1`,
      [project.project_id],
    );
    await workUntilIdle();
    expect((await uploadAsItIs(db, upload)).status).toBe('ready');
  });
});
