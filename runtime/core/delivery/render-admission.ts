// Whether a render is let in to wait, from what waits before it and how fast that goes: an answer that comes late is
// worth less than a word at once that says when to come again. Spec: Delivery refusals in checking order, busy.

/** All in milliseconds of one slot, as this machine takes them. */
export type RenderQueue = {
  /** What runs still needs, and what is taken before the newcomer. */
  readonly ahead_ms: number;
  readonly own_ms: number;
  /** How many slots work on what is ahead. */
  readonly slots: number;
};

export type AdmissionBounds = {
  /** The longest wait that is worth beginning. */
  readonly wait_ms_max: number;
  /** From the question to the end of the render. */
  readonly deadline_ms: number;
};

export type RenderAdmission =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly retry_after_seconds: number };

/** For a newcomer that finds no slot free. */
export function admitRender(queue: RenderQueue, bounds: AdmissionBounds): RenderAdmission {
  const wait = renderWaitMs(queue);
  const isTooLong = wait > bounds.wait_ms_max || wait + queue.own_ms > bounds.deadline_ms;
  return isTooLong
    ? { admitted: false, retry_after_seconds: retryAfterSeconds(wait) }
    : { admitted: true };
}

export function renderWaitMs({ ahead_ms, slots }: Omit<RenderQueue, 'own_ms'>): number {
  return ahead_ms / slots;
}

const RETRY_SECONDS_MAX = 30;

/** When its turn would have come: by then, what is ahead of it now is done. */
export function retryAfterSeconds(waitMs: number): number {
  return Math.min(Math.max(1, Math.ceil(waitMs / 1000)), RETRY_SECONDS_MAX);
}
