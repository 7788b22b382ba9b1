/**
 * Keeps the PostgreSQL of a Tintype on one machine running: a server that ends for any reason is started again at the
 * same address, so that its clients can go on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';
import { type Postgres, type PostgresOptions, startPostgres } from './postgres.ts';

export type SupervisedPostgres = Pick<Postgres, 'url' | 'stop'>;

const RETRY_MS_FIRST = 500;
const RETRY_MS_MAX = 15_000;

/** Throws PostgresFailure when the first start fails. */
export async function supervisePostgres({
  log,
  ...options
}: PostgresOptions & { log: Log }): Promise<SupervisedPostgres> {
  const first = await startPostgres(options);
  if (first.adopted)
    log.info('the PostgreSQL of an earlier start is still running; reusing it', {
      pid: first.pid,
    });
  const { url, port } = first;
  const ending = new AbortController();
  const watching = keep(first, { ...options, port, log }, ending.signal);
  return {
    url,
    stop: async () => {
      ending.abort();
      await (await watching).stop();
    },
  };
}

type Kept = PostgresOptions & { port: number; log: Log };

/** Restarts the server until the signal aborts; returns the server that runs then. */
async function keep(first: Postgres, kept: Kept, signal: AbortSignal): Promise<Postgres> {
  const ended = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  for (let current = first; ; ) {
    await Promise.race([current.exited, ended]);
    if (signal.aborted) return current;
    kept.log.warn('PostgreSQL has stopped; restarting it, everything waits until then', {
      pid: current.pid,
    });
    current = (await startAgain(kept, signal)) ?? current;
  }
}

async function startAgain(
  { log, ...options }: Kept,
  signal: AbortSignal,
): Promise<Postgres | undefined> {
  for (let wait = RETRY_MS_FIRST; !signal.aborted; wait = Math.min(wait * 2, RETRY_MS_MAX)) {
    try {
      const again = await startPostgres(options);
      log.info('PostgreSQL is running again', { pid: again.pid });
      return again;
    } catch (error) {
      log.error('PostgreSQL does not start; retrying', { error });
    }
    await sleep(wait, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
