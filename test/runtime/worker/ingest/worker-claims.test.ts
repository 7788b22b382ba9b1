// An upload whose attempt was lost with its worker is processed alone, and soon, even by a busy worker. Spec:
// Processing error codes (processing_abandoned).
import { afterAll, expect, it } from 'vitest';
import { claimUpload } from '../../../../runtime/db/claim-upload.ts';
import type { ProjectRow } from '../../../../runtime/db/projects.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { ingestUpload } from '../../../../runtime/worker/ingest/ingest-upload.ts';
import { createWorkerClaims } from '../../../../runtime/worker/ingest/worker-claims.ts';
import type { Sandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { SandboxFailure } from '../../../../runtime/worker/sandbox/sandbox-failure.ts';
import { useDatabase } from '../../../support/database.ts';
import { makeFolderBuckets } from '../../../support/folder-buckets.ts';
import { makeProject } from '../../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../../support/uploads.ts';

const { db } = useDatabase();
const storage = makeFolderBuckets();
afterAll(() => storage.remove());

/** Each attempt lasts until it is ended here. */
const running: (() => void)[] = [];
const sandbox: Sandbox = {
  run: () => {
    const { promise, reject } = Promise.withResolvers<never>();
    running.push(() => reject(new SandboxFailure('crashed', 'ended by the test')));
    return promise;
  },
  close: async () => undefined,
};
const world = { db, buckets: storage.buckets };
const log = createLog({ level: 'silent', name: 'test' });
const deps = { ...world, sandbox, clock: systemClock, log, ingest_bytes_max: 1e9 };
const until = (count: number) => expect.poll(() => running).toHaveLength(count);

const arriveIn = (project: ProjectRow) => arrive(world, project, { bytes: Buffer.from('any') });

async function endAll(attempts: Promise<unknown>[]): Promise<void> {
  for (const end of running.splice(0)) end();
  await Promise.all(attempts);
}

/** An upload whose worker was killed, and whose lease is over. */
async function arriveLost(project: ProjectRow) {
  const upload = await arriveIn(project);
  await claimUpload(db, { upload_id: upload.upload_id, lease_seconds: -1 });
  return upload;
}

it('a busy worker takes nothing more once a lost upload is next, and then that one alone', async () => {
  const worker = { ...deps, claims: createWorkerClaims() };
  const project = await makeProject(db);
  const [busy, lost, fresh] = [
    await arriveIn(await makeProject(db)),
    await arriveLost(project),
    await arriveIn(project),
  ];
  const states = () =>
    Promise.all(
      [busy, lost, fresh].map(async (upload) => {
        const { status, attempt } = await uploadAsItIs(db, upload);
        return `${status} ${attempt}`;
      }),
    );

  const first = ingestUpload(worker, busy.upload_id);
  await until(1);
  // Both slots ask at once: neither may begin it beside the other.
  const asked = [ingestUpload(worker, null), ingestUpload(worker, null)];
  expect(await Promise.all(asked)).toEqual([{ result: 'reserved' }, { result: 'reserved' }]);
  expect(worker.claims.isReserved()).toBe(true);
  expect(await states()).toEqual(['processing 1', 'processing 1', 'uploaded 0']);
  await endAll([first]);

  const both = [ingestUpload(worker, null), ingestUpload(worker, null)];
  expect(await Promise.race(both)).toEqual({ result: 'reserved' });
  await until(1);
  expect(await states()).toEqual(['processing 1', 'processing 2', 'uploaded 0']);
  await endAll(both);
  expect(worker.claims.isReserved()).toBe(false);

  const last = ingestUpload(worker, null);
  await until(1);
  expect(await states()).toEqual(['processing 1', 'processing 2', 'processing 1']);
  await endAll([last]);
});

it('a busy worker goes on if another one has taken the lost upload', async () => {
  await db.query(
    `update uploads set lease_until = now() + interval '1 hour' where status = 'processing'`,
  );
  const worker = { ...deps, claims: createWorkerClaims() };
  const project = await makeProject(db);
  const busy = await arriveIn(project);
  const first = ingestUpload(worker, busy.upload_id);
  await until(1);
  const lost = await arriveLost(project);
  expect(await ingestUpload(worker, null)).toEqual({ result: 'reserved' });
  const other = ingestUpload({ ...deps, claims: createWorkerClaims() }, null);
  await until(2);
  expect(await uploadAsItIs(db, lost)).toMatchObject({ attempt: 2 });
  const fresh = await arriveIn(project);
  const second = ingestUpload(worker, null);
  await until(3);
  expect(worker.claims.isReserved()).toBe(false);
  expect(await uploadAsItIs(db, fresh)).toMatchObject({ status: 'processing', attempt: 1 });
  await endAll([first, other, second]);
});
