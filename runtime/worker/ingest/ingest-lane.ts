/** A worker's uploads, in their own decoders: processed when doorbells ring and when rows fall due. Spec: Uploads. */
import { totalmem } from 'node:os';
import { INGEST_BYTES_MAX_DEFAULT } from '../../core/limits.ts';
import type { Lane, LaneOptions, WorkerOptions } from '../lanes.ts';
import { createAdmission } from '../sandbox/admission.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createWarmUp } from '../warm-up.ts';
import { startIngest } from './ingest-loop.ts';

/**
 * Behind renders, for which a viewer waits: where both want a core, an upload gets a quarter of it.
 */
const UPLOAD_NICE = 15;
/**
 * Two even on one core: an image that hangs occupies its slot until its timeout, but not the other.
 */
const INGEST_LANE: LaneOptions = {
  slots: 2,
  wall_clock_ms: 120_000,
  memory_bytes: 2_147_483_648,
  jobs_per_child: 50,
  nice: UPLOAD_NICE,
};
const POLL_EVERY_MS = 5000;
const SHARE_OF_MEMORY = 0.6;

export async function startIngestLane(options: WorkerOptions): Promise<Lane> {
  const { log, metrics } = options;
  const lane = { ...INGEST_LANE, ...options.ingest };
  const memory_bytes = options.ingest_memory_bytes ?? memoryFor(lane);
  const sandbox = createSandbox({
    ...lane,
    admission: createAdmission({ memory_bytes }),
    log,
    onKilled: (why) => metrics?.decoderKilled(why),
  });
  const warmUp = createWarmUp(options);
  const ingest = await startIngest({
    ...options,
    onPublished: warmUp.add,
    sandbox,
    slots: lane.slots,
    ingest_bytes_max: options.ingest_bytes_max ?? INGEST_BYTES_MAX_DEFAULT,
    poll_every_ms: options.poll_every_ms ?? POLL_EVERY_MS,
  });
  return {
    stop: async () => {
      await ingest.stop();
      await warmUp.stop();
      await sandbox.close();
    },
  };
}

/**
 * The memory that all slots can use at their limits, but at most this lane's share of the machine.
 */
function memoryFor({ slots, memory_bytes }: LaneOptions): number {
  const limit = process.constrainedMemory();
  const machine = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(slots * memory_bytes, machine * SHARE_OF_MEMORY);
}
