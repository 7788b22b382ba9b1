/**
 * Decides whether to ask the database. After a failure nobody asks for a while, longer each time, so that ten thousand
 * resources do not all try a database that is down. The first to ask afterwards finds out for all.
 */
import { isOutage } from '../../runtime/core/outage.ts';
import type { TimedClock } from '../kube/timed-clock.ts';

/**
 * The database is down, read-only after a failover or too slow; or its schema is not at this
 * version yet.
 */
export type DatabaseProblem = 'DatabaseUnavailable' | 'SchemaNotReady';

export type DatabaseGate = {
  /** How long to leave the database alone; 0: it may be asked. */
  closed_ms(): number;
  /** The last failure. */
  problem(): DatabaseProblem;
  failed(problem: DatabaseProblem): void;
  answered(): void;
};

const SHUT_MS = { first: 500, last: 10_000 };

export function createDatabaseGate(clock: TimedClock): DatabaseGate {
  let shut_until = 0;
  let wait_ms = SHUT_MS.first;
  let problem: DatabaseProblem = 'DatabaseUnavailable';
  return {
    closed_ms: () => Math.max(0, shut_until - clock.elapsed()),
    problem: () => problem,
    failed: (found) => {
      problem = found;
      // Passes that had already asked report the same failure.
      if (shut_until > clock.elapsed()) return;
      shut_until = clock.elapsed() + wait_ms;
      wait_ms = Math.min(wait_ms * 2, SHUT_MS.last);
    },
    answered: () => {
      wait_ms = SHUT_MS.first;
    },
  };
}

/** Undefined: the error has another cause. */
export function databaseProblemOf(error: unknown): DatabaseProblem | undefined {
  if (isOutage(error)) return 'DatabaseUnavailable';
  return isBehind(error) ? 'SchemaNotReady' : undefined;
}

/**
 * PostgreSQL's codes for an undefined table, column or function, which a migration has yet to
 * create.
 */
const UNDEFINED = ['42P01', '42703', '42883'];

function isBehind(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNDEFINED.includes(String(error.code));
}
