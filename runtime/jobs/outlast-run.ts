/**
 * A run that stands in the way of another one of its job: it works, or its process was killed and its lease has not
 * ended yet. A CronJob of Kubernetes that tried at once three times would be over within that lease, for a day.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../db/client.ts';
import { findRunningJobRun } from '../db/job-runs.ts';

type Waiting = { job: string; signal: AbortSignal; look_ms?: number };

const LOOK_MS = 2000;

/** Whether nothing stands in the way any more; false once the run is seen to renew its lease, and at the signal. */
export async function outlastRun(db: Queryable, waiting: Waiting): Promise<boolean> {
  const { job, signal, look_ms = LOOK_MS } = waiting;
  const first = await findRunningJobRun(db, job);
  for (let run = first; run !== undefined; run = await findRunningJobRun(db, job)) {
    const isRenewed = run.lease_until.getTime() !== first?.lease_until.getTime();
    if (isRenewed || signal.aborted) return false;
    await sleep(look_ms, undefined, { signal }).catch(() => undefined);
  }
  return true;
}
