/**
 * A clock for a test's database that the test controls: unqualified calls of now() and clock_timestamp() return its
 * time in all connections.
 */
import { createDatabase, type Queryable } from '../../runtime/db/client.ts';

export type DatabaseClock = {
  /** Sets the time and stops the clock there. */
  set(at: string): Promise<void>;
  /**
   * Sets the clock to `milliseconds` after the expiry of an upload. Returns false if that would
   * turn the clock back.
   */
  setToExpiry(upload_id: string, milliseconds: number): Promise<boolean>;
  /** Resumes the server's real time. */
  release(): Promise<void>;
};

/** Call it before anything else uses the database: open connections keep the real clock. */
export async function takeDatabaseClock(url: string, db: Queryable): Promise<DatabaseClock> {
  const first = createDatabase({ url, maxConnections: 1 });
  await first.query('create schema clock');
  await first.query('create table clock.hands (at timestamptz)');
  await first.query('insert into clock.hands values (null)');
  for (const [name, volatility] of [
    ['now', 'stable'],
    ['clock_timestamp', 'volatile'],
  ]) {
    await first.query(
      `create function clock.${name}() returns timestamptz language sql ${volatility}
       as 'select coalesce(at, pg_catalog.${name}()) from clock.hands'`,
    );
  }
  const [row] = await first.query<{ name: string }>('select current_database() as name');
  await first.query(`alter database ${row?.name} set search_path = clock, pg_catalog, public`);
  await first.close();
  return {
    set: async (at) => void (await db.query('update clock.hands set at = $1', [at])),
    setToExpiry: async (upload_id, milliseconds) => {
      const moved = await db.query(
        `update clock.hands set at = expires_at + make_interval(secs => $2::float8 / 1000)
         from uploads where upload_id = $1
           and expires_at + make_interval(secs => $2::float8 / 1000) >= coalesce(hands.at, pg_catalog.now())
         returning 1`,
        [upload_id, milliseconds],
      );
      return moved.length > 0;
    },
    release: async () => void (await db.query('update clock.hands set at = null')),
  };
}
