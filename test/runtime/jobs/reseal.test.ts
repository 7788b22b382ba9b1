// Key-encryption keys are replaced while the service runs. Spec: Signing key; Events, Signature rules; Conventions.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { changeCallback } from '../../../runtime/actions/change-callback.ts';
import { changeProject } from '../../../runtime/actions/change-project.ts';
import { rotateSigningKey } from '../../../runtime/actions/rotate-signing-key.ts';
import { lockProject, type ProjectRow } from '../../../runtime/db/projects.ts';
import { listSealingKeys, resealBatch, sealedColumns } from '../../../runtime/db/sealed-values.ts';
import { manualJobs } from '../../../runtime/jobs/table.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createSealing, type Sealing } from '../../../runtime/platform/sealing.ts';
import {
  callbackSecretContext,
  signingKeyContext,
} from '../../../runtime/platform/sealing-contexts.ts';
import { useDatabase } from '../../support/database.ts';
import { listTablesScanned, noting } from '../../support/explaining.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { untilWaiting } from '../../support/lock-waits.ts';
import { id, must } from '../../support/rows.ts';
import { makeAnswer, makeSecrets, openAll } from '../../support/sealed-secrets.ts';
import { newSealingKey, readSealingKeys } from '../../support/sealing-keys.ts';

const { db, url, open } = useDatabase();
const { db: filled } = useDatabase();
const [k1, k2] = [newSealingKey('k1'), newSealingKey('k2')];
const keys = (...written: string[]) => createSealing(readSealingKeys(written.join(',')));
const [old, both, newest] = [keys(k1), keys(k2, k1), keys(k2)];
const NONE_LEFT = { still_under_k1: 0 };
let jobs: TestJobs;
const lines: string[] = [];

beforeAll(async () => {
  jobs = await makeJobs(db);
  const log = createLog({
    level: 'warn',
    name: 'test',
    destination: { write: (line) => lines.push(line) },
  });
  Object.assign(jobs.deps, { log });
});
afterAll(() => jobs.close());
beforeEach(async () => {
  lines.length = 0;
  await db.query('truncate signing_keys, older_callback_secrets, idempotency_keys');
  await db.query(
    `update projects set callback_url = null, callback_secret_sealed = null,
       previous_callback_secret_sealed = null, previous_callback_secret_until = null`,
  );
});

const resealWith = (sealing: Sealing) => {
  Object.assign(jobs.deps, { sealing });
  return jobs.run(manualJobs.reseal);
};

describe('the reseal job', () => {
  it('knows every column of the schema that holds sealed values', async () => {
    const columns = await db.query<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and data_type = 'bytea' and column_name like '%sealed%' order by 1`,
    );
    const known = sealedColumns.map(({ table, column }) => `${table}.${column}`);
    expect(columns.map(({ name }) => name)).toEqual(known.toSorted());
  });

  it('seals every value under the first key, changes nothing else, and then has nothing to do', async () => {
    const { project_id } = await makeSecrets(db, old);
    await makeSecrets(db, both);
    await db.query(
      `update projects set owner_uid = project_id, owner_namespace = 'n', owner_name = 'shop',
      owner_deletion_policy = 'suspend' where project_id = $1`,
      [project_id],
    );
    await db.query(
      `insert into signing_keys (kid, project_id, secret_sealed, status, retire_after)
       values ($1, $2, '', 'retired', now())`,
      [id('kid'), project_id],
    );
    await db.query('delete from declared_row_changes');
    const others = () =>
      db.query(
        `select to_jsonb(p) - '{callback_secret_sealed,previous_callback_secret_sealed}'::text[] as row from projects p
         union all select to_jsonb(s) - 'secret_sealed' from signing_keys s
         union all select to_jsonb(a) - 'sealed_answer' from idempotency_keys a order by 1`,
      );
    const before = await others();
    expect(await resealWith(both)).toEqual({ resealed: 5, ...NONE_LEFT });
    expect(await openAll(db, newest)).toEqual(Array.from({ length: 10 }, () => 'secret'));
    expect(await others()).toEqual(before);
    expect(await db.query('select from declared_row_changes')).toEqual([]);
    expect(await resealWith(both)).toEqual({ resealed: 0, ...NONE_LEFT });
    expect(await resealWith(newest)).toEqual({ resealed: 0 });
    expect(lines).toEqual([]);
  });

  it('takes several batches, and leaves no other key', async () => {
    for (let n = 0; n < 120; n += 1) await makeSecrets(db, old, `secret ${n}`);
    const before = await openAll(db, old);
    expect(await resealWith(both)).toEqual({ resealed: 600, ...NONE_LEFT });
    expect((await openAll(db, newest)).toSorted()).toEqual(before.toSorted());
    for (const place of sealedColumns) {
      expect((await listSealingKeys(db, place)).map(({ key_id }) => key_id)).toEqual(['k2']);
    }
  });

  it('waits for a row that somebody is writing without keeping others locked, and leaves what that wrote', async () => {
    const first = await makeSecrets(db, old);
    const { project_id } = await makeSecrets(db, old);
    const written = both.seal(Buffer.from('written'), callbackSecretContext(project_id));
    const running = await db.transaction(async (tx) => {
      await lockProject(tx, project_id);
      const job = resealWith(both);
      await untilWaiting(db, 1);
      await db.query('select from projects where project_id = $1 for update nowait', [
        first.project_id,
      ]);
      await tx.query('update projects set callback_secret_sealed = $2 where project_id = $1', [
        project_id,
        written,
      ]);
      return { job };
    });
    expect(await running.job).toEqual({ resealed: 9, ...NONE_LEFT });
    const opened = await openAll(db, newest);
    expect(opened.filter((each) => each !== 'secret')).toEqual(['written']);
  });
});

describe('values that the job cannot seal anew', () => {
  it('are counted under a key that is missing, and reported', async () => {
    await makeSecrets(db, keys(newSealingKey('k0')));
    await makeSecrets(db, old);
    expect(await resealWith(both)).toEqual({ resealed: 5, ...NONE_LEFT, still_under_k0: 5 });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ key_id: 'k0', count: 5 }]);
  });

  it('are counted under a key whose id another key bears, and each is named', async () => {
    const { project_id } = await makeSecrets(db, keys(newSealingKey('k1')));
    await makeSecrets(db, old);
    expect(await resealWith(both)).toEqual({ resealed: 5, still_under_k1: 5 });
    const named = lines.map((line) => JSON.parse(line).name).filter(Boolean);
    expect(named).toHaveLength(5);
    expect(named).toContain(`projects.callback_secret_sealed of ${project_id}`);
  });

  it('are counted if a process that still seals with the old key wrote them meanwhile', async () => {
    const { project_id } = await makeSecrets(db, old);
    const { job } = await db.transaction(async (tx) => {
      await tx.query('lock table idempotency_keys in exclusive mode');
      const running = resealWith(both);
      // It has left the signing keys, the first of the columns, and waits for the last one.
      await untilWaiting(db, 1);
      const kid = id('kid');
      await db.query(
        `insert into signing_keys (kid, project_id, secret_sealed, status, retire_after)
         values ($1, $2, $3, 'retired', now())`,
        [kid, project_id, old.seal(Buffer.from('late'), signingKeyContext(kid))],
      );
      return { job: running };
    });
    expect(await job).toEqual({ resealed: 5, still_under_k1: 1 });
    expect(await resealWith(both)).toEqual({ resealed: 1, ...NONE_LEFT });
  });
});

it('while it runs, projects rotate keys and secrets, and nothing is lost', async () => {
  const projects: ProjectRow[] = [];
  for (let n = 0; n < 20; n += 1) projects.push(await makeSecrets(db, old));
  const writing = open({ maxConnections: 4 });
  const secrets = new Map<string, string | null>();
  const deps = { sealing: both, clock: systemClock };
  let isOver = false;
  const write = async (own: readonly ProjectRow[]) => {
    for (let round = 0; !isOver || round < 4; round += 1) {
      for (const { project_id } of own) {
        await writing.transaction(async (tx) => {
          const project = must(await lockProject(tx, project_id));
          const input = { url: undefined, secret: 'rotate' } as const;
          const { changes, secret } = await changeCallback(tx, deps, { project, input });
          await changeProject(tx, project, changes);
          if (round < 2) await rotateSigningKey(tx, deps, { project_id });
          secrets.set(project_id, secret);
        });
        await makeAnswer(db, both, 'secret');
      }
    }
  };
  const writers = [0, 1, 2, 3].map((n) => write(projects.slice(n * 5, n * 5 + 5)));
  let resealed = 0;
  for (let run = 0; run < 5; run += 1) {
    const counts = await resealWith(both);
    resealed += counts['resealed'] ?? 0;
    expect(counts).toMatchObject(NONE_LEFT);
  }
  isOver = true;
  await Promise.all(writers);
  expect(resealed).toBeGreaterThan(0);
  await openAll(db, newest);
  for (const { project_id } of projects) {
    const [row] = await db.query<{ callback_secret_sealed: Buffer }>(
      'select callback_secret_sealed from projects where project_id = $1',
      [project_id],
    );
    const sealed = row?.callback_secret_sealed ?? Buffer.of();
    const opened = newest.open(sealed, callbackSecretContext(project_id)).toString();
    expect(opened).toBe(secrets.get(project_id));
  }
});

it('killed at any statement, it leaves every value readable, and the next run does the rest', {
  timeout: 120_000,
}, async () => {
  for (let n = 0; n < 105; n += 1) await makeSecrets(db, old, `secret ${n}`);
  const before = (await openAll(db, old)).toSorted();
  const program = new URL('../../support/killed-reseal.ts', import.meta.url).pathname;
  const runUntil = async (statement: number) => {
    const args = [program, url(), `${k2},${k1}`, String(statement)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    return (await text(child.stdout)).includes('done');
  };
  // Begin, the locked rows, the setting, the update, the commit; then the next batch.
  let kills = 0;
  for (let statement = 2; !(await runUntil(statement)); statement += 5) {
    kills += 1;
    expect((await openAll(db, both)).toSorted()).toEqual(before);
  }
  expect(kills).toBeGreaterThanOrEqual(5);
  expect((await openAll(db, newest)).toSorted()).toEqual(before);
  expect(await resealWith(both)).toEqual({ resealed: 0, ...NONE_LEFT });
});

describe('a batch', () => {
  beforeAll(makeMany);

  it('scans no table in full, however many values there are', async () => {
    const { db: noted, statements } = noting(filled);
    const batch = { key_id: 'k1', after: undefined, rows_at_once: 100, locked: 'skip' } as const;
    const reseal = () => newest.seal(Buffer.from('secret'), 'context');
    for (const place of sealedColumns) {
      const done = await resealBatch(noted, place, { ...batch, reseal });
      expect(done?.resealed).toBe(100);
    }
    const planned = statements.filter(({ text }) => /^(select .* from|update) /.test(text));
    expect(planned).toHaveLength(2 * sealedColumns.length);
    for (const statement of planned) expect(await listTablesScanned(filled, statement)).toEqual([]);
  });
});

/** 20,000 values in each column. */
async function makeMany(): Promise<void> {
  const { organization_id } = await makeSecrets(filled, newest);
  const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`;
  const fill = [
    `insert into projects (project_id, organization_id, project_slug, name, callback_url,
         callback_secret_sealed, previous_callback_secret_sealed, previous_callback_secret_until)
       select ${id('prj')}, $2, 'p' || n, 'p', 'https://hook.example/', $1, $1, now()
       from generate_series(1, 20000) n`,
    `insert into signing_keys (kid, project_id, secret_sealed)
       select ${id('kid')}, ${id('prj')}, $1 from generate_series(1, 20000) n where $2 <> ''`,
    `insert into older_callback_secrets (project_id, signs_until, secret_sealed)
       select ${id('prj')}, now(), $1 from generate_series(1, 20000) n where $2 <> ''`,
    `insert into idempotency_keys (caller, project_slug, idempotency_key, request_hash, claim_id, lease_until, status, sealed_answer)
       select 'key', 'shop', n::text, sha256('r'), lpad(n::text, 6, '0'), now(), 200, $1
       from generate_series(1, 20000) n where $2 <> ''`,
  ];
  const sealed = old.seal(Buffer.from('secret'), 'context');
  await filled.transaction(async (tx) => {
    // The rows are consistent: skip triggers and foreign keys.
    await tx.query('set local session_replication_role = replica');
    for (const text of fill) await tx.query(text, [sealed, organization_id]);
  });
  await filled.query('analyze');
}
