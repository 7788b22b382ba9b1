import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import {
  compareMigrations,
  describeVersion,
  findNewestMigration,
  migrate,
} from '../../../runtime/db/migrate.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';
import { startFaultProxy } from '../../support/tcp-fault-proxy.ts';

const { db, url } = useDatabase();
const run = promisify(execFile);
const MIGRATIONS = new URL('../../../runtime/db/migrations/', import.meta.url);

const tables = () =>
  db.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations'",
  );

/** Reverts this migration and all newer ones; returns their names. */
async function takeBackTo(oldest: string): Promise<string[]> {
  const names = readdirSync(MIGRATIONS).map((file) => file.replace('.sql', ''));
  const taken = names.filter((name) => name >= oldest).sort();
  for (const name of taken.toReversed()) {
    const [, down = ''] = readFileSync(new URL(`${name}.sql`, MIGRATIONS), 'utf8').split(
      '-- Down Migration',
    );
    await db.query(down);
    await db.query('delete from schema_migrations where name = $1', [name]);
  }
  return taken;
}

it('migrate applies nothing to a database that is up to date', async () => {
  expect(await migrate(url())).toEqual({ applied: [], newer: [] });
});

it('migrations applied by a newer version are reported and left in place', async () => {
  const newer = ['9998_later', '9999_latest'];
  await db.query('insert into schema_migrations (name, run_on) select unnest($1::text[]), now()', [
    newer,
  ]);
  const { missing, newer: found } = await compareMigrations(db);
  expect({ missing, newer: found, version: describeVersion(found) }).toEqual({
    missing: [],
    newer,
    version: 'of a newer version, whose 9999_latest this one does not know',
  });
  expect(await migrate(url())).toEqual({ applied: [], newer });
  expect(
    await db.query('delete from schema_migrations where name = any($1) returning name', [newer]),
  ).toHaveLength(2);
});

it('migrate has closed its connection when it returns', async () => {
  const { hostname, port } = new URL(url());
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  try {
    proxy.set({ kind: 'delay', ms: 20 });
    await migrate(Object.assign(new URL(url()), { port: proxy.port }).href);
    const left = await db.query(
      `select state from pg_stat_activity
       where datname = current_database() and application_name = 'tintype-migrate'`,
    );
    expect(proxy.connections().total).toBe(1);
    expect(left).toEqual([]);
  } finally {
    await proxy.close();
  }
});

it('processes that start at the same time migrate the database once', async () => {
  await takeBackTo('0001');
  expect(await tables()).toEqual([]);
  const applied = await Promise.all([migrate(url()), migrate(url()), migrate(url())]);
  expect(applied.filter(({ applied: names }) => names.length > 0)).toHaveLength(1);
  expect((await tables()).length).toBeGreaterThan(20);
});

it('migrate waits for a table in use without blocking queries that come later', async () => {
  const taken = await takeBackTo('0067_refusals_of_checks');
  const { promise: read, resolve: endReader } = Promise.withResolvers<void>();
  const { promise: reading, resolve: hasRead } = Promise.withResolvers<void>();
  const reader = db.transaction(async (tx) => {
    await tx.query('select from scanner_checks limit 1');
    hasRead();
    await read;
  });
  await reading;
  const migrating = migrate(url());
  const waiting = () =>
    db.query(
      `select from pg_stat_activity where datname = current_database()
         and application_name = 'tintype-migrate' and wait_event_type = 'Lock'`,
    );
  await expect.poll(waiting, { timeout: 20_000, interval: 5 }).toHaveLength(1);
  for (let n = 0; n < 3; n += 1) await db.query('select from scanner_checks limit 1');
  endReader();
  await reader;
  expect(await migrating).toMatchObject({ applied: taken });
  expect(await migrate(url())).toEqual({ applied: [], newer: [] });
});

/** Table locks that the migration currently waits for. */
const waits = () =>
  db.query<{ started: string; table: string }>(
    `select waitstart::text as started, relation::regclass::text as table from pg_locks
     join pg_stat_activity using (pid)
     where datname = current_database() and application_name = 'tintype-migrate'
       and not granted and waitstart is not null`,
  );

/** Locks a table until the returned function is called. */
async function use(table: string, mode: string): Promise<() => Promise<void>> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const { promise: isUsed, resolve: locked } = Promise.withResolvers<void>();
  const used = db.transaction(async (tx) => {
    await tx.query(`lock table ${table} in ${mode} mode`);
    locked();
    await isOver;
  });
  await isUsed;
  const end = () => {
    resolve();
    return used;
  };
  onTestFinished(end);
  return end;
}

const often = { timeout: 20_000, interval: 5 };

async function nextMiss(table: string): Promise<void> {
  await expect.poll(waits, often).toMatchObject([{ table }]);
  await expect.poll(waits, often).toEqual([]);
}

it('migrate has its full patience for each migration file', async () => {
  const taken = await takeBackTo('0067_refusals_of_checks');
  const endChecks = await use('scanner_checks', 'access share');
  const endPurges = await use('purges', 'row exclusive');
  const migrating = migrate(url(), { patience_ms: 2500 });
  const applied = migrating.catch(String);
  await nextMiss('scanner_checks');
  await endChecks();
  // This miss comes about 3 s after the first one: later than the patience for one file allows.
  await nextMiss('purges');
  await endPurges();
  expect(await applied).toMatchObject({ applied: taken });
});

it('migrate waits longer for a table with each attempt', async () => {
  await takeBackTo('0068_purges_of_project');
  const end = await use('purges', 'row exclusive');
  const migrating = migrate(url());
  await nextMiss('purges');
  await expect.poll(waits, often).toHaveLength(1);
  const [second] = await waits();
  await new Promise((resolve) => setTimeout(resolve, 1300));
  expect(await waits()).toEqual([second]);
  await end();
  await migrating;
});

it('migrate reports that a table stays in use, and continues when called again', async () => {
  const taken = await takeBackTo('0068_purges_of_project');
  const end = await use('purges', 'row exclusive');
  await expect(migrate(url(), { patience_ms: 500 })).rejects.toThrow(
    'a table was in use for 0.5 s by transactions that do not end',
  );
  await end();
  expect(await migrate(url())).toEqual({ applied: taken, newer: [] });
});

it('migrate reports that another migration is running', async () => {
  const taken = await takeBackTo('0068_purges_of_project');
  const end = await use('purges', 'row exclusive');
  const first = migrate(url());
  await expect.poll(waits, often).toHaveLength(1);
  await expect(migrate(url(), { patience_ms: 200 })).rejects.toThrow(
    'another migration has not ended in 0.2 s: try again when it has',
  );
  await end();
  expect(await first).toMatchObject({ applied: taken });
});

it('migrations are found in a folder with spaces, umlauts and a percent sign in its name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'my clöne 100% '));
  try {
    cpSync(fileURLToPath(new URL('../../../runtime/db', import.meta.url)), folder, {
      recursive: true,
    });
    const there = pathToFileURL(join(folder, 'migrate.ts')).href;
    const script = `import { findNewestMigration } from ${JSON.stringify(there)};
      process.stdout.write(await findNewestMigration());`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
    expect(stdout).toBe(await findNewestMigration());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('a migration sets the organization of audit entries written before it', async () => {
  const { project_id, organization_id } = await makeProject(db);
  const file = new URL('0061_audit_of_organization.sql', MIGRATIONS);
  const [up = '', down = ''] = readFileSync(file, 'utf8').split('-- Down Migration');
  await db.query(down);
  await db.query(
    `insert into audit_log (project_id, actor_kind, action) values ($1, 'key', 'early'), (null, 'staff', 'early')`,
    [project_id],
  );
  await db.query(up);
  const owners = await db.query(
    `select organization_id from audit_log where action = 'early' order by audit_id`,
  );
  expect(owners).toEqual([{ organization_id }, { organization_id: null }]);
});

it('a migration lets the rollup continue from where the previous version stopped', async () => {
  const file = new URL('0079_positions_of_rollup.sql', MIGRATIONS);
  const [up = '', down = ''] = readFileSync(file, 'utf8').split('-- Down Migration');
  const again = async () => {
    await db.query(down);
    await db.query(up);
    return db.query('select sweep, after_key, updated_at from sweep_positions');
  };
  expect(await again()).toEqual([]);
  const times = `(values (1, now() - interval '3 hours'), (2, now() - interval '1 hour')) told (n, at)`;
  await db.query(
    `insert into job_runs (job, scheduled_for, started_at, lease_until, finished_at, outcome)
     select 'hourly-rollup', at, at, at, at, case n when 1 then 'done' else 'failed' end from ${times}`,
  );
  const [run] = await db.query<{ at: Date }>(
    `select started_at as at from job_runs where outcome = 'done'`,
  );
  const beginning = { sweep: 'hourly-rollup', after_key: '0', updated_at: run?.at };
  expect(await again()).toEqual([beginning]);
  await db.query(
    `insert into usage_batches (spool_id, sequence, received_at)
     select 'spl', n, at - interval '20 minutes' from ${times}`,
  );
  const [summed] = await db.query<{ id: number }>(
    'select batch_id as id from usage_batches where sequence = 1',
  );
  expect(await again()).toEqual([{ ...beginning, after_key: String(summed?.id) }]);
});

it('every table has a comment', async () => {
  const bare = await db.query(
    `select relname from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'schema_migrations'
       and obj_description(oid, 'pg_class') is null`,
  );
  expect(bare).toEqual([]);
});
