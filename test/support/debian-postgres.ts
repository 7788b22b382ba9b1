/**
 * A PostgreSQL of Debian's packages for a test file, with the tools of its own version beside it (pg_dump, pg_restore,
 * psql), which the embedded one has not: the oldest version that is supported.
 */
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../../runtime/db/client.ts';
import { startPostgres } from '../../runtime/standalone/postgres.ts';

export type DebianPostgres = {
  /** Its tools. */
  bin: string;
  /** As its superuser; of this database. */
  admin(database: string): string;
  /** Owns its databases, and may do nothing else. */
  role: string;
  /** As this role. */
  application(database: string): string;
  query<Row>(database: string, text: string): Promise<Row[]>;
  stop(): Promise<void>;
};

const PACKAGES = '/usr/lib/postgresql';
const APPLICATION = 'application';
const PASSWORD = 'password';

/** With the empty database `tintype` of the application. */
export async function startDebianPostgres(): Promise<DebianPostgres> {
  const bin = findTools();
  const folder = await mkdtemp(join(tmpdir(), 'tintype-debian-postgres-'));
  const binaries = { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb') };
  const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '200' };
  const server = await startPostgres({ folder, binaries, settings });
  const admin = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` });
  const query = async <Row>(name: string, text: string): Promise<Row[]> => {
    const db = createDatabase({ url: admin(name).href, maxConnections: 1 });
    return db.query<Row>(text).finally(() => db.close());
  };
  await query('postgres', `create role ${APPLICATION} login password '${PASSWORD}'`);
  await query('postgres', `alter database tintype owner to ${APPLICATION}`);
  return {
    bin,
    role: APPLICATION,
    query,
    admin: (name) => admin(name).href,
    application: (name) =>
      Object.assign(admin(name), { username: APPLICATION, password: PASSWORD }).href,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function findTools(): string {
  const versions = readdirSync(PACKAGES).toSorted((a, b) => Number(a) - Number(b));
  const [oldest] = versions;
  if (oldest === undefined) throw new Error(`${PACKAGES} is empty: apt-get install postgresql`);
  return join(PACKAGES, oldest, 'bin');
}
