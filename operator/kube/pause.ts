/**
 * How long to wait before the next attempt: longer after each failure, and randomized. A server's own request is
 * followed within bounds, as the error page of a load balancer may ask for an hour.
 */

export type Pauses = {
  /** Milliseconds until the next attempt; at least what the server asked for. */
  next(asked_ms?: number): number;
  /** Called after a success. */
  reset(): void;
};

/**
 * Decorrelated jitter: each pause is drawn between the shortest pause and three times the previous
 * one.
 */
export function createPauses(options: {
  least_ms: number;
  most_ms: number;
  random: () => number;
}): Pauses {
  const { least_ms, most_ms, random } = options;
  let last = least_ms;
  return {
    next: (asked_ms = 0) => {
      last = Math.min(most_ms, least_ms + random() * (last * 3 - least_ms));
      return Math.max(last, Math.min(asked_ms, most_ms) * (1 + random() / 4));
    },
    reset: () => {
      last = least_ms;
    },
  };
}
