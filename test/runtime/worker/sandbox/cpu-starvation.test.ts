/** A job's clock counts the time that the job computed or slept, but not the time that it waited for a core. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cpuStarvationMs } from '../../../../runtime/worker/sandbox/cpu-starvation.ts';
import { createClock } from '../../../../runtime/worker/sandbox/job-admission.ts';
import type { SandboxFailure } from '../../../../runtime/worker/sandbox/sandbox-failure.ts';

describe('the time that a process waits for a CPU core', () => {
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  /** Starts a program on the first core only. */
  async function start(program: string): Promise<number> {
    const said = `process.stdout.write('.', () => { ${program} })`;
    const child = spawn('taskset', ['-c', '0', process.execPath, '-e', said]);
    started.push(child);
    await once(child.stdout, 'data');
    return child.pid ?? 0;
  }

  it('grows while two processes compete for a core, but not for one that sleeps', async () => {
    const spins = 'for (;;);';
    const sleeping = await start('setInterval(() => {}, 1e6)');
    const [one, two] = [await start(spins), await start(spins)];
    await expect.poll(() => cpuStarvationMs(one) + cpuStarvationMs(two)).toBeGreaterThan(500);
    const before = cpuStarvationMs(sleeping);
    const busy = cpuStarvationMs(one) + cpuStarvationMs(two);
    await expect
      .poll(() => cpuStarvationMs(one) + cpuStarvationMs(two) - busy)
      .toBeGreaterThan(500);
    expect(cpuStarvationMs(sleeping) - before).toBeLessThan(250);
  });

  it('is zero for a process that has ended', () => {
    expect(cpuStarvationMs(2 ** 22 + 1)).toBe(0);
  });
});

describe('the timeout of a job', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function startClock(limit: number, starved: () => number) {
    const rung: SandboxFailure[] = [];
    const clock = createClock(limit, (failure) => void rung.push(failure), starved);
    clock.start();
    return { clock, rung };
  }

  it('is extended by exactly the time that the job waited for a core', () => {
    let starved = 5000;
    const { rung } = startClock(1000, () => starved);
    starved += 300;
    vi.advanceTimersByTime(1299);
    expect(rung).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(rung.map(({ reason }) => reason)).toEqual(['timeout']);
  });

  it('ends a job that always waits for a core after four times the limit', () => {
    const began = Date.now();
    const { rung } = startClock(1000, () => Date.now() - began);
    vi.advanceTimersByTime(3999);
    expect(rung).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(rung).toHaveLength(1);
  });

  it('restarts with each piece of input, and never fires once it is stopped', () => {
    const { clock, rung } = startClock(1000, () => 0);
    vi.advanceTimersByTime(900);
    clock.refresh();
    vi.advanceTimersByTime(900);
    clock.stop();
    clock.refresh();
    vi.advanceTimersByTime(5000);
    expect(rung).toEqual([]);
  });
});
