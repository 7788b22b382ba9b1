/**
 * A worker process: processes uploads as doorbells ring and as rows fall due, and answers render calls.
 * PostgreSQL says what is to be done; a doorbell only says it sooner.
 */
import { totalmem } from 'node:os';
import { INGEST_BYTES_MAX_DEFAULT, RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import type { Database } from '../db/client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import { startIngest } from './ingest/ingest-loop.ts';
import { createDerivedRenders } from './render/render-derived.ts';
import { createRenderLine } from './render/render-line.ts';
import { createAdmission } from './sandbox/admission.ts';
import { createSandbox, type SandboxOptions } from './sandbox/sandbox.ts';

export type Worker = {
  /** Takes nothing new, lets what runs end, stores what was rendered, and ends the decoders. */
  stop(): Promise<void>;
};

export type WorkerOptions = {
  db: Database;
  buckets: Buckets;
  queue: Queue;
  clock: Clock;
  log: Log;
  metrics?: WorkerMetrics;
  ingest?: Partial<LaneOptions>;
  render?: Partial<LaneOptions>;
  /** Render calls that may wait for a slot. */
  render_waiting_max?: number;
  ingest_bytes_max?: number;
  /** What all uploads that are decoded at a time may take together, by their estimates. */
  ingest_memory_bytes?: number;
  lease_seconds?: number;
  /** How often due uploads are looked for without a doorbell. */
  poll_every_ms?: number;
  failpoint?: Failpoint;
};

export type WorkerMetrics = Pick<Metrics, 'ingest' | 'render' | 'childKilled'>;
export type LaneOptions = Omit<SandboxOptions, 'log'>;

const INGEST_LANE: LaneOptions = {
  slots: 1,
  wall_clock_ms: 120_000,
  memory_bytes: 2_147_483_648,
  jobs_per_child: 50,
};
/** The decoder gives up before the caller does, so that the slot is free for the next one. */
const RENDER_LANE: LaneOptions = {
  slots: 2,
  wall_clock_ms: (RENDER_DEADLINE_SECONDS - 1) * 1000,
  memory_bytes: 1_073_741_824,
  jobs_per_child: 500,
};
const RENDER_WAITING_MAX = 64;
const RENDERS_REFUSED_AT_ONCE = 16;
/** Renders that read their source from the store while the slots are still busy. */
const RENDERS_READ_AHEAD = 1;
const POLL_EVERY_MS = 5000;
const INGEST_SHARE_OF_MEMORY = 0.6;

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { log, queue, buckets, metrics } = options;
  const onKilled = (reason: string) => metrics?.childKilled(reason);
  const ingestLane = { ...INGEST_LANE, ...options.ingest };
  const renderLane = { ...RENDER_LANE, ...options.render };
  const memory_bytes = options.ingest_memory_bytes ?? memoryFor(ingestLane);
  const admission = createAdmission({ memory_bytes });
  const ingestSandbox = createSandbox({ ...ingestLane, admission, log, onKilled });
  const renderSandbox = createSandbox({ ...renderLane, log, onKilled });
  const ingest = await startIngest({
    ...options,
    sandbox: ingestSandbox,
    slots: ingestLane.slots,
    ingest_bytes_max: options.ingest_bytes_max ?? INGEST_BYTES_MAX_DEFAULT,
    poll_every_ms: options.poll_every_ms ?? POLL_EVERY_MS,
  });
  const { slots, wall_clock_ms } = renderLane;
  const turns = {
    slots: slots + RENDERS_READ_AHEAD,
    waiting_max: options.render_waiting_max ?? RENDER_WAITING_MAX,
  };
  const renders = createDerivedRenders({
    db: options.db,
    content: buckets.content,
    sandbox: renderSandbox,
    line: createRenderLine({ ...turns, deadline_ms: wall_clock_ms }),
    log,
    wall_clock_ms,
    ...(metrics === undefined ? {} : { metrics }),
  });
  // More are taken than may wait: the line knows whose turn it is, and refuses the rest at once.
  const calls = await queue.serve(
    'render',
    { slots: turns.slots + turns.waiting_max + RENDERS_REFUSED_AT_ONCE, waiting_max: 0 },
    renders.answer,
  );
  return {
    stop: async () => {
      await Promise.all([ingest.stop(), calls.stop()]);
      await renders.drained();
      await Promise.all([ingestSandbox.close(), renderSandbox.close()]);
    },
  };
}

/** What every slot at its fullest would take, but never more than its share of what this machine has. */
function memoryFor({ slots, memory_bytes }: LaneOptions): number {
  const limit = process.constrainedMemory();
  const machine = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(slots * memory_bytes, machine * INGEST_SHARE_OF_MEMORY);
}
