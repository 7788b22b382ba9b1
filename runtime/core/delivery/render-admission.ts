// Decides whether a render may wait, from the work ahead of it and its pace: a late answer is worth less than an
// immediate one that says when to try again. Spec: Delivery refusals in checking order, busy.

/** In milliseconds of one slot on this machine. */
export type RenderQueue = {
  /** The remaining time of running renders, and of those taken before the new one. */
  readonly ahead_ms: number;
  readonly own_ms: number;
  /** How many slots process the work ahead. */
  readonly slots: number;
};

export type AdmissionBounds = {
  /** The longest acceptable wait. */
  readonly wait_ms_max: number;
  /** From the request to the end of the render. */
  readonly deadline_ms: number;
};

export type RenderAdmission =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly retry_after_seconds: number };

/** For a new render when no slot is free. */
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

/** When the render's turn would have come: the work now ahead of it is done by then. */
export function retryAfterSeconds(waitMs: number): number {
  return Math.min(Math.max(1, Math.ceil(waitMs / 1000)), RETRY_SECONDS_MAX);
}
