/** A database with a fault at one of its calls: a single statement, one within a transaction, or a commit. */
import type { Database, Queryable } from '../../../runtime/db/client.ts';
import { nameOf } from './steps.ts';

/** `update uploads 1`, `tx insert into uploads 1`, `commit 1`: the first call of that name. */
export type Call = string;

/** Called before every call is sent, with the connection that sends it. */
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
    close: () => db.close(),
  };
}
