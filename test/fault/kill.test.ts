/**
 * Kill -9 at named steps. Each start on the same data folder is killed at one step while a client uploads or fetches,
 * the next start continues from there, and at the end every promise is checked. Of the steps of ingest this suite takes
 * every third, as ingest-kill.test.ts kills a worker at each of them; `make soak` takes all.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FailpointName, failpoints } from '../../runtime/platform/failpoint.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { over, photograph } from '../support/pictures.ts';
import { sampleOf } from '../support/sample.ts';
import {
  type Books,
  complete,
  fetchImage,
  openBooks,
  type Sum,
  send,
  untilEnded,
} from './support/client.ts';
import { readMoney } from './support/money.ts';
import {
  databaseServerPid,
  giveCallback,
  type Mortal,
  makeMortal,
  untilKilled,
  untilSpoolIsEmpty,
  withDatabase,
} from './support/mortal-tintype.ts';
import { brokenPromises } from './support/promises.ts';
import {
  afterMidnight,
  charge,
  letADayPass,
  settleUploads,
  standStill,
  sumUp,
} from './support/settle.ts';

const SERIES_MS_MAX = 600_000;

type Drive = (tintype: Tintype, step: FailpointName) => Promise<void>;
type Area = 'complete' | 'ingest' | 'usage' | 'rollup' | 'charge';

let mortal: Mortal;
let bytes: Buffer;
/** The bytes of the delivered image. */
let known: Buffer;
let alive: Tintype;
const books: Books = openBooks();
/** The upload in progress at each step, and its state after the kill. */
const uploadsAt = new Map<FailpointName, { upload_id: string; status: string }>();
const servers = new Set<number | undefined>();

const stepsOf = (...areas: Area[]) =>
  failpoints.filter((name) => areas.some((area) => name.startsWith(`${area}.`)));

const uploadSteps = [...stepsOf('complete'), ...sampleOf(stepsOf('ingest'), 3)];

const upload: Drive = async (tintype, step) => {
  await untilSpoolIsEmpty(mortal.data);
  await send(tintype, books, { bytes, file_slug: slugOf(step) }).catch(() => undefined);
  uploadsAt.set(step, { upload_id: books.stored.at(-1) ?? '', status: '' });
};

const fetchOne: Drive = async (tintype) => {
  await fetchImage(tintype, books, '/originals/f/known');
};

async function fetchSome(tintype: Tintype): Promise<void> {
  for (const path of ['/originals/f/known', '/resize/200x200/f/known', '/resize/640x/f/known']) {
    await fetchImage(tintype, books, path);
  }
}

/**
 * The steps of a server. Steps of usage alternate with others, because each start sends what the
 * previous one left in the spool.
 */
function serverSteps(): [FailpointName, Drive][] {
  const fetches = stepsOf('usage').map((step): [FailpointName, Drive] => [step, fetchOne]);
  const uploads = uploadSteps.map((step): [FailpointName, Drive] => [step, upload]);
  return uploads.flatMap((step, index) => {
    const between = fetches[index];
    return between === undefined ? [step] : [between, step];
  });
}

function slugOf(step: FailpointName): string {
  return step.replaceAll('_', '-');
}

/** The client's books, plus the one delivery that was metered but whose response was cut. */
function received(): Sum {
  const { requests, bytes: sum, credits } = books.answered;
  return { requests: requests + 1, bytes: sum + known.length, credits: credits + 1 };
}

function jobOf(step: FailpointName): string[] {
  if (step.startsWith('rollup.')) return ['hourly-rollup'];
  return ['daily-charge', '--at', afterMidnight().toISOString()];
}

/** Expires the lease, so that a killed run counts as lost. */
async function forgetRun(): Promise<void> {
  await withDatabase(alive, (db) =>
    db.query(`update job_runs set lease_until = now() - make_interval(secs => 1)
      where finished_at is null and job in ('hourly-rollup', 'daily-charge')`),
  );
}

/** PostgreSQL outlives the killed process, so its state can be read. */
async function look(dead: Tintype, step: FailpointName): Promise<void> {
  servers.add(await databaseServerPid(mortal.data));
  const upload = uploadsAt.get(step);
  if (upload === undefined) return;
  const [row] = await withDatabase(dead, (db) =>
    db.query<{ status: string }>('select status from uploads where upload_id = $1', [
      upload.upload_id,
    ]),
  );
  uploadsAt.set(step, { ...upload, status: row?.status ?? 'gone' });
}

function killDatabaseServer(): void {
  const [server] = servers;
  if (server !== undefined) process.kill(server, 'SIGKILL');
}

const statusAt: Partial<Record<FailpointName, string>> = {
  'complete.object_found': 'created',
  'complete.before_commit': 'created',
  'complete.committed': 'uploaded',
  'ingest.published': 'ready',
  'ingest.object_deleted': 'ready',
};

beforeAll(async () => {
  bytes = await over(photograph(1400, 700)).jpeg().toBuffer();
  mortal = await makeMortal();
  const first = await mortal.start();
  await giveCallback(first);
  const session = await untilEnded(first, await send(first, books, { bytes, file_slug: 'known' }));
  expect(session).toMatchObject({ status: 'ready' });
  await fetchSome(first);
  known = (await fetchImage(first, books, '/originals/f/known'))?.bytes ?? Buffer.alloc(0);
  await first.end('SIGKILL');
  for (const [step, drive] of serverSteps()) {
    const doomed = await mortal.start(step);
    await drive(doomed, step);
    await untilKilled(doomed, step);
    await look(doomed, step);
    await standStill(doomed);
  }
  killDatabaseServer();
  alive = await mortal.start();
  await settleUploads(alive, books);
}, SERIES_MS_MAX);

afterAll(() => mortal.remove());

describe('a killed Tintype process', { shuffle: false }, () => {
  it('is killed in every area of failpoints except those of webhooks and billing', () => {
    const tried = stepsOf('complete', 'ingest', 'usage', 'rollup', 'charge');
    // Webhooks and billing have their own tests.
    const others = /^(webhook|billing)[.]/;
    expect(tried).toEqual(failpoints.filter((name) => !others.test(name)));
  });

  it.each(uploadSteps)(
    'at %s: its upload becomes ready exactly once and is delivered',
    async (step) => {
      const before = uploadsAt.get(step);
      expect(before?.status).toBe(statusAt[step] ?? 'processing');
      const session = await complete(alive, before?.upload_id ?? '');
      expect(session).toMatchObject({ status: 200, body: { status: 'ready', error_code: null } });
      const revisions = await withDatabase(alive, (db) =>
        db.query('select revision from file_revisions where upload_id = $1', [
          session.body.upload_id,
        ]),
      );
      expect(revisions).toEqual([{ revision: 1 }]);
      for (const path of [`/originals/f/${slugOf(step)}`, `/resize/300x/f/${slugOf(step)}`]) {
        expect((await fetchImage(alive, books, path))?.status).toBe(200);
      }
    },
  );

  it('reuses the PostgreSQL it left running, and starts another one if that was killed too', async () => {
    expect([...servers]).toHaveLength(1);
    expect(servers).not.toContain(await databaseServerPid(mortal.data));
  });

  it('while usage is written and sent: every received delivery is counted exactly once', async () => {
    await untilSpoolIsEmpty(mortal.data);
    expect(books.cut, 'the one whose last write was its line').toBe(1);
    await sumUp(alive);
    expect((await withDatabase(alive, readMoney)).hours).toEqual(received());
  });

  it.each(stepsOf('rollup', 'charge'))('at %s: no credit is charged twice', async (step) => {
    await fetchSome(alive);
    await untilSpoolIsEmpty(mortal.data);
    if (step.startsWith('charge.')) await sumUp(alive);
    const killed = await mortal.job(jobOf(step), step);
    expect(killed, 'ended by a signal').toMatchObject({ code: null });
    await forgetRun();
    await charge(alive);
    const once = await withDatabase(alive, readMoney);
    expect(once.hours).toEqual(received());
    expect(once.charged).toBe(once.hours.credits);
    await charge(alive);
    expect(await withDatabase(alive, readMoney)).toEqual(once);
  });

  it('leaves no inconsistent rows, objects or files', async () => {
    await letADayPass(alive);
    expect(await withDatabase(alive, (db) => brokenPromises(db, mortal.data))).toEqual([]);
  });
});
