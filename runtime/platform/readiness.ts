/** What a process needs to do its work, asked all at once. Spec: Endpoints, Infrastructure. */
import type { Log } from './log.ts';

export type Probes = Readonly<Record<string, () => Promise<unknown>>>;
export type Readiness = { ready: boolean; checks: Record<string, boolean> };

export async function findReadiness(probes: Probes, log: Log): Promise<Readiness> {
  const results = Object.entries(probes).map(async ([name, probe]) => {
    try {
      await probe();
      return [name, true] as const;
    } catch (error) {
      log.warn('not ready', { component: name, error });
      return [name, false] as const;
    }
  });
  const checks = Object.fromEntries(await Promise.all(results));
  return { ready: Object.values(checks).every((isReady) => isReady), checks };
}
