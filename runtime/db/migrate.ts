// Brings a database to this version: the SQL files of migrations/ in order, all in one transaction, under an advisory
// lock so that processes that start together do not collide. Applied files never change; a change is a new file.
import { runner } from 'node-pg-migrate';

const CONNECT_TIMEOUT_MS = 10_000;
/** Of waiting for a migration that another process runs, or for a table in use. */
const LOCK_TIMEOUT_MS = 120_000;

/** Returns the names of the migrations that were applied now; a second call applies none. */
export async function migrate(url: string): Promise<string[]> {
  return run(url, 'up');
}

/** Takes every migration back, newest first: all data is gone afterwards. */
export async function unmigrate(url: string): Promise<string[]> {
  return run(url, 'down');
}

async function run(url: string, direction: 'up' | 'down'): Promise<string[]> {
  const applied = await runner({
    databaseUrl: {
      connectionString: url,
      application_name: 'tintype-migrate',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
    },
    dir: new URL('migrations', import.meta.url).pathname,
    migrationsTable: 'schema_migrations',
    direction,
    count: Number.POSITIVE_INFINITY,
    advisoryLockMode: 'wait',
    log: () => {},
  });
  return applied.map((migration) => migration.name);
}
