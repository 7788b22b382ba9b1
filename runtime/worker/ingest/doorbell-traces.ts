/**
 * The traces of doorbells, by upload. A doorbell announces work but the database decides whose turn it is, so an
 * attempt may concern an upload other than that of the doorbell that started it.
 */
import { LRUCache } from 'lru-cache';
import { continueTrace, type TraceHeaders, traceHeaders } from '../../platform/trace-context.ts';

export type DoorbellTraces = {
  /** Records the current trace context as the origin of the doorbell's upload. */
  note(doorbell: unknown): void;
  /**
   * Runs the work in the trace of the upload's own doorbell, or in a new trace when that was not
   * heard here.
   */
  follow<T>(upload_id: string, work: () => Promise<T>): Promise<T>;
};

const DOORBELLS_MAX = 10_000;

export function createDoorbellTraces(): DoorbellTraces {
  const traces = new LRUCache<string, TraceHeaders>({ max: DOORBELLS_MAX });
  return {
    note: (doorbell) => {
      const { upload_id } = (doorbell ?? {}) as { upload_id?: unknown };
      if (typeof upload_id === 'string') traces.set(upload_id, traceHeaders());
    },
    // The trace stays for further attempts.
    follow: (upload_id, work) => continueTrace(traces.get(upload_id), work),
  };
}
