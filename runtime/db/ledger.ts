// Table ledger: charges as differences, each in one transaction with the balance. Spec: Metering.
import type { Transaction } from './client.ts';

export type Charge = {
  organization_id: string;
  project_id: string;
  /** YYYY-MM-DD */
  day: string;
  /** The run of the daily charge: a second call with the same run changes nothing. */
  run: string;
  /** The total cost of the day. */
  charged_credits: number;
};

/**
 * Charges the difference between the day's cost and what was already charged, or refunds it;
 * returns that difference. Requires the lock on the organization, so that parallel runs see each
 * other's entries.
 */
export async function insertLedgerEntry(tx: Transaction, charge: Charge): Promise<number> {
  const [entry] = await tx.query<{ delta: number }>(
    `with entry as (
       insert into ledger (organization_id, project_id, day, run, delta, charged_credits)
       select $1, $2, $3, $4, $5 - charged, $5
       from (select coalesce(sum(delta), 0) as charged from ledger where project_id = $2 and day = $3) so_far
       where $5 <> charged
       on conflict (project_id, day, run) do nothing returning delta
     ), paid as (
       update organizations set credit_balance = credit_balance - entry.delta, updated_at = now()
       from entry where organization_id = $1
     )
     select delta from entry`,
    [charge.organization_id, charge.project_id, charge.day, charge.run, charge.charged_credits],
  );
  return entry?.delta ?? 0;
}
