/**
 * Makes hours pass in seconds: the clock advances only while no HTTP request waits for its response. So however slow
 * the machine is, a server that answers never appears to be silent.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createManualTimedClock, type ManualTimedClock } from './manual-timed-clock.ts';

export type PassingTime = {
  clock: ManualTimedClock;
  pass(ms: number): Promise<void>;
  passUntil(isSo: () => boolean): Promise<void>;
  end(): void;
};

/** Shorter than the default deadline of a request. */
const STEP_MS = 10_000;
const LONGEST_MS = 3 * 3_600_000;

/** `kept`: the number of requests that are kept from being answered. `each`: runs at every step. */
export function createPassingTime({
  kept = () => 0,
  each,
}: {
  kept?: () => number;
  each?: () => Promise<unknown>;
} = {}): PassingTime {
  const clock = createManualTimedClock();
  const requests = countRequests();
  const passUntil = async (isSo: () => boolean) => {
    for (const last = clock.elapsed() + LONGEST_MS; !isSo(); clock.advance(STEP_MS)) {
      if (clock.elapsed() > last) expect.fail('it was not so after three hours');
      await each?.();
      do await sleep(1);
      while (requests.open() > kept());
    }
  };
  return {
    clock,
    passUntil,
    pass: (ms) => {
      const until = clock.elapsed() + ms;
      return passUntil(() => clock.elapsed() >= until);
    },
    end: requests.end,
  };
}

/** Counts the requests of this process that have no response yet. */
function countRequests() {
  const open = new Set<ClientRequest>();
  const started = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    open.add(request);
    for (const over of ['response', 'close']) request.once(over, () => open.delete(request));
  };
  subscribe('http.client.request.start', started);
  return {
    open: () => open.size,
    end: () => void unsubscribe('http.client.request.start', started),
  };
}
