/**
 * Kills workers at steps of ingest, lets others take over, and checks the outcome. The steps come from a survey, a
 * complete ingest of each type.
 */
import type { Database } from '../../../runtime/db/client.ts';
import { makeProject } from '../../support/rows.ts';
import { untilFound } from '../../support/until-found.ts';
import { arrive } from '../../support/uploads.ts';
import type { FamilyPicture } from './families.ts';
import type { Plan } from './killed-together.ts';
import { brokenObjects, brokenRows } from './promises.ts';
import { endWell, startProgram, untilReady } from './spawned.ts';
import type { Step } from './steps.ts';
import type { StoppingWords } from './stopping-worker.ts';
import type { TestStorage } from './storages.ts';
import { sweepDaysLater } from './sweeps.ts';
import type { TakingWords } from './taking-worker.ts';

export type Place = { db: Database; url: string; storage: TestStorage };
export type KillPoint = { picture: FamilyPicture; step: Step };

type Killed = KillPoint & { upload_id: string; status: string; attempt: number };

/** Returns the steps of each image in order. Throws if an upload does not end as expected. */
export async function surveySteps(
  place: Place,
  pictures: readonly FamilyPicture[],
): Promise<KillPoint[]> {
  const plan: Plan[] = [];
  for (const picture of pictures) {
    plan.push({ upload_id: await arriveIn(place, picture), stop_at: null });
  }
  const { code, printed } = await runToEnd(place, plan);
  if (code !== 0) throw new Error('the survey did not come to its end');
  const passed = JSON.parse(printed) as Record<string, Step[]>;
  return pictures.flatMap((picture, index) =>
    (passed[plan[index]?.upload_id ?? ''] ?? []).map((step) => ({ picture, step })),
  );
}

/** Kills one process at all these steps. */
export async function killAt(place: Place, points: readonly KillPoint[]): Promise<Killed[]> {
  const uploads: (KillPoint & Plan)[] = [];
  for (const point of points) {
    const upload_id = await arriveIn(place, point.picture);
    uploads.push({ ...point, upload_id, stop_at: point.step });
  }
  const plan = uploads.map(({ upload_id, stop_at }) => ({ upload_id, stop_at }));
  const { signal } = await runToEnd(place, plan);
  if (signal !== 'SIGKILL') throw new Error(`not killed at ${points.map(({ step }) => step)}`);
  await untilAlone(place);
  return Promise.all(uploads.map(async (one) => ({ ...one, ...(await findState(place, one)) })));
}

/**
 * Each upload has its own project, because an upload that stops within a transaction keeps its
 * project's row locked.
 */
async function arriveIn({ db, storage }: Place, picture: FamilyPicture): Promise<string> {
  const project = await makeProject(db, {
    callback_url: 'https://shop.example/hook',
    callback_secret_sealed: Buffer.alloc(32, 1),
  });
  const { bytes, content_type, family } = picture;
  const arrival = { bytes, content_type, file_slug: `picture-${family.replace('+', '-')}` };
  return (await arrive({ db, buckets: storage.buckets }, project, arrival)).upload_id;
}

async function runToEnd({ url, storage }: Place, plan: Plan[]) {
  const words: StoppingWords = { url: named(url), storage: storage.words, plan };
  const { ended, lines } = startProgram('stopping-worker', words);
  return { ...(await ended), printed: lines.join('') };
}

const OF_THE_KILLED = 'to be killed';

/** Names the connections of a process, to distinguish them from others. */
export function named(url: string): string {
  const to = new URL(url);
  to.searchParams.set('application_name', OF_THE_KILLED);
  return to.href;
}

/**
 * Waits until the backends of a killed process have ended, because until then its statements can
 * still take effect.
 */
export async function untilAlone({ db }: Pick<Place, 'db'>): Promise<void> {
  const query = `select 1 from pg_stat_activity where application_name = $1 and datname = current_database()`;
  await untilFound('no backend of the killed', async () => {
    return (await db.query(query, [OF_THE_KILLED])).length === 0;
  });
}

type State = Pick<Killed, 'status' | 'attempt'>;

async function findState({ db }: Place, { upload_id }: Pick<Plan, 'upload_id'>): Promise<State> {
  const [row] = await db.query<State>('select status, attempt from uploads where upload_id = $1', [
    upload_id,
  ]);
  if (row === undefined) throw new Error(`${upload_id} is gone`);
  return row;
}

/**
 * Expires the leases of the killed workers, and lets a worker in another process finish the
 * uploads.
 */
export async function takeOver({ db, url, storage }: Place): Promise<void> {
  await db.query(
    `update uploads set lease_until = now() - make_interval(secs => 1) where status = 'processing'`,
  );
  const words: TakingWords = { url, storage: storage.words, poll_every_ms: 50 };
  const worker = startProgram('taking-worker', words);
  await untilReady(worker);
  const open = `select 1 from uploads where status in ('uploaded', 'processing') limit 1`;
  await untilFound('no open upload', async () => {
    return (await db.query(open)).length === 0 || worker.child.exitCode !== null;
  });
  await endWell(worker);
}

/**
 * Runs the sweeps, and returns violations: each upload must end once as expected, with the
 * necessary number of attempts, and leave nothing behind.
 */
export async function brokenAfter(place: Place, killed: readonly Killed[]): Promise<string[]> {
  const { db, storage } = place;
  await sweepDaysLater(db, storage);
  const ends = await Promise.all(killed.map((one) => brokenEnd(place, one)));
  const rows = await brokenRows(db);
  return [...ends.flat(), ...rows, ...(await brokenObjects(db, storage.look))];
}

async function brokenEnd(place: Place, one: Killed): Promise<string[]> {
  const { picture, step, status, attempt } = one;
  const now = await findState(place, one);
  const hadEnded = status === 'ready' || status === 'failed';
  const expected = { status: picture.ends, attempt: hadEnded ? attempt : attempt + 1 };
  const isRight = now.status === expected.status && now.attempt === expected.attempt;
  if (isRight) return [];
  return [
    `${picture.family}, killed ${step} as ${status}, attempt ${attempt}: ${now.status}, attempt ${now.attempt}`,
  ];
}
