/**
 * A body may take any time while it keeps moving: a minimum rate replaces a total timeout. A client that sends more
 * slowly, or nothing, is refused, so that a few of them cannot hold every connection. Spec: Limits, Uploads.
 */
import { ServiceError } from '../core/errors.ts';
import { UPLOAD_RATE_BYTES_MIN, UPLOAD_RATE_WINDOW_SECONDS } from '../core/limits.ts';
import { withTimeout } from '../platform/with-timeout.ts';

export type UploadRate = { bytes_min: number; window_seconds: number };

const USUAL: UploadRate = {
  bytes_min: UPLOAD_RATE_BYTES_MIN,
  window_seconds: UPLOAD_RATE_WINDOW_SECONDS,
};

/** Passes the chunks on; throws if a window brings fewer than `bytes_min` bytes a second. */
export async function* enforceMinimumRate(
  chunks: AsyncIterator<Buffer>,
  { bytes_min, window_seconds }: UploadRate = USUAL,
): AsyncGenerator<Buffer> {
  const wanted = bytes_min * window_seconds;
  let waiting = 0;
  let windowEnd = window_seconds * 1000;
  let received = 0;
  for (;;) {
    const began = performance.now();
    const next = await withTimeout(chunks.next(), Math.max(0, windowEnd - waiting), () =>
      tooSlow({ bytes_min, window_seconds }, received),
    );
    // Only the client's time counts, not the storage's.
    waiting += performance.now() - began;
    if (next.done === true) return;
    received += next.value.length;
    if (received >= wanted) {
      received = 0;
      windowEnd = waiting + window_seconds * 1000;
    }
    yield next.value;
  }
}

/** The connection closes with this answer: the client gets no more time. */
export class UploadTooSlow extends ServiceError {}

/** The closest existing code is the one for a wrong request: here, the way its body arrived. */
function tooSlow({ bytes_min, window_seconds }: UploadRate, received: number): ServiceError {
  const bytes_per_second = Math.floor(received / window_seconds);
  const issue = {
    path: 'body',
    message: `arrived at ${bytes_per_second} bytes per second over ${window_seconds} seconds; at least ${bytes_min} are needed`,
    ...{ bytes_per_second, min_bytes_per_second: bytes_min, window_seconds },
  };
  return new UploadTooSlow('invalid_request', {
    message: `The body arrived too slowly: ${bytes_per_second} bytes per second, where at least ${bytes_min} are needed over any ${window_seconds} seconds. Nothing was kept, and the upload is still open: send the whole body again over a faster connection, or create an upload in mode direct, which has no minimum rate.`,
    details: { issues: [issue] },
  });
}
