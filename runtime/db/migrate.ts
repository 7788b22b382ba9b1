// Brings a database to this version: the SQL files of migrations/ in order, all in one transaction, under an advisory
// lock so that processes that start together do not collide. Applied files never change; a change is a new file.
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Queryable } from './client.ts';
import type { Connection } from './connection.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Of waiting for a migration that another process runs, or for a table in use. */
const LOCK_TIMEOUT_MS = 120_000;

/** Returns the names of the migrations that were applied now; a second call applies none. */
export async function migrate(url: string): Promise<string[]> {
  return connected(url, async (client) => {
    const missing = await findMissingMigrations({
      query: async (text) => (await client.query(text)).rows,
    });
    return missing.length === 0 ? [] : run(client, 'up');
  });
}

/** Takes every migration back, newest first: all data is gone afterwards. */
export async function unmigrate(url: string): Promise<string[]> {
  return connected(url, (client) => run(client, 'down'));
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

// Most starts find nothing to do, and need no runner for that.
async function run(dbClient: Connection, direction: 'up' | 'down'): Promise<string[]> {
  const { runner } = await import('node-pg-migrate');
  const applied = await runner({
    dbClient,
    dir: FOLDER,
    migrationsTable: TABLE,
    direction,
    count: Number.POSITIVE_INFINITY,
    advisoryLockMode: 'wait',
    log: () => {},
  });
  return applied.map((migration) => migration.name);
}

/** A connection of the runner's own would still be closing when it answers: a server that ends then ends the process. */
async function connected<T>(url: string, work: (client: Connection) => Promise<T>): Promise<T> {
  const { withConnection } = await import('./connection.ts');
  return withConnection(
    {
      connectionString: url,
      application_name: 'tintype-migrate',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
    },
    work,
  );
}
