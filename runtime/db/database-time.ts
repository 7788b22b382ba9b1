// The time by the database's clock, which all processes use: when something begins to count, and until when.
import type { Queryable } from './client.ts';
import { onlyRow } from './rows.ts';

/**
 * SQL for the time of a statement, in milliseconds like the time columns. Not now(), the start of the transaction: one
 * that waited for a lock must get a later time than its predecessor.
 */
export const STATEMENT_TIME = `date_trunc('milliseconds', clock_timestamp())`;

export async function findDatabaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(`select ${STATEMENT_TIME} as now`);
  return onlyRow(row).now;
}
