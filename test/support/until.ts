/** Polls a check until its expectations pass; after the timeout, throws its last failure. */
import { vi } from 'vitest';

/** Twice the minute after which routes are compared even if no event reported a change. */
const WAIT_MS_MAX = 120_000;

/** Most checks send requests to servers that all tests share. */
const LOOK_MS = 250;

export function until(check: () => unknown): Promise<void> {
  return vi.waitFor(async () => void (await check()), { timeout: WAIT_MS_MAX, interval: LOOK_MS });
}
