/** Reads the total usage and charges from the database. */
import type { Database } from '../../../runtime/db/client.ts';
import type { Sum } from './client.ts';

export type Money = { hours: Sum; charged: number; balance: number; entries: number };

export async function readMoney(db: Database): Promise<Money> {
  const [hours] = await db.query<Sum>(
    `select coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(bytes), 0)::bigint as bytes,
       coalesce(sum(credits), 0)::bigint as credits from usage_hours`,
  );
  const [rest] = await db.query<Omit<Money, 'hours'>>(
    `select coalesce(sum(delta), 0)::bigint as charged, count(*) as entries,
       (select sum(credit_balance)::bigint from organizations) as balance from ledger`,
  );
  if (hours === undefined || rest === undefined) throw new Error('no sums');
  return { hours, ...rest };
}
