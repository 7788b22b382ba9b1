// The time by the database's clock, which all processes use: when something begins to count, and until when.
import type { Queryable } from './client.ts';
import { onlyRow } from './rows.ts';
import { THIS_MOMENT } from './this-moment.ts';

export async function findDatabaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(`select ${THIS_MOMENT} as now`);
  return onlyRow(row).now;
}
