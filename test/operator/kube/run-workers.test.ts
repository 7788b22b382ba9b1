// Workers whose passes wait for nothing, and always find another.
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { runWorkers } from '../../../operator/kube/run-workers.ts';
import { systemTimedClock as clock } from '../../../operator/kube/timed-clock.ts';
import { createWorkQueue } from '../../../operator/kube/work-queue.ts';
import { silentLog as log } from './silent-log.ts';

const PASSES = 10_000;

it('passes that follow one another without a wait leave the process its turns', async () => {
  const metrics = createKubeMetrics();
  const queue = createWorkQueue({ name: 'test', clock, metrics });
  let passes = 0;
  const reconcile = async () => {
    passes += 1;
    if (passes < PASSES) queue.add('one', 'change');
    return { kind: 'done' } as const;
  };
  queue.add('one', 'change');
  const workers = runWorkers({
    ...{ controller: 'test', queue, reconcile, clock, log, metrics, concurrency: 8 },
  });
  await setImmediate();
  expect(passes).toBeLessThan(PASSES);
  await expect.poll(() => passes).toBe(PASSES);
  await workers.stop();
});
