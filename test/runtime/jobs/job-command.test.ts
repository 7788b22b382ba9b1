// `tintype job` as a CronJob runs it, in a process of its own. Spec: Metering.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { insertCreditGrant } from '../../../runtime/db/credit-grants.ts';
import { countFailedJobRuns, type JobRunRow } from '../../../runtime/db/job-runs.ts';
import { runTintype, spawnTintype } from '../../contract/support/tintype.ts';
import { useDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { makeProject, makeUpload } from '../../support/rows.ts';

const { db, url } = useDatabase();
/** A storage server that accepts connections and never answers. */
const sockets = new Set<Socket>();
const silent = createServer((socket) => void sockets.add(socket));
let child: ChildProcess | undefined;

beforeEach(() => db.query('delete from job_runs'));
afterEach(() => child?.kill('SIGKILL'));
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

/** Variables of an installation whose broker cannot be reached. */
async function environment(storagePort = 1): Promise<Record<string, string>> {
  return {
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_S3_ENDPOINT: `http://127.0.0.1:${storagePort}`,
    TINTYPE_AMQP_URL: `amqp://127.0.0.1:${await freePort()}`,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  };
}

const job = async (name: string) =>
  runTintype(['job', name, '--data', '/nowhere'], { env: await environment() });
const runs = () =>
  db.query<Pick<JobRunRow, 'outcome' | 'error'>>(
    'select outcome, error from job_runs order by run_id',
  );
/** Inserts an unfinished run; whether its process is alive is unknown. */
const begin = (name: string, lease: string) =>
  db.query(
    `insert into job_runs (job, scheduled_for, lease_until) values ($1, now(), now() + $2::interval)`,
    [name, lease],
  );

it.each(['hourly-rollup', 'daily-charge', 'reconciliation', 'retention'])(
  'tintype job %s runs even if no broker can be reached',
  async (name) => {
    const { code, stdout } = await job(name);
    expect([code, stdout]).toEqual([0, expect.stringMatching(`^${name} as of `)]);
  },
);

it.each([
  [
    'takes no writes',
    'the database takes no writes (cannot execute UPDATE in a read-only transaction (25006)): run',
  ],
  ['is away', 'the database or the storage cannot be used (connect ECONNREFUSED 127.0.0.1:1): run'],
])('tintype job says what failed and what to run if the database %s', async (state, says) => {
  const away = Object.assign(new URL(url()), { host: '127.0.0.1:1' }).href;
  const readOnly = `${url()}?options=-c%20default_transaction_read_only%3Don`;
  const env = {
    ...(await environment()),
    TINTYPE_DATABASE_URL: state === 'is away' ? away : readOnly,
  };
  const { code, stderr } = await runTintype(['job', 'daily-charge', '--data', '/nowhere'], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${says} \`tintype doctor\``)]);
});

it('tintype job --at also makes up for runs missed before that time', async () => {
  await db.query(
    `insert into job_runs (job, scheduled_for, started_at, lease_until, finished_at, outcome)
     select 'daily-charge', at, at, at, at, 'done' from (select now() - interval '3 days') run (at)`,
  );
  const at = new Date().toISOString();
  const words = ['job', 'daily-charge', '--at', at, '--data', '/nowhere'];
  const { stdout } = await runTintype(words, { env: await environment() });
  const lines = stdout.trim().split('\n');
  expect(lines).toHaveLength(4);
  expect(lines[0]).toContain(at);
  expect(lines[3]).toContain('T00:20:00.000Z');
});

it('a daily charge that fails for one organization charges all others, and that one the next time', async () => {
  // The newest day for which a charge is due.
  const today = `date_trunc('day', now() - interval '19 minutes', 'UTC')`;
  await db.query(
    `insert into job_runs (job, scheduled_for, started_at, lease_until, finished_at, outcome)
     select 'daily-charge', at, at, at, at, 'done'
     from (select ${today} + interval '20 minutes' - interval '2 days') run (at)`,
  );
  const used = async (daysAgo: number) => {
    const { organization_id, project_id } = await makeProject(db);
    const grant = { organization_id, credits: 100, external_id: organization_id };
    await insertCreditGrant(db, { ...grant, source: 'staff' });
    await db.query(
      `insert into usage_hours (project_id, window_start, requests, bytes, transforms, credits)
       select $1, ${today} - make_interval(days => $2), 1, 1, 0, 7`,
      [project_id, daysAgo],
    );
    return organization_id;
  };
  const [held, other] = [await used(4), await used(1)];
  const outcomes = () => db.query('select outcome from job_runs order by run_id offset 1');
  const charged = async (organization_id: string) => {
    const sum = 'select coalesce(sum(delta), 0)::int as sum from ledger where organization_id = $1';
    return (await db.query(sum, [organization_id]))[0];
  };
  await db.query(`create function refuse() returns trigger language plpgsql as $$ begin
    if new.organization_id = '${held}' then raise exception 'refused'; end if;
    return new;
  end $$`);
  await db.query(
    'create trigger refuse before insert on ledger for each row execute function refuse()',
  );
  const { code, stdout, stderr } = await job('daily-charge');
  expect([code, stderr]).toEqual([1, expect.stringContaining('could not be charged')]);
  expect(stdout.trim().split('\n')).toHaveLength(1);
  expect(await outcomes()).toEqual([{ outcome: 'done' }, { outcome: 'failed' }]);
  // The newer successful run must not hide the failure, because the alert uses this count.
  expect(await countFailedJobRuns(db, ['daily-charge'])).toEqual([
    { job: 'daily-charge', failed: 1 },
  ]);
  expect([await charged(held), await charged(other)]).toEqual([{ sum: 0 }, { sum: 7 }]);
  await db.query('drop function refuse cascade');
  expect((await job('daily-charge')).code).toBe(0);
  expect([await charged(held), await charged(other)]).toEqual([{ sum: 7 }, { sum: 7 }]);
});

it('tintype job waits until the lease of a killed run has expired, and then runs', async () => {
  await begin('daily-charge', '12 seconds');
  const { code, stderr } = await job('daily-charge');
  expect(code).toBe(0);
  expect(stderr).toContain('waiting up to a minute for another run of the job');
  expect((await runs()).map(({ outcome }) => outcome)).toEqual(['lost', 'done']);
});

it('tintype job does not wait for a run that is still working', async () => {
  await begin('daily-charge', '40 seconds');
  const renewing = setInterval(() => {
    void db.query(`update job_runs set lease_until = now() + interval '40 seconds'`);
  }, 200);
  const { code, stderr } = await job('daily-charge').finally(() => clearInterval(renewing));
  expect(code).toBe(1);
  expect(stderr).toContain('daily-charge is already running: run it again when that run has ended');
});

it('tintype job stops on SIGTERM, and leaves no lease to wait for', async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  const { upload_id } = await makeUpload(db, await makeProject(db), {});
  await db.query(
    `update uploads set created_at = now() - interval '5 minutes' where upload_id = $1`,
    [upload_id],
  );
  const env = await environment(port);
  child = spawnTintype(['job', 'upload-sweep', '--data', '/nowhere'], { env });
  let said = '';
  child.stderr?.on('data', (piece) => {
    said += piece;
  });
  await once(silent, 'connection');
  // Two signals: a terminal sends Ctrl-C to the whole group, and a launcher also passes it on.
  for (const _ of [1, 2]) child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  expect([code, said]).toEqual([1, expect.stringContaining('the job was stopped before its end')]);
  expect(await runs()).toEqual([
    { outcome: 'failed', error: expect.stringContaining('stopped before its end') },
  ]);
});
