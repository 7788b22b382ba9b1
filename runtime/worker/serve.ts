/**
 * A worker process: processes uploads when doorbells ring and when rows fall due, and answers render calls. PostgreSQL
 * determines the work; a doorbell only announces it sooner.
 */
import type { Deps } from '../actions/open-deps.ts';
import { Advice } from '../platform/advice.ts';
import type { Config } from '../platform/config.ts';
import { startIngestLane } from './ingest/ingest-lane.ts';
import type { Lane, WorkerOptions } from './lanes.ts';
import { startRenderLane } from './render/render-lane.ts';
import { warnOfMissingLayers } from './sandbox/sandbox-report.ts';

export type Worker = {
  /**
   * Accepts nothing new, lets running work end, stores what was rendered, and stops the decoders.
   */
  stop(): Promise<void>;
};

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  await warnOfMissingLayers(options.log);
  const lanes: Lane[] = [];
  if (options.ingest?.slots !== 0) lanes.push(await startIngestLane(options));
  if (options.render?.slots !== 0) lanes.push(await startRenderLane(options));
  if (lanes.length === 0) {
    throw new Advice(
      'A worker without slots has nothing to do: set TINTYPE_INGEST_SLOTS or TINTYPE_RENDER_SLOTS to 1 or more.',
    );
  }
  return { stop: async () => void (await Promise.all(lanes.map((lane) => lane.stop()))) };
}

/** The worker's options from the environment. */
export function workerSettings(
  config: Pick<
    Config,
    'ingestMaxBytes' | 'ingestSlots' | 'ingestMemoryBytes' | 'renderSlots' | 'scanner'
  >,
): Omit<WorkerOptions, keyof Deps> {
  const { ingestMaxBytes, ingestSlots, ingestMemoryBytes, renderSlots } = config;
  return {
    ingest_bytes_max: ingestMaxBytes,
    is_scanned: config.scanner !== 'none',
    ...(ingestMemoryBytes === undefined ? {} : { ingest_memory_bytes: ingestMemoryBytes }),
    ingest: { slots: ingestSlots },
    ...(renderSlots === undefined ? {} : { render: { slots: renderSlots } }),
  };
}
