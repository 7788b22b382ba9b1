/**
 * Whether the database is worth asking: after a failure nobody asks until a while has passed, longer each time, so that
 * ten thousand resources do not knock at a door that is shut. The first that asks then finds out for all.
 */
import { isOutage } from '../../runtime/core/outage.ts';
import type { TimedClock } from '../kube/timed-clock.ts';

/** The database is away, read-only after a failover or too slow to answer; or it is not at our version yet. */
export type Absence = 'DatabaseUnavailable' | 'SchemaNotReady';

export type DatabaseGate = {
  /** How long to leave it alone; 0: it may be asked. */
  shut_ms(): number;
  /** What it failed with last. */
  absence(): Absence;
  failed(absence: Absence): void;
  answered(): void;
};

const SHUT_MS = { first: 500, last: 10_000 };

export function createDatabaseGate(clock: TimedClock): DatabaseGate {
  let shut_until = 0;
  let wait_ms = SHUT_MS.first;
  let absence: Absence = 'DatabaseUnavailable';
  return {
    shut_ms: () => Math.max(0, shut_until - clock.elapsed()),
    absence: () => absence,
    failed: (found) => {
      absence = found;
      // Others that had asked before learn of the same failure.
      if (shut_until > clock.elapsed()) return;
      shut_until = clock.elapsed() + wait_ms;
      wait_ms = Math.min(wait_ms * 2, SHUT_MS.last);
    },
    answered: () => {
      wait_ms = SHUT_MS.first;
    },
  };
}

/** Undefined: something else is wrong. */
export function absenceOf(error: unknown): Absence | undefined {
  if (isOutage(error)) return 'DatabaseUnavailable';
  return isBehind(error) ? 'SchemaNotReady' : undefined;
}

/** PostgreSQL's codes for a table, a column or a function that a migration has yet to make. */
const UNDEFINED = ['42P01', '42703', '42883'];

function isBehind(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNDEFINED.includes(String(error.code));
}
