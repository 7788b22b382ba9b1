/**
 * Meters deliveries: every 2xx and 304 becomes a line of the spool, and the spool is sent to PostgreSQL in batches of
 * (project, hour). A batch that was sent before changes nothing. What the disk does not take waits in memory.
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
import { type HeldPiece, type HeldUsage, holdUsage } from './held-usage.ts';
import { openSpool, readSegment, type Segment, type Spool } from './spool.ts';
import { foldDeliveries, type SpooledDelivery } from './usage-batch.ts';

export type Meter = {
  /** Its time is that of the database, as all that usage is counted by. */
  record(delivery: SpooledDelivery): void;
  /** Sends what is spooled; what the database does not take now is tried again at the next flush. */
  flush(): Promise<void>;
  /** Flushes until all is sent or its patience is over; what stays in the folder is sent by the next start. */
  stop(): Promise<void>;
};

type MeterDeps = {
  db: Queryable;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'usageUnspooled' | 'usageLost'>;
  failpoint?: Failpoint;
  /** How long its end waits for a database that is away; left out: for one flush. */
  usage_patience_ms?: number;
};

type CountingDeps = MeterDeps & {
  losses: Losses;
  held: HeldUsage;
  outage: OutageLog;
  unspooled: Record<'kept' | 'lost', OutageLog>;
};

const FLUSH_MS = 1000;

export function startMeter(folder: string, deps: MeterDeps): Meter {
  const newSpoolId = () => newId('spl', deps.clock.now().getTime());
  const spool = openSpool(folder, newSpoolId());
  const ending = new AbortController();
  const outage = createOutageLog(deps.log, { says: 'usage not sent, is tried again each second' });
  const counting = {
    ...deps,
    losses: countLosses(),
    held: holdUsage(newSpoolId()),
    outage,
    unspooled: unspooledLogs(deps.log),
  };
  const flush = serially(() => sendUsage(spool, counting));
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
        sayUnsent(counting, { folder, spooled: await spool.countLines() });
      spool.end();
    },
  };
}

function sayUnsent(
  { log, held, metrics }: CountingDeps,
  { folder, spooled }: { folder: string; spooled: number },
): void {
  const counts = (deliveries: number) => ({ counts: { deliveries } });
  if (spooled > 0) {
    log.error('usage was not sent before the end, and stays in its folder', {
      ...counts(spooled),
      folder,
    });
  }
  const kept = held.size();
  if (kept === 0) return;
  for (let each = 0; each < kept; each += 1) metrics.usageLost();
  log.error('usage that no disk took was not sent before the end, and is lost', counts(kept));
}

/** Once a minute each: a disk that is full refuses every delivery. */
function unspooledLogs(log: Log): CountingDeps['unspooled'] {
  const says = 'usage could not be spooled';
  return {
    kept: createOutageLog(log, { says, fields: { reason: 'kept in memory' }, level: 'error' }),
    lost: createOutageLog(log, { says, fields: { reason: 'lost' }, level: 'error' }),
  };
}

/** A folder may go with its process: what is in it is sent now, or perhaps by nobody. */
async function isDoneWithin(flush: () => Promise<boolean>, patienceMs: number): Promise<boolean> {
  const endsAt = performance.now() + patienceMs;
  while (!(await flush())) {
    if (performance.now() >= endsAt) return false;
    await sleep(FLUSH_MS);
  }
  return true;
}

/** Delivery goes on when the disk is full: the viewer is not to blame; a metric and a log line say it. */
function append(spool: Spool, line: SpooledDelivery, deps: CountingDeps): void {
  const { metrics, losses, held, failpoint } = deps;
  try {
    spool.append(line);
    void failpoint?.('usage.appended');
  } catch (error) {
    metrics.usageUnspooled();
    const isLost = !held.add(line);
    if (isLost) {
      metrics.usageLost();
      losses.add();
    }
    deps.unspooled[isLost ? 'lost' : 'kept'].failed(error);
  }
}

/** Never throws: whatever goes wrong is kept where it is for the next flush. Whether all was sent. */
async function sendUsage(spool: Spool, deps: CountingDeps): Promise<boolean> {
  try {
    // First, as it is in memory alone, and a disk that cannot be read must not keep it there.
    await deps.held.send((piece) => sendHeld(piece, deps));
    for (const segment of await spool.closedSegments()) {
      await deps.failpoint?.('usage.segment_closed');
      await sendSegment(spool, segment, deps);
    }
    deps.outage.went();
    return true;
  } catch (error) {
    deps.outage.failed(error);
    return false;
  }
}

/** Throws where the database is away; what is refused for good is kept nowhere else, and so is lost. */
async function sendHeld({ spool_id, sequence, deliveries }: HeldPiece, deps: CountingDeps) {
  const { db, log, metrics, losses } = deps;
  try {
    await insertUsageBatch(db, { spool_id, sequence, entries: foldDeliveries(deliveries) });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    for (const _ of deliveries) {
      metrics.usageLost();
      losses.add();
    }
    log.error('usage batch refused, and lost', { spool: spool_id, sequence, error });
  }
}

/** Throws where the database is away; a segment that is refused for good does not hold up the others. */
async function sendSegment(spool: Spool, segment: Segment, deps: CountingDeps): Promise<void> {
  const { spool_id, sequence } = segment;
  try {
    const entries = foldDeliveries(await readSegment(segment));
    await deps.failpoint?.('usage.before_commit');
    // Empty ones too: a number that is missing later means a piece that never came.
    const lost_deliveries = deps.losses.tell();
    await insertUsageBatch(deps.db, { spool_id, sequence, entries, lost_deliveries });
    deps.losses.told();
    await deps.failpoint?.('usage.committed');
    await spool.remove(segment);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const file = await spool.setAside(segment);
    deps.log.error('usage batch refused, set aside', { spool: spool_id, sequence, file, error });
  }
}

type Losses = { add(): void; tell(): number; told(): void };

/** Deliveries that nothing took. The next batch tells of them; one that is sent again tells the same. */
function countLosses(): Losses {
  let untold = 0;
  let telling: number | undefined;
  return {
    add: () => {
      untold += 1;
    },
    tell: () => {
      telling ??= untold;
      return telling;
    },
    told: () => {
      untold -= telling ?? 0;
      telling = undefined;
    },
  };
}

/** Neither time nor a restart would change it. */
function isRefusal(error: unknown): boolean {
  const refusals = [ConstraintViolation, SyntaxError, z.ZodError];
  return refusals.some((kind) => error instanceof kind);
}

/** One run at a time; a call during a run waits for it and runs again. */
function serially<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(run);
    last = next;
    return next;
  };
}
