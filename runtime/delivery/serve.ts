/**
 * A delivery process: its server (not listening yet), all that it works with, and how it stops. Spec: Delivery host;
 * Metering.
 */
import type { Server } from 'node:http';
import { RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import { type ClosingTerms, prepareToClose } from '../platform/http/close-server.ts';
import type { DeliveryDeps } from './deps.ts';
import { createDerivedImages } from './derived-images.ts';
import { type DerivedReads, startDerivedReads } from './derived-reads.ts';
import { createLookup, type LookupDeps } from './lookup.ts';
import { type Meter, startMeter } from './meter.ts';
import { createDeliveryServer, type DeliveryTimeouts } from './server.ts';

export type DeliveryOptions = LookupDeps &
  Pick<ClosingTerms, 'quiet_ms'> &
  Pick<DeliveryDeps, 'content' | 'log' | 'metrics' | 'baseUrl'> & {
    queue: Parameters<typeof createDerivedImages>[0]['queue'];
    /** Other delivery processes may use the same folder. */
    spool_folder: string;
    /** The size of the memory for derived images. */
    memory_bytes?: number;
    timeouts?: Partial<DeliveryTimeouts>;
    /** How long running answers may take during shutdown. */
    drain_ms?: number;
    /** How long shutdown then waits for a database that is away, if there is usage to send. */
    usage_patience_ms?: number;
  };

export type DeliveryProcess = {
  server: Server;
  meter: Meter;
  reads: DerivedReads;
  /** Accepts nothing new, lets running answers end, and flushes the spool. */
  stop(): Promise<void>;
};

/** Enough for a render requested just now, plus some time to send it. */
const DRAIN_MS = RENDER_DEADLINE_SECONDS * 1000 + 5_000;
const MEMORY_BYTES = 64 * 1024 * 1024;

export function startDelivery(options: DeliveryOptions): DeliveryProcess {
  const { memory_bytes = MEMORY_BYTES, spool_folder, timeouts } = options;
  const { drain_ms = DRAIN_MS, quiet_ms } = options;
  const meter = startMeter(spool_folder, options);
  const reads = startDerivedReads(options);
  const derived = createDerivedImages({ ...options, reads }, { memory_bytes });
  const lookup = createLookup(options);
  const server = createDeliveryServer({ ...options, meter, derived, lookup }, timeouts);
  const closing = prepareToClose(server);
  return {
    server,
    meter,
    reads,
    stop: async () => {
      await closing.close({ deadline_ms: drain_ms, quiet_ms });
      await server.settled();
      await Promise.all([meter.stop(), reads.stop()]);
    },
  };
}
