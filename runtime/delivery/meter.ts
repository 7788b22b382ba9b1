/**
 * Meters deliveries: every 2xx and 304 becomes a line of the spool, and the spool is sent to PostgreSQL in
 * batches of (project, hour). A batch that was sent before changes nothing. Spec: Metering.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { newId } from '../core/ids.ts';
import type { Queryable } from '../db/client.ts';
import { ConstraintViolation } from '../db/failures.ts';
import { insertUsageBatch } from '../db/usage-batches.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { openSpool, readSegment, type Segment, type Spool } from './spool.ts';
import { type Delivery, foldDeliveries } from './usage-batch.ts';

export type Meter = {
  record(delivery: Delivery): void;
  /** Sends what is spooled; what the database does not take now is tried again at the next flush. */
  flush(): Promise<void>;
  /** Flushes once more; what stays in the folder is sent by the next start. */
  stop(): Promise<void>;
};

type MeterDeps = {
  db: Queryable;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'usageLost'>;
  failpoint?: Failpoint;
};

const FLUSH_MS = 1000;

export function startMeter(folder: string, deps: MeterDeps): Meter {
  const spool = openSpool(folder, newId('spl', deps.clock.now().getTime()));
  const ending = new AbortController();
  const flush = serially(() => sendSegments(spool, deps));
  const loop = (async () => {
    while (!ending.signal.aborted) {
      await sleep(FLUSH_MS, undefined, { signal: ending.signal }).catch(() => undefined);
      await flush();
    }
  })();
  return {
    record: (delivery) => append(spool, delivery, deps),
    flush,
    stop: async () => {
      ending.abort();
      await loop;
    },
  };
}

/** Delivery goes on when the disk is full: the viewer is not to blame; a metric and a log line say it. */
function append(spool: Spool, delivery: Delivery, deps: MeterDeps): void {
  const { clock, log, metrics, failpoint } = deps;
  try {
    spool.append({ at: clock.now().getTime(), ...delivery });
    void failpoint?.('usage.appended');
  } catch (error) {
    metrics.usageLost();
    const { project_id, bytes } = delivery;
    log.error('usage could not be spooled', { project_id, bytes, error });
  }
}

/** Never throws: whatever goes wrong stays on disk for the next flush. */
async function sendSegments(spool: Spool, deps: MeterDeps): Promise<void> {
  try {
    for (const segment of await spool.closedSegments()) {
      await deps.failpoint?.('usage.segment_closed');
      await sendSegment(spool, segment, deps);
    }
  } catch (error) {
    deps.log.warn('usage not sent, will be tried again', { error });
  }
}

/** Throws where the database is away; a segment that is refused for good does not hold up the others. */
async function sendSegment(spool: Spool, segment: Segment, deps: MeterDeps): Promise<void> {
  const { spool_id, sequence } = segment;
  try {
    const entries = foldDeliveries(await readSegment(segment));
    await deps.failpoint?.('usage.before_commit');
    if (entries.length > 0) await insertUsageBatch(deps.db, { spool_id, sequence, entries });
    await deps.failpoint?.('usage.committed');
    await spool.remove(segment);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const file = await spool.setAside(segment);
    deps.log.error('usage batch refused, set aside', { spool: spool_id, sequence, file, error });
  }
}

/** Neither time nor a restart would change it. */
function isRefusal(error: unknown): boolean {
  const refusals = [ConstraintViolation, SyntaxError, z.ZodError];
  return refusals.some((kind) => error instanceof kind);
}

/** One run at a time; a call during a run waits for it and runs again. */
function serially(run: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(run);
    return last;
  };
}
