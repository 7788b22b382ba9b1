// Uploads that hang, from several projects, leave a slot of their worker to other uploads from their second attempt on.
// Spec: Processing error codes (processing_timeout).
import { expect, it } from 'vitest';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { ingestUpload } from '../../../../runtime/worker/ingest/ingest-upload.ts';
import { createWorkerClaims } from '../../../../runtime/worker/ingest/worker-claims.ts';
import type { Sandbox, SandboxJob } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { SandboxFailure } from '../../../../runtime/worker/sandbox/sandbox-failure.ts';
import { useDatabase } from '../../../support/database.ts';
import { makeFolderBuckets } from '../../../support/folder-buckets.ts';
import { makeProject } from '../../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../../support/uploads.ts';

const { db } = useDatabase();

it('only one upload that timed out before is attempted at a time, which leaves slots to others', async () => {
  const storage = makeFolderBuckets();
  const hanging: PromiseWithResolvers<never>[] = [];
  /** Every attempt hangs until `endTimes` rejects it. */
  const sandbox: Sandbox = {
    run: (_job: SandboxJob) => {
      const attempt = Promise.withResolvers<never>();
      hanging.push(attempt);
      return attempt.promise;
    },
    close: async () => undefined,
  };
  const world = { db, buckets: storage.buckets };
  const log = createLog({ level: 'silent', name: 'test' });
  const claims = createWorkerClaims();
  const deps = { ...world, sandbox, claims, clock: systemClock, log, ingest_bytes_max: 1e9 };
  const endTimes = async (attempts: Promise<unknown>[]) => {
    for (const one of hanging.splice(0)) one.reject(new SandboxFailure('timeout', 'too long'));
    await Promise.all(attempts);
    await db.query(
      `update uploads set lease_until = now() - interval '1 second' where status = 'processing'`,
    );
  };
  const until = (count: number) => expect.poll(() => hanging).toHaveLength(count);
  const bytes = Buffer.from('whatever');
  const arriveIn = async () => arrive(world, await makeProject(db), { bytes });
  const uploads = [await arriveIn(), await arriveIn()];

  const first = [ingestUpload(deps, null), ingestUpload(deps, null)];
  await until(2);
  await endTimes(first);
  for (const upload of uploads) {
    expect(await uploadAsItIs(db, upload)).toMatchObject({ timeout_count: 1 });
  }

  const second = ingestUpload(deps, null);
  await until(1);
  expect(await ingestUpload(deps, null)).toEqual({ result: 'idle' });
  const good = await arriveIn();
  const other = ingestUpload(deps, null);
  await until(2);
  expect(await uploadAsItIs(db, good)).toMatchObject({ status: 'processing', attempt: 1 });
  await endTimes([second, other]);
  // The place for slow uploads is free again, and an upload that never timed out does not take it.
  const fresh = await arriveIn();
  const third = [ingestUpload(deps, fresh.upload_id)];
  await until(1);
  third.push(ingestUpload(deps, null));
  await until(2);
  await endTimes(third);
  storage.remove();
});
