// Workers whose passes never wait and always have a successor, and a worker whose pass does not end.
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NotLeading } from '../../../operator/kube/leader-client.ts';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { type Pass, runWorkers } from '../../../operator/kube/run-workers.ts';
import { systemTimedClock } from '../../../operator/kube/timed-clock.ts';
import { createWorkQueue, type Outcome } from '../../../operator/kube/work-queue.ts';
import { createManualTimedClock } from './manual-timed-clock.ts';
import { silentLog as log } from './silent-log.ts';

const PASSES = 10_000;

it('passes that follow one another without waiting do not block the process', async () => {
  const clock = systemTimedClock;
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

it('a pass is aborted after exactly two minutes', async () => {
  const clock = createManualTimedClock();
  const metrics = createKubeMetrics();
  const queue = createWorkQueue({ name: 'test', clock, metrics });
  let isTold = false;
  const reconcile = ({ signal }: Pass) =>
    new Promise<Outcome>((resolve) => {
      signal.addEventListener('abort', () => {
        isTold = true;
        resolve({ kind: 'done' });
      });
    });
  queue.add('one', 'change');
  const workers = runWorkers({
    ...{ controller: 'test', queue, reconcile, clock, log, metrics, concurrency: 8 },
  });
  clock.advance(119_999);
  expect(isTold).toBe(false);
  clock.advance(1);
  expect(isTold).toBe(true);
  await workers.stop();
});

it('a pass that fails because its term is over is not logged as an error, any other failure is', async () => {
  const clock = systemTimedClock;
  const metrics = createKubeMetrics();
  const queue = createWorkQueue({ name: 'test', clock, metrics });
  const reportedErrors: unknown[] = [];
  const recordingLog = {
    ...log,
    error: (_: string, fields?: object) => void reportedErrors.push(fields),
  };
  const reconcile = async ({ key }: Pass): Promise<Outcome> => {
    throw key === 'late' ? new NotLeading() : new Error('no');
  };
  for (const key of ['late', 'broken']) queue.add(key, 'change');
  const workers = runWorkers({
    ...{ controller: 'test', queue, reconcile, clock, log: recordingLog, metrics, concurrency: 8 },
  });
  await setImmediate();
  await workers.stop();
  expect(reportedErrors).toEqual([expect.objectContaining({ name: 'broken', attempts: 1 })]);
});
