/**
 * Retries calls that failed on the way, with back-off. While the browser is offline no try can succeed, so none is
 * counted: the work waits for the network. Spec: Upload helper constants.
 */
import { HELPER_PART_RETRIES_MAX } from '../../core/limits.ts';
import { UploadError } from './upload-error.ts';

const FIRST_WAIT_MS = 500;

/** The signal of work that nobody stops. */
export const never = new AbortController().signal;

/**
 * Retries up to 3 times on 429, on passing 5xx answers, and when no answer arrives while the
 * browser is online.
 */
export async function retrying<Value>(
  signal: AbortSignal,
  work: () => Promise<Value>,
): Promise<Value> {
  let tried = 0;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      if (isOffline()) {
        await untilOnline(signal);
        tried = 0;
      } else if (tried >= HELPER_PART_RETRIES_MAX) throw error;
    }
    await pause(FIRST_WAIT_MS * 2 ** tried * (0.75 + Math.random() / 2), signal);
    tried += 1;
  }
}

/** Browsers report offline only when they are certain. */
function isOffline(): boolean {
  return navigator.onLine === false;
}

/** Rejects with the signal's reason if it is aborted meanwhile. */
function untilOnline(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      window.removeEventListener('online', goOn);
      reject(signal.reason);
    };
    const goOn = () => {
      signal.removeEventListener('abort', stop);
      resolve();
    };
    window.addEventListener('online', goOn, { once: true });
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Whether the same call may succeed a little later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof UploadError)) return false;
  const { code, status } = error;
  if (code === 'network_error') return true;
  // Definite answers of the page's own server, which a retry would not change.
  const isDefinite = code === 'middleware_failed' || code === 'on_upload_complete_failed';
  return status !== null && (status === 429 || status >= 500) && !isDefinite;
}

/** Rejects with the signal's reason if it is aborted meanwhile. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
