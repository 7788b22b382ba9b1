import type { Database, Queryable } from '../../runtime/db/client.ts';

/** Wraps a database, so that a function handles all statements, including those in transactions. */
export function throughDatabase(db: Database, through: (to: Queryable) => Queryable): Database {
  return {
    ...db,
    ...through(db),
    transaction: (work, options) => db.transaction((tx) => work(through(tx)), options),
  };
}
