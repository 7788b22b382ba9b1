/**
 * Scans new revisions within seconds of their publication, while its process runs. Work of a killed process returns
 * when its lease expires; several loops on one database share the work. Spec: File (status), the automatic scanner.
 */
import type { Config } from '../platform/config.ts';
import type { Metrics } from '../platform/metrics.ts';
import { openScanner } from '../platform/scanner/open-scanner.ts';
import { type PollLoop, startPollLoop } from './poll-loop.ts';
import { type ScanContext, scanChecks } from './scan-checks.ts';

export type ScanLoopDeps = Omit<ScanContext, 'signal' | 'scanner' | 'thresholds'> & {
  metrics: Pick<Metrics, 'scans'>;
};

const PAUSE_MS = 2000;

/** Undefined if the deployment has no scanner. */
export function startScanLoop(
  deps: ScanLoopDeps,
  config: Pick<Config, 'scanner' | 'scannerUrl' | 'scannerThresholds'>,
): PollLoop | undefined {
  const scanner = openScanner(config, deps.clock);
  if (scanner === undefined) return undefined;
  const context = { ...deps, scanner, thresholds: config.scannerThresholds };
  return startPollLoop({
    log: deps.log,
    says: 'revisions that wait for a scan could not be processed',
    poll: async (signal) => deps.metrics.scans(await scanChecks({ ...context, signal })),
    pause_ms: PAUSE_MS,
  });
}
