/**
 * Retries connections that fail. While Tintype is stopped or restarts, they are refused or reset: the command says so
 * once, and waits for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Refused } from './refused.ts';

/** At least, and for failures of other kinds, such as silence, at most. */
const TRIES = 3;
const RETRY_MS = 500;
const AWAY_SECONDS_MAX = 60;

/** Several files meet the same restart. */
let isSaid = false;

/** For work that may be done twice. Throws the last failure; refusals are thrown at once. */
export async function insist<Value>(work: () => Promise<Value>): Promise<Value> {
  let away_from: number | undefined;
  for (let tried = 1; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refused) throw error;
      away_from ??= performance.now();
      const isToWait = isAway(error) && performance.now() - away_from < AWAY_SECONDS_MAX * 1000;
      if (tried >= TRIES && !isToWait) throw error;
      // A connection that broke once is no news.
      if (isAway(error) && tried > 1) sayOnce();
      await sleep(RETRY_MS);
    }
  }
}

const AWAY: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE'],
  'UND_ERR_SOCKET', // How fetch reports that the other side closed the connection.
]);

/** fetch wraps the error of the socket. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && AWAY.has(error.code)) || isAway(error.cause);
}

function sayOnce(): void {
  if (isSaid) return;
  isSaid = true;
  process.stderr.write(
    `Tintype does not answer. Waiting up to ${AWAY_SECONDS_MAX} seconds for it …\n`,
  );
}
