/** Checks everything that a process needs for its work, in parallel. Spec: Endpoints, Infrastructure. */
import type { Log } from './log.ts';
import { withTimeout } from './with-timeout.ts';

export type Probes = Readonly<Record<string, () => Promise<unknown>>>;
export type Readiness = { ready: boolean; checks: Record<string, boolean> };

/** A check fails because the process is still starting; none of its dependencies has failed. */
export class StillStarting extends Error {}

/**
 * Less than a kubelet waits for the answer, so that a dependency that hangs is named like one that
 * fails.
 */
const PROBE_MS_MAX = 3000;

export async function findReadiness(
  probes: Probes,
  log: Log,
  probeMsMax = PROBE_MS_MAX,
): Promise<Readiness> {
  const late = () => new Error(`no answer in ${probeMsMax} ms`);
  const results = Object.entries(probes).map(async ([name, probe]) => {
    try {
      await withTimeout(probe(), probeMsMax, late);
      return [name, true] as const;
    } catch (error) {
      if (!(error instanceof StillStarting)) {
        log.warn('not ready: a dependency cannot be used', { dependency: name, error });
      }
      return [name, false] as const;
    }
  });
  const checks = Object.fromEntries(await Promise.all(results));
  return { ready: Object.values(checks).every((isReady) => isReady), checks };
}
