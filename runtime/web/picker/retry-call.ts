/**
 * Retries calls that failed for a passing reason for half a minute, no sooner than the service allows; a call of which
 * an earlier try is still in progress for longer.
 */
import { PickerError } from './library-api.ts';

const RETRY_MS_MAX = 30_000;
/** Longer than the lease of a call that was killed (IDEMPOTENCY_LEASE_SECONDS): then its key is free. */
const IN_PROGRESS_MS_MAX = 70_000;
const WAIT_MS_FIRST = 500;
const WAIT_MS_MAX = 4000;

/** Throws the last failure, or the signal's reason if it is aborted meanwhile. */
export async function retryCall<Value>(
  work: () => Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  let end = performance.now() + RETRY_MS_MAX;
  let freeAt: number | undefined;
  for (let least = WAIT_MS_FIRST; ; least = Math.min(least * 2, WAIT_MS_MAX)) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      const wait = Math.max(least, retryAfterMs(error));
      if (isInProgress(error)) end = freeAt ??= performance.now() + IN_PROGRESS_MS_MAX;
      if (!isPassing(error) || performance.now() + wait > end) throw error;
      await pause(wait, signal);
    }
  }
}

/** Throws the signal's reason afterwards if it was aborted meanwhile. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => window.setTimeout(resolve, ms));
  signal?.throwIfAborted();
}

function isInProgress(error: unknown): boolean {
  return error instanceof PickerError && error.code === 'idempotency_in_progress';
}

function retryAfterMs(error: unknown): number {
  return error instanceof PickerError ? error.retry_after_seconds * 1000 : 0;
}

/** Whether the error says nothing about the request, so that the same call may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof PickerError)) return false;
  const { code, status } = error;
  if (code === 'network_error' || isInProgress(error)) return true;
  // This limit holds for as long as the session lives.
  if (code === 'session_upload_limit') return false;
  return status === 429 || status >= 500;
}
