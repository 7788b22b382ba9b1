/**
 * Starts a PostgreSQL from Debian's packages, in the oldest supported version. Unlike the embedded one, it has the
 * matching pg_dump, pg_restore and psql.
 */
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../../runtime/db/client.ts';
import { startPostgres } from '../../runtime/standalone/postgres.ts';

export type DebianPostgres = {
  /** The folder with pg_dump, pg_restore and psql. */
  bin: string;
  /** Returns a superuser URL of the database. */
  admin(database: string): string;
  /** The role that owns the application's databases and has no other privileges. */
  role: string;
  /** Returns a URL of the database for that role. */
  application(database: string): string;
  query<Row>(database: string, text: string): Promise<Row[]>;
  stop(): Promise<void>;
};

const PACKAGES = '/usr/lib/postgresql';
const APPLICATION = 'application';
const PASSWORD = 'password';

/** Starts the server with an empty database `tintype` that belongs to the application's role. */
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
