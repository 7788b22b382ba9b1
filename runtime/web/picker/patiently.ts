/** Retries calls that failed for a passing reason for half a minute, no sooner than the service allows. */
import { PickerError } from './library-api.ts';

const PATIENCE_MS = 30_000;
const WAIT_MS_FIRST = 500;
const WAIT_MS_MAX = 4000;

/** Throws the last failure, or the signal's reason if it is aborted meanwhile. */
export async function patiently<Value>(
  work: () => Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  const end = performance.now() + PATIENCE_MS;
  for (let pause = WAIT_MS_FIRST; ; pause = Math.min(pause * 2, WAIT_MS_MAX)) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      const wait = Math.max(pause, wishOf(error));
      if (!isPassing(error) || performance.now() + wait > end) throw error;
      await new Promise((resolve) => window.setTimeout(resolve, wait));
      signal?.throwIfAborted();
    }
  }
}

function wishOf(error: unknown): number {
  return error instanceof PickerError ? error.retry_after_seconds * 1000 : 0;
}

/** Whether the error says nothing about the request, so that the same call may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof PickerError)) return false;
  const { code, status } = error;
  if (code === 'network_error' || code === 'idempotency_in_progress') return true;
  // This limit holds for as long as the session lives.
  if (code === 'session_upload_limit') return false;
  return status === 429 || status >= 500;
}
