/**
 * The clock of jobs is the database's: due times, counts and retention follow it, whatever the process's clock says.
 * The difference is measured every so often; in between, the process's clock advances it.
 */
import type { Queryable } from '../db/client.ts';
import { measureDatabaseLead } from '../db/database-lead.ts';
import { type Clock, steady, systemClock } from '../platform/clock.ts';

export type DatabaseClock = Clock & {
  /** Await this before reading the time; throws if the database has never answered. */
  compare(): Promise<void>;
};

const BELIEVED_MS = 10_000;

/** A clock passed in place of the system clock is used unchanged. */
export function createDatabaseClock(db: Queryable, clock: Clock): DatabaseClock {
  if (clock !== systemClock) return { now: clock.now, compare: async () => undefined };
  const own = () => steady(clock).now().getTime();
  let known: { lead_ms: number; at: number } | undefined;
  let asking: Promise<void> | undefined;
  const ask = async () => {
    try {
      known = { lead_ms: await measureDatabaseLead(db, own), at: own() };
    } catch (error) {
      if (known === undefined) throw error;
      // Keep the old difference and wait before asking again.
      known = { ...known, at: own() };
    } finally {
      asking = undefined;
    }
  };
  return {
    now: () => new Date(own() + (known?.lead_ms ?? 0)),
    compare: async () => {
      if (known !== undefined && own() - known.at < BELIEVED_MS) return;
      asking ??= ask();
      await asking;
    },
  };
}
