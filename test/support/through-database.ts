import type { Database, Queryable } from '../../runtime/db/client.ts';

/** A database of which every statement goes through something, those of transactions too. */
export function throughDatabase(db: Database, through: (to: Queryable) => Queryable): Database {
  return {
    ...db,
    ...through(db),
    transaction: (work, options) => db.transaction((tx) => work(through(tx)), options),
  };
}
