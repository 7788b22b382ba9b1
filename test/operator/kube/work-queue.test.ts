import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import type { Priority } from '../../../operator/kube/ready-keys.ts';
import { runWorkers } from '../../../operator/kube/run-workers.ts';
import {
  backoff,
  CONCURRENCY,
  createWorkQueue,
  type Outcome,
  type WorkQueueOptions,
} from '../../../operator/kube/work-queue.ts';
import { createManualTimedClock } from './manual-timed-clock.ts';
import { silentLog } from './silent-log.ts';

function make(options: Partial<WorkQueueOptions> = {}) {
  const clock = createManualTimedClock();
  const metrics = createKubeMetrics();
  const queue = createWorkQueue({ name: 'project', clock, metrics, random: () => 0, ...options });
  const takeAll = () => {
    const keys: string[] = [];
    for (let taken = queue.take(); taken !== undefined; taken = queue.take()) keys.push(taken.key);
    return keys;
  };
  return { clock, metrics, queue, takeAll };
}

const DONE: Outcome = { kind: 'done' };
const FAILED: Outcome = { kind: 'failed' };

describe('a work queue', () => {
  it('holds a key once, however often it is added', () => {
    const { queue, takeAll } = make();
    for (let times = 0; times < 3; times += 1) queue.add('a', 'change');
    expect(takeAll()).toEqual(['a']);
  });

  it('gives out a key again if it was added during its pass, and never twice at the same time', () => {
    const { queue, takeAll } = make();
    queue.add('a', 'change');
    expect(takeAll()).toEqual(['a']);
    queue.add('a', 'change');
    queue.add('a', 'change');
    expect(takeAll()).toEqual([]);
    queue.done('a', DONE);
    expect(takeAll()).toEqual(['a']);
    queue.done('a', DONE);
    expect(takeAll()).toEqual([]);
  });

  it('gives out changes before a thousand resyncs', () => {
    const { queue } = make();
    for (let index = 0; index < 1000; index += 1) queue.add(`old-${index}`, 'resync');
    queue.add('mine', 'change');
    queue.add('old-999', 'change');
    expect([queue.take()?.key, queue.take()?.key]).toEqual(['mine', 'old-999']);
    expect(queue.take()).toMatchObject({ key: 'old-0' });
  });

  it('keeps workers free for changes while all resyncs hang', () => {
    const { queue, takeAll } = make();
    for (let index = 0; index < 50; index += 1) queue.add(`old-${index}`, 'resync');
    expect(takeAll()).toHaveLength(CONCURRENCY - 2);
    queue.add('mine', 'change');
    expect(takeAll()).toEqual(['mine']);
  });

  it('gives out a resync in the end, however much changes', () => {
    const { queue, clock } = make({ concurrency: 1 });
    queue.add('old', 'resync');
    const seen: (string | undefined)[] = [];
    for (let minute = 0; minute < 12; minute += 1) {
      queue.add(`mine-${minute}`, 'change');
      queue.add(`more-${minute}`, 'change');
      const key = queue.take()?.key;
      seen.push(key);
      queue.done(key ?? '', DONE);
      clock.advance(60_000);
    }
    expect(seen.indexOf('old')).toBe(10);
  });

  it('doubles the backoff of a failing key, up to five minutes, and resets it on success', () => {
    const { queue, clock, takeAll } = make();
    queue.add('a', 'change');
    for (const wait of [100, 200, 400, 800]) {
      expect(takeAll()).toEqual(['a']);
      queue.done('a', FAILED);
      clock.advance(wait - 1);
      expect(takeAll()).toEqual([]);
      clock.advance(1);
    }
    expect(queue.take()).toMatchObject({ key: 'a', failures: 4 });
    queue.done('a', DONE);
    queue.add('a', 'change');
    expect(queue.take()).toMatchObject({ failures: 0 });
    expect(backoff(40, () => 1)).toBe(300_000);
  });

  it('doubles the backoff of a key looked at in vain, up to five minutes, unless it changes', () => {
    const { queue, clock, takeAll } = make();
    const backOff: Outcome = { kind: 'back-off', after_ms: 10_000 };
    queue.add('a', 'change');
    for (const wait of [10_000, 20_000, 40_000, 80_000, 160_000, 200_000, 200_000]) {
      expect(takeAll()).toEqual(['a']);
      queue.done('a', backOff);
      queue.add('a', 'resync');
      clock.advance(wait - 1);
      expect(takeAll()).toEqual([]);
      clock.advance(1);
    }
    expect(takeAll()).toEqual(['a']);
    queue.done('a', backOff);
    queue.add('a', 'change');
    expect(takeAll()).toEqual(['a']);
    queue.done('a', DONE);
    queue.add('a', 'change');
    expect(queue.take()).toMatchObject({ failures: 0 });
    expect(backoff(40, () => 1, 10_000)).toBe(300_000);
  });

  it('ends the backoff of a failing key on a change, but not on a resync', () => {
    const { queue, takeAll } = make();
    queue.add('a', 'change');
    takeAll();
    queue.done('a', FAILED);
    queue.add('a', 'resync');
    expect(takeAll()).toEqual([]);
    queue.add('a', 'change');
    expect(queue.take()).toMatchObject({ key: 'a', failures: 1 });
  });

  it('keeps the backoff of a failing key that was added for a resync during its pass', () => {
    const { queue, clock, takeAll } = make();
    queue.add('a', 'change');
    takeAll();
    queue.add('a', 'resync');
    queue.done('a', FAILED);
    clock.advance(99);
    expect(takeAll()).toEqual([]);
    clock.advance(1);
    expect(takeAll()).toEqual(['a']);
  });

  it('gives out a key after the time that its pass asks for, or sooner for another reason', () => {
    const { queue, clock, takeAll } = make();
    queue.add('a', 'change');
    takeAll();
    queue.done('a', { kind: 'requeue', after_ms: 600_000 });
    queue.addAfter('a', 900_000, 'resync');
    clock.advance(599_999);
    expect(takeAll()).toEqual([]);
    clock.advance(1);
    expect(takeAll()).toEqual(['a']);
    queue.addAfter('a', 1_000, 'resync');
    queue.done('a', { kind: 'requeue', after_ms: 600_000 });
    clock.advance(1_000);
    expect(takeAll()).toEqual(['a']);
  });

  it('refuses to end a pass that nobody began', () => {
    const { queue } = make();
    queue.add('a', 'change');
    expect(() => queue.done('a', DONE)).toThrow('nobody works on a');
  });

  it('gives out no keys and sets no timers once it is closed', () => {
    const { queue, clock } = make();
    queue.addAfter('a', 10, 'change');
    queue.close();
    queue.add('b', 'change');
    clock.advance(1000);
    expect(queue.take()).toBeUndefined();
    expect(clock.timers()).toBe(0);
  });

  it('has gauges until it is closed and the last pass has ended', async () => {
    const { queue, metrics, clock } = make();
    const gauges = async () => {
      const text = await metrics.print();
      return text.match(
        /^(workqueue_(?!adds|queue_d|work_d|retries)|controller_runtime_a)\w+\{.*$/gm,
      );
    };
    queue.add('a', 'change');
    queue.add('b', 'change');
    queue.take();
    clock.advance(3000);
    queue.close();
    const labels = '{name="project",controller="project"}';
    expect(await gauges()).toEqual([
      `workqueue_depth${labels} 1`,
      `workqueue_unfinished_work_seconds${labels} 3`,
      `workqueue_longest_running_processor_seconds${labels} 3`,
      `controller_runtime_active_workers${labels} 1`,
    ]);
    expect(metrics.longestRunningSeconds()).toBe(3);
    queue.done('a', DONE);
    expect(await gauges()).toBe(null);
    expect(await metrics.print()).toContain(`workqueue_adds_total${labels} 2`);
  });

  it('leaves the gauges to the next queue of its name when it is closed', async () => {
    const { queue, metrics, clock } = make();
    const next = createWorkQueue({ name: 'project', clock, metrics });
    next.add('a', 'change');
    queue.close();
    expect(await metrics.print()).toContain(
      'workqueue_depth{name="project",controller="project"} 1',
    );
  });

  it('uses the metric names of client-go', async () => {
    const { queue, metrics, clock } = make();
    queue.add('a', 'change');
    queue.add('a', 'change');
    queue.add('b', 'change');
    queue.take();
    clock.advance(3000);
    const labels = '{name="project",controller="project"}';
    const text = await metrics.print();
    for (const line of [
      `workqueue_depth${labels} 1`,
      `workqueue_adds_total${labels} 2`,
      `workqueue_unfinished_work_seconds${labels} 3`,
      `workqueue_longest_running_processor_seconds${labels} 3`,
      `controller_runtime_active_workers${labels} 1`,
    ]) {
      expect(text).toContain(line);
    }
  });
});

type Step =
  | { kind: 'add'; key: string; priority: Priority }
  | { kind: 'later'; key: string; ms: number }
  | { kind: 'take' }
  | { kind: 'done'; outcome: Outcome }
  | { kind: 'wait'; ms: number };

const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const priorities = fc.constantFrom<Priority[]>('change', 'resync');
const outcomes = fc.oneof(
  fc.constant(DONE),
  fc.constant(FAILED),
  fc.record({ kind: fc.constant('requeue' as const), after_ms: fc.nat(5000) }),
);
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ kind: fc.constant('add'), key: keys, priority: priorities }),
    fc.record({ kind: fc.constant('later'), key: keys, ms: fc.nat(5000) }),
    fc.record({ kind: fc.constant('take') }),
    fc.record({ kind: fc.constant('done'), outcome: outcomes }),
    fc.record({ kind: fc.constant('wait'), ms: fc.nat(2000) }),
  ),
  { maxLength: 80 },
);

describe('a work queue under any sequence of operations', () => {
  it('gives no key to two workers, never more keys than workers, and loses none', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const { queue, clock } = make({ concurrency: 2 });
        const running: string[] = [];
        // Keys that were added and not taken since.
        const owed = new Set<string>();
        const take = () => {
          const taken = queue.take();
          if (taken === undefined) return;
          expect(running).not.toContain(taken.key);
          running.push(taken.key);
          owed.delete(taken.key);
          expect(running.length).toBeLessThanOrEqual(2);
        };
        const end = (outcome: Outcome) => {
          const key = running.shift();
          if (key === undefined) return;
          if (outcome.kind !== 'done') owed.add(key);
          queue.done(key, outcome);
        };
        const perform: { [kind in Step['kind']]: (step: Extract<Step, { kind: kind }>) => void } = {
          add: ({ key, priority }) => {
            queue.add(key, priority);
            owed.add(key);
          },
          later: ({ key, ms }) => {
            queue.addAfter(key, ms, 'resync');
            owed.add(key);
          },
          take,
          done: ({ outcome }) => end(outcome),
          wait: ({ ms }) => clock.advance(ms),
        };
        for (const step of history) perform[step.kind](step as never);
        for (let rounds = 0; rounds < 40; rounds += 1) {
          clock.advance(310_000);
          take();
          end(DONE);
        }
        expect([...owed]).toEqual([]);
        expect(queue.take()).toBeUndefined();
        expect(clock.timers()).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the workers of a queue', () => {
  function work(reconcile: (key: string, signal: AbortSignal) => Promise<Outcome>) {
    const made = make();
    const workers = runWorkers({
      ...made,
      controller: 'project',
      log: silentLog,
      concurrency: CONCURRENCY,
      reconcile: ({ key, signal }) => reconcile(key, signal),
    });
    return { ...made, workers };
  }

  it('handle eight keys at the same time, and the next one when one is done', async () => {
    const open = new Map<string, () => void>();
    const { queue, workers } = work(
      (key) => new Promise((resolve) => open.set(key, () => resolve(DONE))),
    );
    for (let index = 0; index < 10; index += 1) queue.add(String(index), 'change');
    expect(open.size).toBe(CONCURRENCY);
    open.get('3')?.();
    await expect.poll(() => open.size).toBe(CONCURRENCY + 1);
    for (const end of open.values()) end();
    await expect.poll(() => open.size).toBe(10);
    for (const end of open.values()) end();
    await workers.stop();
  });

  it('retry a pass that throws, and count defects separately', async () => {
    let tries = 0;
    const { queue, clock, metrics, workers } = work(async () => {
      tries += 1;
      if (tries === 1) throw new TypeError('undefined is no function');
      if (tries === 2) throw new Error('the database is down');
      return DONE;
    });
    queue.add('a', 'change');
    for (const wait of [100, 200]) {
      const before = tries;
      await expect
        .poll(() => {
          clock.advance(wait);
          return tries;
        })
        .toBe(before + 1);
    }
    const text = await metrics.print();
    expect(text).toContain('controller_runtime_reconcile_errors_total{controller="project"} 2');
    expect(text).toContain('controller_runtime_reconcile_panics_total{controller="project"} 1');
    await expect.poll(() => metrics.print()).toContain('result="success"} 1');
    await workers.stop();
  });

  it('abort a pass that takes too long, and never run two passes of one key at the same time', async () => {
    let begun = 0;
    const { queue, clock, workers } = work((_key, signal) => {
      begun += 1;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    });
    queue.add('a', 'change');
    queue.add('a', 'change');
    expect(begun).toBe(1);
    clock.advance(120_000);
    await expect.poll(() => begun).toBe(2);
    await workers.stop();
  });

  it('stop when all aborted passes have ended, and take nothing more', async () => {
    const ended: string[] = [];
    const { queue, workers } = work(
      (key, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ended.push(key);
            resolve(DONE);
          });
        }),
    );
    queue.add('a', 'change');
    await workers.stop();
    queue.add('b', 'change');
    expect(ended).toEqual(['a']);
    expect(queue.take()).toBeUndefined();
  });
});
