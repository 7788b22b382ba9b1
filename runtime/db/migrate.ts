// Brings a database to this version: runs the SQL files of migrations/ in order, each in a transaction, under an
// advisory lock so that processes that start together do not collide. Statements of applied files never change; a
// change is a new file.
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Queryable } from './client.ts';
import type { Connection } from './connection.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** For waiting until another process's migration ends, and again for the tables of each file. */
const PATIENCE_MS = 120_000;
/**
 * While a lock waits for a table, everyone behind it waits too. So it is given up soon, and tried
 * again for longer, as overlapping reads leave no short gap. The last is below a statement's limit
 * of 5 s, for those behind it too.
 */
const TABLE_TIMEOUT_MS = { first: 1000, last: 4000 };
const PAUSE_MS = 1000;
/** The lock was not available in time. */
const LOCK_NOT_AVAILABLE = '55P03';

type Waiting = { patience_ms?: number };

/** Names of migrations: the ones applied now, and those that a newer version applied before. */
export type Migrated = { applied: string[]; newer: string[] };

/** A second call applies nothing. */
export async function migrate(
  url: string,
  { patience_ms = PATIENCE_MS }: Waiting = {},
): Promise<Migrated> {
  return connected(url, async (client) => {
    const found = await compare(client);
    if (found.missing.length === 0) return { applied: [], newer: found.newer };
    await acquireMigrationLock(client, patience_ms);
    // Another version may have migrated meanwhile.
    const { missing, newer } = await compare(client);
    await run(client, patience_ms);
    return { applied: missing, newer };
  });
}

/** The number of this version's newest migration. */
export async function findNewestMigration(): Promise<string> {
  const names = await listMigrations();
  return /^\d+/.exec(names.at(-1) ?? '')?.[0] ?? '0000';
}

async function listMigrations(): Promise<string[]> {
  const files = await readdir(FOLDER);
  const names = files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -4));
  return names.sort();
}

/**
 * How a database differs from this version: migrations that it lacks, and those of a newer version,
 * whose schema the version before it supports.
 */
export type SchemaDifference = { missing: string[]; newer: string[] };

export async function compareMigrations(db: Queryable): Promise<SchemaDifference> {
  const names = await listMigrations();
  const [{ is_new } = { is_new: true }] = await db.query<{ is_new: boolean }>(
    `select to_regclass('${TABLE}') is null as is_new`,
  );
  if (is_new) return { missing: names, newer: [] };
  const rows = await db.query<{ name: string }>(`select name from ${TABLE} order by name`);
  const applied = new Set(rows.map(({ name }) => name));
  const own = new Set(names);
  return {
    missing: names.filter((name) => !applied.has(name)),
    newer: [...applied].filter((name) => !own.has(name)),
  };
}

/** The version of a database in words, by the migrations that this version does not know. */
export function describeVersion(newer: string[]): string {
  return newer.length === 0
    ? 'at this version'
    : `of a newer version, whose ${newer.at(-1)} this one does not know`;
}

const FOLDER = fileURLToPath(new URL('migrations', import.meta.url));
const TABLE = 'schema_migrations';

function compare(client: Connection): Promise<SchemaDifference> {
  return compareMigrations({ query: async (text) => (await client.query(text)).rows });
}

/**
 * Excludes all other migrations until the connection ends, by the lock that older versions' runners
 * take too.
 */
async function acquireMigrationLock(client: Connection, patience_ms: number): Promise<void> {
  const { PG_MIGRATE_LOCK_ID } = await loadRunner();
  await client.query(`set lock_timeout = ${patience_ms}`);
  try {
    await client.query('select pg_advisory_lock($1)', [PG_MIGRATE_LOCK_ID]);
  } catch (cause) {
    if (!isLockNotAvailable(cause)) throw cause;
    const waited = `another migration has not ended in ${patience_ms / 1000} s`;
    throw new Error(`${waited}: try again when it has`, { cause });
  }
}

/** Resumes after a table was in use for too long: each file has the full patience. */
async function run(client: Connection, patience_ms: number): Promise<void> {
  let miss = { file: -1, since: 0, timeout_ms: TABLE_TIMEOUT_MS.first };
  while (!(await runOnce(client, miss.timeout_ms))) {
    const file = (await compare(client)).missing.length;
    const since = performance.now();
    if (file !== miss.file) miss = { file, since, timeout_ms: TABLE_TIMEOUT_MS.first };
    if (since - miss.since > patience_ms) throw new TablesInUse(patience_ms);
    miss.timeout_ms = Math.min(2 * miss.timeout_ms, TABLE_TIMEOUT_MS.last);
    await sleep(PAUSE_MS);
  }
}

class TablesInUse extends Error {
  constructor(patience_ms: number) {
    super(
      `a table was in use for ${patience_ms / 1000} s by transactions that do not end, such as a pg_dump: try again when they have ended`,
    );
    this.name = 'TablesInUse';
  }
}

/** False if a table was in use. */
async function runOnce(dbClient: Connection, timeout_ms: number): Promise<boolean> {
  const { runner } = await loadRunner();
  await dbClient.query(`set lock_timeout = ${timeout_ms}`);
  try {
    await runner({
      dbClient,
      dir: FOLDER,
      migrationsTable: TABLE,
      direction: 'up',
      count: Number.POSITIVE_INFINITY,
      noLock: true,
      log: () => {},
    });
    return true;
  } catch (error) {
    if (!isLockNotAvailable(error)) throw error;
    await dbClient.query('rollback');
    return false;
  }
}

function isLockNotAvailable(error: unknown): boolean {
  return (error as { code?: string }).code === LOCK_NOT_AVAILABLE;
}

/** Loaded on demand, as most starts find nothing to do. */
function loadRunner() {
  return import('node-pg-migrate');
}

/**
 * The runner's own connection would still be closing after it returns: a server that ends then
 * would crash the process.
 */
async function connected<T>(url: string, work: (client: Connection) => Promise<T>): Promise<T> {
  const { withConnection } = await import('./connection.ts');
  return withConnection(
    {
      connectionString: url,
      application_name: 'tintype-migrate',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    },
    work,
  );
}
