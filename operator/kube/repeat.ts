/**
 * When to repeat a call to the API server within its deadline: always if the server asked for it; if the request never
 * reached the server, unless it creates; and reads after any failure to answer. A write that may have happened is for
 * its caller to judge.
 */
import type { Answer, KubeFailure } from './kube-failure.ts';
import { sleep, type TimedClock } from './timed-clock.ts';
import { StaleConnection } from './transport.ts';

export type Attempts = {
  clock: TimedClock;
  random: () => number;
  /** For all attempts together. */
  deadline_ms: number;
  /** Called when the credentials were rejected: they may have changed since they were read. */
  refused(): void;
};

const NEVER = new AbortController().signal;
const ATTEMPTS_MAX = 10;
const ATTEMPT_MS_MAX = 15_000;
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 3_000;

export async function repeat<T>(
  { clock, random, deadline_ms, refused }: Attempts,
  { method, signal = NEVER }: { method: string; signal?: AbortSignal | undefined },
  attempt: (left_ms: number) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const began = clock.elapsed();
  let wasUnauthorized = false;
  for (let attempts = 1; ; attempts += 1) {
    const left = deadline_ms - (clock.elapsed() - began);
    const answer = await attempt(Math.min(left, ATTEMPT_MS_MAX));
    if (answer.ok) return answer;
    const isUnauthorized = answer.failure.status === 401;
    if (isUnauthorized) refused();
    // At once with the current credentials, but only once.
    const shouldRetryNow = isUnauthorized && !wasUnauthorized;
    const wait = shouldRetryNow ? 0 : pauseAfter(answer.failure, method, attempts);
    wasUnauthorized ||= isUnauthorized;
    if (wait === undefined || attempts === ATTEMPTS_MAX) return answer;
    const jittered = wait * (1 + random() / 4);
    if (clock.elapsed() - began + jittered >= deadline_ms) return answer;
    await sleep(clock, jittered, signal);
  }
}

/** Milliseconds until the next attempt; undefined if there is to be none. */
function pauseAfter(failure: KubeFailure, method: string, attempts: number): number | undefined {
  const growing = Math.min(PAUSE_MS * 2 ** (attempts - 1), PAUSE_MS_MAX);
  if (failure.reason === 'TooManyRequests') return failure.retry_after_ms ?? growing;
  if (failure.reason === 'Unavailable' && failure.retry_after_ms !== undefined) {
    return failure.retry_after_ms;
  }
  if (failure instanceof StaleConnection && method !== 'POST') return 0;
  const isSilence = ['Unavailable', 'Unreachable', 'Timeout'].includes(failure.reason);
  return method === 'GET' && isSilence ? growing : undefined;
}
