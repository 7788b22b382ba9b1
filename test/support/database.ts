// A migrated database for one test file: a clone of the run's template, dropped after the last test.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import { createDatabase, type Database, type DatabaseOptions } from '../../runtime/db/client.ts';
import { TEMPLATE_DATABASE } from './global-setup.ts';

export type TestDatabase = {
  url: string;
  /** Closes every connection to the database and drops it. */
  drop(): Promise<void>;
};

/** Clones the run's template by default; `template0` gives an empty database. */
export async function createTestDatabase(template = TEMPLATE_DATABASE): Promise<TestDatabase> {
  const admin = connectAdmin();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await admin.query(`create database ${name} template ${template} strategy file_copy`);
  return {
    url: Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` }).href,
    drop: async () => {
      await untilLeft(admin, name);
      await admin.query(`drop database if exists ${name} with (force)`);
    },
  };
}

/**
 * Call it once per test file. Creates a database before the first test and drops it after the last;
 * `open` returns a further pool on it.
 */
export function useDatabase(options: Omit<DatabaseOptions, 'url'> = {}): {
  db: Database;
  url: () => string;
  open: (settings?: Omit<DatabaseOptions, 'url'>) => Database;
} {
  let database: TestDatabase | undefined;
  const opened: Database[] = [];
  const url = () => {
    if (database === undefined) throw new Error('the database is there from beforeAll on');
    return database.url;
  };
  const open = (settings: Omit<DatabaseOptions, 'url'> = {}) => {
    const another = createDatabase({ url: url(), ...settings });
    opened.push(another);
    return another;
  };
  let first: Database | undefined;
  const get = () => {
    first ??= open(options);
    return first;
  };
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await Promise.all(opened.map((each) => each.close()));
    await database?.drop();
  });
  const db: Database = {
    query: (text, values) => get().query(text, values),
    transaction: (work, settings) => get().transaction(work, settings),
    check: () => get().check(),
    close: () => get().close(),
  };
  return { db, url, open };
}

const LEAVING_MS_MAX = 10_000;
const PATIENT_MS = 60_000;

let shared: Database | undefined;

/** All test files of a process share these connections: each new one costs the server a process. */
function connectAdmin(): Database {
  shared ??= createDatabase({
    url: inject('postgresUrl'),
    maxConnections: 2,
    connectTimeoutMs: PATIENT_MS,
    queryTimeoutMs: PATIENT_MS,
  });
  return shared;
}

/**
 * Waits until connections are closed. Dropping the database by force would end them with an error
 * that nobody handles.
 */
async function untilLeft(admin: Database, name: string): Promise<void> {
  const query = 'select 1 from pg_stat_activity where datname = $1';
  for (const end = Date.now() + LEAVING_MS_MAX; Date.now() < end; ) {
    if ((await admin.query(query, [name])).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
