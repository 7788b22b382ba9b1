// Brings a database to this version: the SQL files of migrations/ in order, each in a transaction, under an advisory
// lock so that processes that start together do not collide. Applied files never change; a change is a new file.
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Queryable } from './client.ts';
import type { Connection } from './connection.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Of waiting for a migration that another process runs, and again for tables in use. */
const PATIENCE_MS = 120_000;
/** Whoever comes behind a lock that waits for a table waits with it: it is given up soon, and tried again. */
const TABLE_TIMEOUT_MS = 1000;
const PAUSE_MS = 1000;
/** A lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Returns the names of the migrations that were applied now; a second call applies none. */
export async function migrate(url: string): Promise<string[]> {
  return connected(url, async (client) => {
    const findMissing = () =>
      findMissingMigrations({ query: async (text) => (await client.query(text)).rows });
    if ((await findMissing()).length === 0) return [];
    await lockOut(client);
    const missing = await findMissing();
    await run(client, 'up');
    return missing;
  });
}

/** Takes every migration back, newest first: all data is gone afterwards. */
export async function unmigrate(url: string): Promise<void> {
  await connected(url, async (client) => {
    await lockOut(client);
    await run(client, 'down');
  });
}

/** The number of the newest migration of this version. */
export async function findNewestMigration(): Promise<string> {
  const names = await listMigrations();
  return /^\d+/.exec(names.at(-1) ?? '')?.[0] ?? '0000';
}

async function listMigrations(): Promise<string[]> {
  const files = await readdir(FOLDER);
  const names = files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -4));
  return names.sort();
}

/** The migrations of this version that the database lacks; those of a newer version do not matter. */
export async function findMissingMigrations(db: Queryable): Promise<string[]> {
  const names = await listMigrations();
  const [{ is_new } = { is_new: true }] = await db.query<{ is_new: boolean }>(
    `select to_regclass('${TABLE}') is null as is_new`,
  );
  if (is_new) return names;
  const applied = await db.query<{ name: string }>(`select name from ${TABLE}`);
  const known = new Set(applied.map(({ name }) => name));
  return names.filter((name) => !known.has(name));
}

const FOLDER = fileURLToPath(new URL('migrations', import.meta.url));
const TABLE = 'schema_migrations';

/** Every other migration, until the connection ends: by the lock that runners of older versions take, too. */
async function lockOut(client: Connection): Promise<void> {
  const { PG_MIGRATE_LOCK_ID } = await loadRunner();
  await client.query('select pg_advisory_lock($1)', [PG_MIGRATE_LOCK_ID]);
}

/** Goes on where it was when a table was in use for too long. */
async function run(client: Connection, direction: 'up' | 'down'): Promise<void> {
  await client.query(`set lock_timeout = ${TABLE_TIMEOUT_MS}`);
  const startedAt = performance.now();
  while (!(await runOnce(client, direction))) {
    if (performance.now() - startedAt > PATIENCE_MS) throw new TablesInUse();
    await sleep(PAUSE_MS);
  }
}

class TablesInUse extends Error {
  constructor() {
    super(
      `a table was in use for ${PATIENCE_MS / 1000} s by a transaction that does not end, such as a pg_dump: try again when it has ended`,
    );
    this.name = 'TablesInUse';
  }
}

/** False where a table was in use. */
async function runOnce(dbClient: Connection, direction: 'up' | 'down'): Promise<boolean> {
  const { runner } = await loadRunner();
  try {
    await runner({
      dbClient,
      dir: FOLDER,
      migrationsTable: TABLE,
      direction,
      count: Number.POSITIVE_INFINITY,
      noLock: true,
      log: () => {},
    });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    await dbClient.query('rollback');
    return false;
  }
}

/** Most starts find nothing to do, and need no runner for that. */
function loadRunner() {
  return import('node-pg-migrate');
}

/** A connection of the runner's own would still be closing when it answers: a server that ends then ends the process. */
async function connected<T>(url: string, work: (client: Connection) => Promise<T>): Promise<T> {
  const { withConnection } = await import('./connection.ts');
  return withConnection(
    {
      connectionString: url,
      application_name: 'tintype-migrate',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      lock_timeout: PATIENCE_MS,
    },
    work,
  );
}
