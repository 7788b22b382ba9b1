/**
 * Meters deliveries: every 2xx and 304 becomes a line of the spool, and the spool is sent to PostgreSQL in batches per
 * (project, hour). Sending a batch again changes nothing. Deliveries that the disk does not accept wait in memory.
 * Spec: Metering.
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
import { createOutageLog, type OutageLog } from '../platform/outage-log.ts';
import { openSpool, readSegment, type Segment, type Spool } from './spool.ts';
import { foldDeliveries, type SpooledDelivery } from './usage-batch.ts';
import { createUsageBuffer, type UsageBuffer, type UsageChunk } from './usage-buffer.ts';

export type Meter = {
  /** The delivery's time is the database's time, as for all usage. */
  record(delivery: SpooledDelivery): void;
  /** Sends what is spooled; what the database does not accept now is retried at the next flush. */
  flush(): Promise<void>;
  /**
   * Flushes until all usage is sent or `usage_patience_ms` is over; the next start sends what stays
   * in the folder.
   */
  stop(): Promise<void>;
};

type MeterDeps = {
  db: Queryable;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'usageUnspooled' | 'usageLost'>;
  failpoint?: Failpoint;
  /** How long `stop` waits for a database that is away; default: one flush. */
  usage_patience_ms?: number;
};

type CountingDeps = MeterDeps & {
  losses: Losses;
  buffer: UsageBuffer;
  outage: OutageLog;
  unspooled: Record<'kept' | 'lost', OutageLog>;
};

const FLUSH_MS = 1000;

export function startMeter(folder: string, deps: MeterDeps): Meter {
  const newSpoolId = () => newId('spl', deps.clock.now().getTime());
  const spool = openSpool(folder, newSpoolId());
  const ending = new AbortController();
  const outage = createOutageLog(deps.log, { says: 'usage not sent; retrying every second' });
  const counting = {
    ...deps,
    losses: countLosses(),
    buffer: createUsageBuffer(newSpoolId()),
    outage,
    unspooled: unspooledLogs(deps.log),
  };
  const flush = runSerially(() => sendUsage(spool, counting));
  const loop = (async () => {
    while (!ending.signal.aborted) {
      await flush();
      await sleep(FLUSH_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    record: (delivery) => append(spool, delivery, counting),
    flush: async () => void (await flush()),
    stop: async () => {
      ending.abort();
      await loop;
      const { usage_patience_ms = 0 } = deps;
      if (!(await isDoneWithin(flush, usage_patience_ms)))
        logUnsent(counting, { folder, spooled: await spool.countLines() });
      spool.end();
    },
  };
}

function logUnsent(
  { log, buffer, metrics }: CountingDeps,
  { folder, spooled }: { folder: string; spooled: number },
): void {
  const counts = (deliveries: number) => ({ counts: { deliveries } });
  if (spooled > 0) {
    log.error('usage was not sent before the process ended, and stays in the spool', {
      ...counts(spooled),
      folder,
    });
  }
  const kept = buffer.size();
  if (kept === 0) return;
  for (let each = 0; each < kept; each += 1) metrics.usageLost();
  log.error(
    'usage that could not be spooled was not sent before the process ended, and is lost',
    counts(kept),
  );
}

/** Each logs at most once a minute, because a full disk fails every delivery. */
function unspooledLogs(log: Log): CountingDeps['unspooled'] {
  const says = 'usage could not be spooled';
  return {
    kept: createOutageLog(log, { says, fields: { reason: 'kept in memory' }, level: 'error' }),
    lost: createOutageLog(log, { says, fields: { reason: 'lost' }, level: 'error' }),
  };
}

/**
 * Retries within the patience: the folder may disappear with its process, and then nobody could
 * send its usage.
 */
async function isDoneWithin(flush: () => Promise<boolean>, patienceMs: number): Promise<boolean> {
  const endsAt = performance.now() + patienceMs;
  while (!(await flush())) {
    if (performance.now() >= endsAt) return false;
    await sleep(FLUSH_MS);
  }
  return true;
}

/**
 * A full disk does not stop delivery, as the viewer is not to blame; a metric and a log line report
 * it.
 */
function append(spool: Spool, line: SpooledDelivery, deps: CountingDeps): void {
  const { metrics, losses, buffer, failpoint } = deps;
  try {
    spool.append(line);
    void failpoint?.('usage.appended');
  } catch (error) {
    metrics.usageUnspooled();
    const isLost = !buffer.add(line);
    if (isLost) {
      metrics.usageLost();
      losses.add();
    }
    deps.unspooled[isLost ? 'lost' : 'kept'].failed(error);
  }
}

/**
 * Never throws: what could not be sent stays where it is for the next flush. Returns whether all
 * was sent.
 */
async function sendUsage(spool: Spool, deps: CountingDeps): Promise<boolean> {
  try {
    // Held usage goes first: it exists only in memory, and a disk that cannot be read must not
    // block it.
    await deps.buffer.send((piece) => sendBuffered(piece, deps));
    for (const segment of await spool.closedSegments()) {
      await deps.failpoint?.('usage.segment_closed');
      await sendSegment(spool, segment, deps);
    }
    deps.outage.succeeded();
    return true;
  } catch (error) {
    deps.outage.failed(error);
    return false;
  }
}

/**
 * Throws when the database is away; a piece that is refused permanently exists nowhere else, and so
 * is lost.
 */
async function sendBuffered({ spool_id, sequence, deliveries }: UsageChunk, deps: CountingDeps) {
  const { db, log, metrics, losses } = deps;
  try {
    await insertUsageBatch(db, { spool_id, sequence, entries: foldDeliveries(deliveries) });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    for (const _ of deliveries) {
      metrics.usageLost();
      losses.add();
    }
    log.error('a usage batch was refused and is lost', { spool: spool_id, sequence, error });
  }
}

/** Throws when the database is away; a permanently refused segment does not delay the others. */
async function sendSegment(spool: Spool, segment: Segment, deps: CountingDeps): Promise<void> {
  const { spool_id, sequence } = segment;
  try {
    const entries = foldDeliveries(await readSegment(segment));
    await deps.failpoint?.('usage.before_commit');
    // Sends empty batches too: a gap in the sequence numbers means a missing batch.
    const lost_deliveries = deps.losses.report();
    await insertUsageBatch(deps.db, { spool_id, sequence, entries, lost_deliveries });
    deps.losses.markReported();
    await deps.failpoint?.('usage.committed');
    await spool.remove(segment);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const file = await spool.setAside(segment);
    deps.log.error('a usage batch was refused and set aside', {
      spool: spool_id,
      sequence,
      file,
      error,
    });
  }
}

type Losses = { add(): void; report(): number; markReported(): void };

/**
 * Counts deliveries that were lost. The next batch reports them; a batch that is sent again reports
 * the same number.
 */
function countLosses(): Losses {
  let unreported = 0;
  let reporting: number | undefined;
  return {
    add: () => {
      unreported += 1;
    },
    report: () => {
      reporting ??= unreported;
      return reporting;
    },
    markReported: () => {
      unreported -= reporting ?? 0;
      reporting = undefined;
    },
  };
}

/** Whether an error is permanent: neither time nor a restart would change it. */
function isRefusal(error: unknown): boolean {
  const refusals = [ConstraintViolation, SyntaxError, z.ZodError];
  return refusals.some((kind) => error instanceof kind);
}

/** Runs one call at a time; a call during a run waits for it and runs again. */
function runSerially<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(run);
    last = next;
    return next;
  };
}
