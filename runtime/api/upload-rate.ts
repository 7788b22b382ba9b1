/**
 * A body may take as long as it likes while it moves: instead of a total timeout, a least rate. A client that falls
 * below it, or silent, is refused, so that a few of them cannot hold every connection. Spec: Limits, Uploads.
 */
import { ServiceError } from '../core/errors.ts';
import { UPLOAD_RATE_BYTES_MIN, UPLOAD_RATE_WINDOW_SECONDS } from '../core/limits.ts';

type Rate = { bytes_min: number; window_seconds: number };
const USUAL: Rate = {
  bytes_min: UPLOAD_RATE_BYTES_MIN,
  window_seconds: UPLOAD_RATE_WINDOW_SECONDS,
};

/** Passes the chunks on; throws when a window brought fewer than `bytes_min` a second. */
export async function* atLeastTheRate(
  chunks: AsyncIterator<Buffer>,
  { bytes_min, window_seconds }: Rate = USUAL,
): AsyncGenerator<Buffer> {
  const wanted = bytes_min * window_seconds;
  let waiting = 0;
  let windowEnd = window_seconds * 1000;
  let received = 0;
  for (;;) {
    const began = performance.now();
    const next = await within(chunks.next(), windowEnd - waiting, { bytes_min, window_seconds });
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

async function within<T>(work: Promise<T>, ms: number, rate: Rate): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooSlow(rate)), Math.max(0, ms));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow({ bytes_min, window_seconds }: Rate): ServiceError {
  return new ServiceError('invalid_request', {
    message: `The bytes came slower than ${bytes_min} a second over ${window_seconds} seconds. Send them again on a better line, or use mode direct.`,
    details: { issues: [] },
  });
}
