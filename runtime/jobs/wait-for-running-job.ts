/**
 * Waits for a run that blocks another one of the same job: either it is alive, or its process was killed and its lease
 * has not expired. Without this, a Kubernetes CronJob would use up its three attempts within that lease, and the job
 * would be skipped for a day.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../db/client.ts';
import { findRunningJobRun } from '../db/job-runs.ts';

const LOOK_MS = 2000;

/** True once no run blocks; false if the run renews its lease, or on the signal. */
export async function waitForRunningJob(
  db: Queryable,
  { job, signal }: { job: string; signal: AbortSignal },
): Promise<boolean> {
  const first = await findRunningJobRun(db, job);
  for (let run = first; run !== undefined; run = await findRunningJobRun(db, job)) {
    const isRenewed = run.lease_until.getTime() !== first?.lease_until.getTime();
    if (isRenewed || signal.aborted) return false;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return true;
}
