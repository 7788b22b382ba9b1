/**
 * How long to wait before trying again: longer after each failure, never the same for two, as asked where it was asked
 * within bounds: a page of somebody's load balancer may ask for an hour.
 */

export type Pauses = {
  /** Milliseconds until the next attempt; what the server asked for is the least. */
  next(asked_ms?: number): number;
  /** It works again. */
  reset(): void;
};

/** Decorrelated: each pause is drawn between the shortest and three times the last one. */
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
