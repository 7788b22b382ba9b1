/** Wraps a database to call a function before every call: each statement, also within transactions, and each commit. */
import type { Database, Queryable } from '../../../runtime/db/client.ts';
import { nameOf } from './steps.ts';

/**
 * The name and number of a call, such as `update uploads 1`, `tx insert into uploads 1` or `commit
 * 1`.
 */
export type Call = string;

/** Called before every call is sent, with its connection. */
export type OnCall = (call: Call, queries: Queryable) => Promise<void>;

export function watchCalls(db: Database, onCall: OnCall): Database {
  const counts = new Map<string, number>();
  const tell = (name: string, queries: Queryable) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return onCall(`${name} ${count}`, queries);
  };
  const watched = (queries: Queryable, where: string): Queryable => ({
    query: async (text, values) => {
      await tell(`${where}${nameOf(text)}`, queries);
      return queries.query(text, values);
    },
  });
  return {
    ...watched(db, ''),
    transaction: (work, settings) =>
      db.transaction(async (tx) => {
        const made = await work(watched(tx, 'tx '));
        await tell('commit', tx);
        return made;
      }, settings),
    check: () => db.check(),
    close: () => db.close(),
  };
}
