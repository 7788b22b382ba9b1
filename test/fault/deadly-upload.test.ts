/**
 * A worker that is killed again and again by one upload. Real processes with two slots, which have others in hand when
 * they first die, and find more each time they start. Spec: Processing error codes (processing_abandoned).
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import type { UploadRow } from '../../runtime/db/uploads.ts';
import { useDatabase } from '../support/database.ts';
import { over, photograph } from '../support/pictures.ts';
import { makeProject } from '../support/rows.ts';
import { arrive, uploadAsItIs } from '../support/uploads.ts';
import type { DeadlyWords } from './support/deadly-worker.ts';
import { named, untilAlone } from './support/ingest-kills.ts';
import { endWell, startProgram } from './support/spawned.ts';
import { makeStorage, type TestStorage } from './support/storages.ts';

const { db, url } = useDatabase();
let storage: TestStorage;
let bytes: Buffer;

beforeAll(async () => {
  storage = await makeStorage('folder');
  bytes = await over(photograph(1100, 700)).jpeg().toBuffer();
});
afterAll(() => storage?.remove());

const arriveIn = (project: ProjectRow) =>
  arrive({ db, buckets: storage.buckets }, project, { bytes });

async function countOpen(): Promise<number> {
  const rows = await db.query(`select from uploads where status in ('uploaded', 'processing')`);
  return rows.length;
}

/** Runs a worker until it dies or everything has ended; returns whether it died. */
async function live(words: Pick<DeadlyWords, 'deadly_key' | 'beside_key'>): Promise<boolean> {
  const worker = startProgram('deadly-worker', {
    url: named(url()),
    storage: storage.words,
    ...words,
  });
  const isDead = () => worker.child.signalCode !== null;
  await expect
    .poll(async () => isDead() || (await countOpen()) === 0, { timeout: 60_000, interval: 50 })
    .toBe(true);
  if (!isDead()) await endWell(worker);
  await untilAlone({ db });
  await db.query(`update uploads set lease_until = now() where status = 'processing'`);
  return isDead() && worker.child.signalCode === 'SIGKILL';
}

it('the upload that kills workers dies alone; others lose the first attempt at most, and are ready', async () => {
  const [one, other] = [await makeProject(db), await makeProject(db)];
  const deadly = await arriveIn(one);
  const innocent = await arriveIn(one);
  const { ingest_key: deadly_key } = deadly;
  let deaths = Number(await live({ deadly_key, beside_key: innocent.ingest_key }));
  expect(await uploadAsItIs(db, innocent)).toMatchObject({ status: 'processing', attempt: 1 });

  const later: UploadRow[] = [];
  for (let isDying = true; isDying; ) {
    later.push(await arriveIn(one), await arriveIn(other));
    isDying = await live({ deadly_key, beside_key: null });
    deaths += Number(isDying);
  }
  expect(deaths).toBe(5);
  expect(await uploadAsItIs(db, deadly)).toMatchObject({
    status: 'failed',
    error_code: 'processing_abandoned',
  });
  expect(await uploadAsItIs(db, innocent)).toMatchObject({ status: 'ready', attempt: 2 });
  for (const upload of later) {
    expect(await uploadAsItIs(db, upload)).toMatchObject({ status: 'ready', attempt: 1 });
  }
}, 300_000);
