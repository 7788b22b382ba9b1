/** Runs one preview at a time per process, lets a few wait, and refuses further ones at once. Spec: Staff previews. */
import { ServiceError } from '../core/errors.ts';
import { PREVIEWS_CONCURRENT_MAX, PREVIEWS_WAITING_MAX } from '../core/limits.ts';
import { createLane } from '../platform/queue/lane.ts';

/**
 * Runs the work when its turn comes; a caller that disconnects earlier frees its place. Throws
 * preview_busy if too many wait, and also for a caller that has left, whom it no longer reaches.
 */
export type PreviewGate = <T>(work: () => Promise<T>, left: AbortSignal) => Promise<T>;

export function createPreviewGate(): PreviewGate {
  const lane = createLane<undefined>();
  const [slots, waiting_max] = [PREVIEWS_CONCURRENT_MAX, PREVIEWS_WAITING_MAX];
  lane.join({ slots, waiting_max, handle: undefined });
  return async (work, left) => {
    if (!lane.isFree() && lane.waiting() >= waiting_max) throw previewBusy(lane.waitSeconds());
    const turn = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const run = () => {
      turn.resolve();
      return ended.promise;
    };
    const drop = () => turn.reject(previewBusy(lane.waitSeconds()));
    const task = { run, drop };
    const leave = () => {
      lane.cancel(task);
      drop();
    };
    left.addEventListener('abort', leave, { once: true });
    lane.add(task);
    if (left.aborted) leave();
    await turn.promise.finally(() => left.removeEventListener('abort', leave));
    return work().finally(ended.resolve);
  };
}

export function previewBusy(retryAfterSeconds: number, cause?: unknown): ServiceError {
  const details = { retry_after_seconds: retryAfterSeconds };
  return new ServiceError('preview_busy', { details, retryAfterSeconds, cause });
}
