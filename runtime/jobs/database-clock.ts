/**
 * The clock of jobs: the database's, by which everything is due, counted and kept, whatever that of the process says. It
 * is compared every so often, and goes on by itself between.
 */
import type { Queryable } from '../db/client.ts';
import { measureDatabaseLead } from '../db/database-lead.ts';
import { type Clock, steady, systemClock } from '../platform/clock.ts';

export type DatabaseClock = Clock & {
  /** To be awaited before the time is asked; throws where the database never told it. */
  compare(): Promise<void>;
};

const BELIEVED_MS = 10_000;

/** A clock that somebody hands in place of the system's stays what it is. */
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
      // It goes on by what it was, and is not asked in vain all the time.
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
