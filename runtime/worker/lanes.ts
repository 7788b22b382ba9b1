/** The options of a worker, and the separate lanes in which uploads and renders run. */
import type { Database } from '../db/client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import type { SandboxOptions } from './sandbox/sandbox.ts';

export type Lane = {
  /** Accepts nothing new, lets running work end, and stops the decoders. */
  stop(): Promise<void>;
};

/** `slots` 0: this worker leaves that work to others. */
export type LaneOptions = Omit<SandboxOptions, 'log'>;

export type WorkerOptions = {
  db: Database;
  buckets: Buckets;
  queue: Queue;
  clock: Clock;
  log: Log;
  metrics?: Pick<Metrics, 'ingest' | 'render' | 'decoderKilled' | 'registerSources'>;
  ingest?: Partial<LaneOptions>;
  render?: Partial<LaneOptions>;
  /** Render calls that may wait for a slot. */
  render_waiting_max?: number;
  ingest_bytes_max?: number;
  /** The memory that all uploads being decoded may take together, by their estimates. */
  ingest_memory_bytes?: number;
  lease_seconds?: number;
  /** Whether published images are scanned later. */
  is_scanned?: boolean;
  /** How often due uploads are searched for without a doorbell. */
  poll_every_ms?: number;
  failpoint?: Failpoint;
};
