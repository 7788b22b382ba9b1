import type { Database, Queryable } from '../../runtime/db/client.ts';

/** A database wrapper that routes all statements, transactions included, through a function. */
export function throughDatabase(db: Database, through: (to: Queryable) => Queryable): Database {
  return {
    ...db,
    ...through(db),
    transaction: (work, options) => db.transaction((tx) => work(through(tx)), options),
  };
}
