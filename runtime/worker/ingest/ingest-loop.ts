/**
 * Decides when each upload is attempted: one attempt per doorbell, and whatever the database reports as due, never more
 * at a time than there are slots. A doorbell announces work; the database decides whose turn it is. A lost doorbell
 * costs one polling interval.
 */
import { isOutage } from '../../core/outage.ts';
import type { FileRow } from '../../db/files.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createOutageLog } from '../../platform/outage-log.ts';
import type { Queue } from '../../platform/queue/queue.ts';
import { createDoorbellTraces } from './doorbell-traces.ts';
import { type IngestDeps, type IngestOutcome, ingestUpload } from './ingest-upload.ts';
import { createWorkerClaims } from './worker-claims.ts';

export type IngestLoopOptions = Omit<IngestDeps, 'traces' | 'claims' | 'stopping'> & {
  queue: Queue;
  metrics?: Pick<Metrics, 'ingest' | 'registerSources'>;
  slots: number;
  poll_every_ms: number;
  /** Called for each published file. */
  onPublished?: (file: FileRow) => void;
};

export async function startIngest(options: IngestLoopOptions): Promise<{ stop(): Promise<void> }> {
  const { queue, log, slots } = options;
  const traces = createDoorbellTraces();
  const claims = createWorkerClaims();
  const says = 'due uploads cannot be processed; retrying every few seconds';
  const outage = createOutageLog(log, { says });
  const running = new Set<Promise<unknown>>();
  const ending = new AbortController();
  const stopping = ending.signal;
  const state = { found_due: 0 };
  options.metrics?.registerSources({ found_due: () => state.found_due });
  const attemptOne = async () => {
    const attempt = measuredAttempt({ ...options, traces, claims, stopping }).then(
      (outcome) => {
        outage.succeeded();
        return outcome;
      },
      (error: unknown) => {
        if (isOutage(error)) outage.failed(error);
        else log.error('an upload could not be attempted', { error });
        return undefined;
      },
    );
    running.add(attempt);
    return attempt.finally(() => running.delete(attempt));
  };
  const drain = async () => {
    while (!stopping.aborted && running.size < slots) {
      state.found_due += 1;
      const outcome = await attemptOne().finally(() => {
        state.found_due -= 1;
      });
      if (outcome === undefined || isNothing(outcome)) return;
    }
  };
  const timer = setInterval(() => void drain(), options.poll_every_ms);
  const doorbells = await queue.consume('ingest', { slots }, async (doorbell) => {
    traces.note(doorbell);
    while (running.size >= (claims.isReserved() ? 1 : slots)) await Promise.race(running);
    if (!stopping.aborted) await attemptOne();
  });
  void drain();
  return {
    stop: async () => {
      ending.abort(new Error('the process ends'));
      clearInterval(timer);
      await doorbells.stop();
      await Promise.all(running);
    },
  };
}

const isNothing = ({ result }: IngestOutcome) => result === 'idle' || result === 'reserved';

async function measuredAttempt(options: IngestLoopOptions & IngestDeps): Promise<IngestOutcome> {
  const startedAt = performance.now();
  const outcome = await ingestUpload(options, null);
  const seconds = (performance.now() - startedAt) / 1000;
  if (outcome.result === 'ready') {
    options.metrics?.ingest({ result: 'ready', seconds });
    options.onPublished?.(outcome.file);
  }
  if (outcome.result === 'failed') options.metrics?.ingest({ result: outcome.error_code, seconds });
  return outcome;
}
