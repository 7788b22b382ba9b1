// Spec: Signing key; Events, Signature rules.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertSigningKey, rotateSigningKey } from '../../../runtime/db/signing-keys.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { id, makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let jobs: TestJobs;

beforeAll(async () => {
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());

const run = () => jobs.run(table['signing-key-retirement']);

it('the secrets of signing keys are erased a day after they stop verifying, but their rows are kept', async () => {
  const { project_id } = await makeProject(db);
  const key = () => ({ kid: id('kid'), project_id, secret_sealed: Buffer.from('sealed') });
  await db.query('delete from signing_keys where project_id = $1', [project_id]);
  await db.transaction((tx) => insertSigningKey(tx, key()));
  for (const overlap_seconds of [-90_000, -3600, 86_400]) {
    await db.transaction((tx) => rotateSigningKey(tx, { ...key(), overlap_seconds }));
  }
  expect(await run()).toEqual({ signing_keys: 1, callback_secrets: 0 });
  expect(await run()).toEqual({ signing_keys: 0, callback_secrets: 0 });
  const rows = await db.query<{ status: string; is_kept: boolean }>(
    `select status, secret_sealed <> '' as is_kept from signing_keys where project_id = $1
     order by retire_after nulls last`,
    [project_id],
  );
  expect(rows.map(({ status, is_kept }) => `${status} ${is_kept}`)).toEqual([
    'retired false',
    'retired true',
    'retired true',
    'active true',
  ]);
});

it('previous callback secrets are erased a day after they stop signing', async () => {
  const rotated = async (ago: string) => {
    const { project_id } = await makeProject(db);
    await db.query(
      `update projects set callback_url = 'https://hook.example/', callback_secret_sealed = 'new',
         previous_callback_secret_sealed = 'old', previous_callback_secret_until = now() - $2::interval
       where project_id = $1`,
      [project_id, ago],
    );
    await db.query(
      `insert into older_callback_secrets values ($1, now() - $2::interval - interval '1 minute', 'older')`,
      [project_id, ago],
    );
    return project_id;
  };
  const old = await rotated('25 hours');
  const young = await rotated('23 hours');
  expect(await run()).toEqual({ signing_keys: 0, callback_secrets: 2 });
  const rows = await db.query<{ project_id: string }>(
    'select project_id from projects where previous_callback_secret_sealed is not null',
  );
  expect(rows.map(({ project_id }) => project_id)).toEqual([young]);
  expect(await db.query('select project_id from older_callback_secrets')).toEqual([
    { project_id: young },
  ]);
  const [row] = await db.query<{ callback_secret_sealed: Buffer }>(
    'select callback_secret_sealed from projects where project_id = $1',
    [old],
  );
  expect(row?.callback_secret_sealed.toString()).toBe('new');
});
