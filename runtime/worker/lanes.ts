/** What a worker is started with, and the lanes that its work runs in: uploads and renders apart. */
import type { Database } from '../db/client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import type { SandboxOptions } from './sandbox/sandbox.ts';

export type Lane = {
  /** Takes nothing new, lets what runs end, and ends the decoders. */
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
  metrics?: WorkerMetrics;
  ingest?: Partial<LaneOptions>;
  render?: Partial<LaneOptions>;
  /** Render calls that may wait for a slot. */
  render_waiting_max?: number;
  ingest_bytes_max?: number;
  /** What all uploads that are decoded at a time may take together, by their estimates. */
  ingest_memory_bytes?: number;
  lease_seconds?: number;
  /** Whether what is published is scanned later. */
  is_scanned?: boolean;
  /** How often due uploads are looked for without a doorbell. */
  poll_every_ms?: number;
  failpoint?: Failpoint;
};

export type WorkerMetrics = Pick<Metrics, 'ingest' | 'render' | 'decoderKilled' | 'watch'>;
