/**
 * What failed on the way is tried again, a little later each time. While the browser is offline no try can do anything,
 * so none is spent: the work waits for the network. Spec: Upload helper constants.
 */
import { HELPER_PART_RETRIES_MAX } from '../../core/limits.ts';
import { UploadError } from './upload-error.ts';

const FIRST_WAIT_MS = 500;

/** Of work that nobody stops. */
export const never = new AbortController().signal;

/** Up to 3 more times on 429, 5xx of somebody in between, and where no answer came from a network that is there. */
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

/** Browsers say so only where they are sure of it. */
function isOffline(): boolean {
  return navigator.onLine === false;
}

/** Throws the signal's reason where it is aborted meanwhile. */
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

/** Whether the same may do a little later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof UploadError)) return false;
  const { code, status } = error;
  if (code === 'network_error') return true;
  // These are said by the page's own server, and saying them again would not help.
  const isDefinite = code === 'middleware_failed' || code === 'on_upload_complete_failed';
  return status !== null && (status === 429 || status >= 500) && !isDefinite;
}

/** Throws the signal's reason where it is aborted meanwhile. */
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
