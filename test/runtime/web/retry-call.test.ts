// Spec: Conventions (Idempotency-Key). How long the picker repeats a call that fails for a passing reason.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { IDEMPOTENCY_LEASE_SECONDS } from '../../../runtime/core/limits.ts';
import { projectRoot } from '../../house/source-files.ts';

// tsc would check what it can follow from here without the types of a browser.
const ofPicker = (name: string) => import(join(projectRoot, 'runtime/web/picker', name));
const { retryCall } = await ofPicker('retry-call.ts');
const { PickerError } = await ofPicker('library-api.ts');

beforeAll(() => {
  vi.useFakeTimers();
  vi.stubGlobal('window', globalThis);
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const refusal = (status: number, code: string): Error =>
  new PickerError(code, { status, retry_after_seconds: 1 });

/** The seconds after which each try fails with the next error, or with the last one of them. */
async function triesOf(...errors: Error[]): Promise<number[]> {
  const start = performance.now();
  const tries: number[] = [];
  const called = retryCall(() => {
    tries.push((performance.now() - start) / 1000);
    return Promise.reject(errors[Math.min(tries.length, errors.length) - 1]);
  });
  const ended = expect(called).rejects.toBe(errors.at(-1));
  await vi.runAllTimersAsync();
  await ended;
  return tries;
}

it('repeats a failed call for half a minute', async () => {
  const tries = await triesOf(refusal(503, 'storage_unavailable'));
  expect(tries.slice(0, 4)).toEqual([0, 1, 2, 4]);
  expect(tries.at(-1)).toBeLessThanOrEqual(30);
});

it('repeats a call whose earlier try was killed until its key is free', async () => {
  const tries = await triesOf(
    refusal(503, 'storage_unavailable'),
    refusal(409, 'idempotency_in_progress'),
  );
  const [first = 0, last = 0] = [tries[1], tries.at(-1)];
  expect(last - first).toBeGreaterThan(IDEMPOTENCY_LEASE_SECONDS);
  expect(last - first).toBeLessThanOrEqual(IDEMPOTENCY_LEASE_SECONDS + 10);
});
