/** Waiting in a test for more than one value: until a check that expects them passes, or says why it does not. */
import { vi } from 'vitest';

/** A route is compared once a minute, where nothing tells of it: so long, twice. */
const WAIT_MS_MAX = 120_000;

export function until(check: () => unknown): Promise<void> {
  return vi.waitFor(async () => void (await check()), { timeout: WAIT_MS_MAX, interval: 50 });
}
