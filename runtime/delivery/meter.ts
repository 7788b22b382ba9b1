/**
 * Meters deliveries: every 2xx and 304 becomes a line of the spool, and the spool is sent to PostgreSQL in
 * batches of (project, hour). A batch that was sent before changes nothing. Spec: Metering.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { deliveryCredits, hourOf } from '../core/metering.ts';
import type { Database } from '../db/client.ts';
import { insertUsageBatch, type UsageBatchRow } from '../db/usage-batches.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { openSpool, readSegment, type Segment, type Spool } from './spool.ts';

/** One successful delivery; `bytes` of its body, 0 for HEAD and 304. */
export type Delivery = {
  project_id: string;
  bytes: number;
  kind: 'derived' | 'originals' | 'raw';
  is_watermarked: boolean;
};

export type Meter = {
  record(delivery: Delivery): void;
  /** Sends what is spooled; a database that does not answer is tried again at the next flush. */
  flush(): Promise<void>;
  stop(): Promise<void>;
};

type MeterDeps = { db: Database; clock: Clock; log: Log; metrics: Metrics };

const FLUSH_MS = 1000;

export function startMeter(folder: string, deps: MeterDeps): Meter {
  const spool = openSpool(folder);
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
function append(spool: Spool, delivery: Delivery, { clock, log, metrics }: MeterDeps): void {
  try {
    spool.append({ at: clock.now().getTime(), ...delivery });
  } catch (error) {
    metrics.usageLost();
    log.error('usage could not be spooled', {
      project_id: delivery.project_id,
      bytes: delivery.bytes,
      error,
    });
  }
}

async function sendSegments(spool: Spool, { db, log }: MeterDeps): Promise<void> {
  for (const segment of await spool.closedSegments()) {
    try {
      await sendSegment(db, segment);
    } catch (error) {
      log.warn('usage batch not sent, will be tried again', {
        spool: segment.spool_id,
        sequence: segment.sequence,
        error,
      });
      return;
    }
    await spool.remove(segment);
  }
}

async function sendSegment(db: Database, segment: Segment): Promise<void> {
  const rows = foldUsage((await readSegment(segment)).map((line) => spooledLine.parse(line)));
  if (rows.length === 0) return;
  const { spool_id, sequence } = segment;
  await db.transaction((tx) => insertUsageBatch(tx, { spool_id, sequence, rows }));
}

const spooledLine = z.object({
  at: z.number(),
  project_id: z.string(),
  bytes: z.number(),
  kind: z.enum(['derived', 'originals', 'raw']),
  is_watermarked: z.boolean(),
});

/** Deliveries summed by project and the hour in which they ended. */
export function foldUsage(lines: readonly z.infer<typeof spooledLine>[]): UsageBatchRow[] {
  const sums = new Map<string, UsageBatchRow>();
  for (const line of lines) {
    const window_start = hourOf(new Date(line.at));
    const key = `${line.project_id} ${window_start.getTime()}`;
    const sum = sums.get(key) ?? { ...emptySum, project_id: line.project_id, window_start };
    sums.set(key, addDelivery(sum, line));
  }
  return [...sums.values()];
}

const emptySum = { requests: 0, bytes: 0, transforms: 0, credits: 0 };

function addDelivery(sum: UsageBatchRow, { bytes, kind, is_watermarked }: Delivery): UsageBatchRow {
  return {
    ...sum,
    requests: sum.requests + 1,
    bytes: sum.bytes + bytes,
    transforms: sum.transforms + (kind === 'derived' ? 1 : 0),
    credits: sum.credits + deliveryCredits({ bytes, is_raw: kind === 'raw', is_watermarked }),
  };
}

/** One run at a time; a call during a run waits for it and runs again. */
function serially(run: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(run, run);
    return last;
  };
}
