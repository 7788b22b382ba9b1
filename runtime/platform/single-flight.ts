/**
 * Shares work among parallel callers, so that it is done once. The work is canceled when its last caller leaves, and
 * stays joinable until its side effects have settled.
 */

export type FlightResult<T> = { value: T; settled: Promise<unknown> };
export type SingleFlight<T> = {
  /** Throws the work's error, or the reason of the caller's own signal. */
  join(
    key: string,
    signal: AbortSignal,
    work: (abandoned: AbortSignal) => Promise<FlightResult<T>>,
  ): Promise<T>;
};

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();
  const start = (key: string, work: (abandoned: AbortSignal) => Promise<FlightResult<T>>) => {
    const abandoned = new AbortController();
    const landed = work(abandoned.signal);
    const flight: Flight<T> = {
      value: landed.then(({ value }) => value),
      waiters: 0,
      abandoned,
    };
    flights.set(key, flight);
    const end = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    void landed.then(({ settled }) => settled).then(end, end);
    flight.value.catch(() => undefined);
    return flight;
  };
  return {
    join: async (key, signal, work) => {
      signal.throwIfAborted();
      const flight = flights.get(key) ?? start(key, work);
      flight.waiters += 1;
      const leave = () => {
        flight.waiters -= 1;
        if (flight.waiters > 0) return;
        // Nobody may join work that is being canceled.
        if (flights.get(key) === flight) flights.delete(key);
        flight.abandoned.abort(signal.reason);
      };
      return awaitFlight(flight.value, signal, leave);
    },
  };
}

type Flight<T> = { value: Promise<T>; waiters: number; abandoned: AbortController };

async function awaitFlight<T>(
  value: Promise<T>,
  signal: AbortSignal,
  leave: () => void,
): Promise<T> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const onAbort = () => {
    leave();
    reject(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([value, left]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
