import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../../runtime/platform/log.ts';
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
} from '../../../../runtime/worker/sandbox/sandbox.ts';
import type { SandboxFailure } from '../../../../runtime/worker/sandbox/sandbox-failure.ts';
import {
  countDecoders,
  decoderPids,
  isRunning,
  ticksOf,
} from '../../../support/decoder-processes.ts';

const open: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

function misbehaving(options: Partial<SandboxOptions> = {}): Sandbox {
  const sandbox = createSandbox({
    slots: 1,
    wall_clock_ms: 20_000,
    memory_bytes: 400_000_000,
    jobs_per_child: 100,
    log: createLog({ level: 'silent', name: 'test' }),
    entry: new URL('./misbehaving-child.ts', import.meta.url),
    ...options,
  });
  open.push(sandbox);
  return sandbox;
}

const job = (kind: string, parts: Uint8Array[] = []) => ({ kind, facts: {}, parts });

/** Identifies the start of the child that answers. */
async function startOf(sandbox: Sandbox): Promise<string> {
  return String((await sandbox.run(job('echo'))).facts.start);
}

/** The process id of the only child: its Node, inside the processes that enclose it. */
async function pidOf(sandbox: Sandbox): Promise<number> {
  await startOf(sandbox);
  return decoderPids('misbehaving-child').at(-1) ?? expect.fail('no child runs');
}

async function failureOf(run: Promise<unknown>): Promise<SandboxFailure['reason']> {
  const error = await run.then(
    () => undefined,
    (reason: SandboxFailure) => reason,
  );
  return error?.reason ?? expect.fail('the job did not fail in the sandbox');
}

describe('a sandbox', () => {
  it('counts the time of a job from when its child has started', async () => {
    const entry = new URL('./late-child.ts', import.meta.url);
    const sandbox = misbehaving({ entry, wall_clock_ms: 2500 });
    expect((await sandbox.run(job('echo'))).facts).toEqual({ facts: {} });
  });

  it('replaces an idle child that has grown large, and no other', async () => {
    const sandbox = misbehaving({ rest_ms: 50 });
    const first = await startOf(sandbox);
    // A child that is kept gives no signal; one that is replaced would be gone by now.
    await sleep(200);
    expect(await startOf(sandbox)).toBe(first);
    await sandbox.run(job('keeps'));
    await expect.poll(() => startOf(sandbox), { interval: 200 }).not.toBe(first);
  });

  it('has one child more than work, and replaces a large one only if it is the next', async () => {
    // Both are at rest before the first of them is replaced, also on a busy machine.
    const sandbox = misbehaving({ slots: 4, rest_ms: 1500 });
    const count = () => countDecoders('misbehaving-child');
    await expect.poll(count).toBe(1);
    await startOf(sandbox);
    await expect.poll(count).toBe(2);
    await Promise.all([sandbox.run(job('keeps')), sandbox.run(job('keeps'))]);
    expect(count()).toBe(3);
    await expect.poll(count).toBe(2);
    expect(await startOf(sandbox)).not.toBe('');
  });

  it('passes facts and bytes to a child, and its answer back, unchanged', async () => {
    const parts = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(3_000_000, 7)];
    const answer = await misbehaving().run({ kind: 'echo', facts: { a: [1, 'ü'] }, parts });
    expect(answer.facts.facts).toEqual({ a: [1, 'ü'] });
    expect(answer.parts.map((part, index) => part.equals(parts[index] ?? part))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('keeps a child from job to job and replaces it after its share', async () => {
    const sandbox = misbehaving({ jobs_per_child: 2 });
    const starts = [await startOf(sandbox), await startOf(sandbox), await startOf(sandbox)];
    expect(starts[0]).toBe(starts[1]);
    expect(starts[2]).not.toBe(starts[1]);
  });

  it('gives the next job to the child that worked last, so that the others stay small', async () => {
    const sandbox = misbehaving({ slots: 3 });
    const first = await startOf(sandbox);
    expect([await startOf(sandbox), await startOf(sandbox)]).toEqual([first, first]);
  });

  it('does not pass the environment of the parent to a child', async () => {
    process.env.TINTYPE_TEST_SECRET = 'secret';
    const { facts } = await misbehaving().run(job('environment'));
    expect(JSON.stringify(facts)).not.toMatch(/secret|TINTYPE|"HOME|"USER/);
  });

  it('lets a child neither read nor write a file, nor start a program', async () => {
    const sandbox = misbehaving();
    expect((await sandbox.run(job('reads'))).facts).toEqual({ refused: 'ERR_ACCESS_DENIED' });
    expect((await sandbox.run(job('writes'))).facts).toEqual({ refused: 'ERR_ACCESS_DENIED' });
    expect((await sandbox.run(job('spawns'))).facts).toEqual({ refused: 'ERR_ACCESS_DENIED' });
    expect(existsSync('/tmp/from-the-sandbox')).toBe(false);
  });

  it('does not mistake what a library prints for an answer', async () => {
    expect((await misbehaving().run(job('prints'))).facts).toEqual({ printed: true });
  });

  it.each(['spins', 'hangs'])(
    'fails one job with timeout if a child %s, and then works on',
    async (kind) => {
      const sandbox = misbehaving({ wall_clock_ms: 1500 });
      expect(await failureOf(sandbox.run(job(kind)))).toBe('timeout');
      expect(await startOf(sandbox)).not.toBe('');
    },
  );

  it.each([
    ['exits', 'crashed'],
    ['aborts', 'crashed'],
    ['throws', 'crashed'],
    ['unheard-of', 'crashed'],
    ['babbles', 'garbage'],
    ['greets again', 'garbage'],
    ['promises', 'garbage'],
    ['floods', 'garbage'],
    ['complains', 'garbage'],
  ])(
    'fails only one job if a child misbehaves (%s: %s), and then works on',
    async (kind, reason) => {
      const sandbox = misbehaving();
      expect(await failureOf(sandbox.run(job(kind)))).toBe(reason);
      expect(await startOf(sandbox)).not.toBe('');
    },
  );

  it('logs the job at which a child failed', async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line) };
    const sandbox = misbehaving({ log: createLog({ level: 'warn', name: 'test', destination }) });
    const about = { upload_id: 'upl_1', project_id: 'prj_1', attempt: 2 };
    expect(await failureOf(sandbox.run({ ...job('exits'), about }))).toBe('crashed');
    const said = { msg: 'a decoder failed', kind: 'exits', reason: 'crashed', ...about };
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([said]);
  });

  it('ends a child that exceeds its memory limit', async () => {
    expect(await failureOf(misbehaving().run(job('grows')))).toBe('out_of_memory');
  });

  it('fails a job whose child was killed from outside', async () => {
    const sandbox = misbehaving();
    const pid = await pidOf(sandbox);
    const failed = failureOf(sandbox.run(job('hangs')));
    process.kill(pid, 'SIGKILL');
    expect(await failed).toBe('killed');
  });

  it('replaces a child that died while it was idle', async () => {
    const sandbox = misbehaving();
    const start = await startOf(sandbox);
    const pids = decoderPids('misbehaving-child');
    process.kill(pids.at(-1) ?? expect.fail('no child runs'), 'SIGKILL');
    await gone(pids);
    // The enclosing processes may take a moment longer to exit.
    const later = () => startOf(sandbox).catch(() => start);
    await expect.poll(later).not.toBe(start);
  });

  it('ends an idle child that writes errors without end', async () => {
    const sandbox = misbehaving();
    const start = await startOf(sandbox);
    await sandbox.run(job('answers and complains'));
    await gone(decoderPids('misbehaving-child'));
    expect(await startOf(sandbox)).not.toBe(start);
  });

  it('reports a program that does not start as unstarted', async () => {
    const sandbox = misbehaving({ entry: new URL('./no-such-child.ts', import.meta.url) });
    expect(await failureOf(sandbox.run(job('echo')))).toBe('unstarted');
  });

  it('keeps its slot when the system cannot start a program for a while', async () => {
    const environment = { TOLD: 'short' };
    const sandbox = misbehaving({ environment });
    await startOf(sandbox);
    // Longer than the system allows, so spawning a program throws.
    environment.TOLD = 'x'.repeat(200_000);
    expect(await failureOf(sandbox.run(job('exits')))).toBe('crashed');
    expect(await failureOf(sandbox.run(job('echo')))).toBe('unstarted');
    environment.TOLD = 'short';
    expect(await startOf(sandbox)).not.toBe('');
  });

  it('loses neither a slot nor an answer while Node itself is replaced', async () => {
    const sandbox = misbehaving({ jobs_per_child: 1 });
    const real = process.execPath;
    try {
      process.execPath = '/nowhere/node';
      expect(await startOf(sandbox)).not.toBe('');
      expect(await failureOf(sandbox.run(job('echo')))).toBe('unstarted');
    } finally {
      process.execPath = real;
    }
    expect(await startOf(sandbox)).not.toBe('');
  });

  it('runs jobs in order of arrival', async () => {
    const sandbox = misbehaving();
    const ended: number[] = [];
    await Promise.all(
      [0, 1, 2, 3].map(async (index) => {
        await sandbox.run(job('echo'));
        ended.push(index);
      }),
    );
    expect(ended).toEqual([0, 1, 2, 3]);
  });

  it('never runs more children than it has slots', async () => {
    const sandbox = misbehaving({ slots: 2 });
    const starts = await Promise.all(Array.from({ length: 6 }, () => startOf(sandbox)));
    expect(new Set(starts).size).toBeLessThanOrEqual(2);
  });

  it('lets a waiting caller give up without affecting the running job', async () => {
    const sandbox = misbehaving({ wall_clock_ms: 1000 });
    const first = failureOf(sandbox.run(job('hangs')));
    const stop = new AbortController();
    const second = sandbox.run({ ...job('echo'), signal: stop.signal });
    stop.abort(new Error('not needed any more'));
    await expect(second).rejects.toThrow('not needed any more');
    expect(await first).toBe('timeout');
  });

  it('kills the child if the caller gives up during its job', async () => {
    const sandbox = misbehaving();
    const pid = await pidOf(sandbox);
    const stop = new AbortController();
    const idle = ticksOf(pid);
    const run = sandbox.run({ ...job('spins'), signal: stop.signal });
    await expect.poll(() => ticksOf(pid)).toBeGreaterThan(idle + 5);
    stop.abort(new Error('gone'));
    await expect(run).rejects.toThrow('gone');
    await gone([pid]);
  });

  it('never starts a job whose input breaks off, and reports the reason', async () => {
    const sandbox = misbehaving();
    async function* broken() {
      yield Buffer.from('half of ');
      throw new Error('storage went away');
    }
    const part = { size_bytes: 20, chunks: broken() };
    await expect(sandbox.run({ kind: 'echo', facts: {}, parts: [part] })).rejects.toThrow(
      'storage went away',
    );
    expect(await startOf(sandbox)).not.toBe('');
  });

  it.each([3, 5])('rejects a part of 4 declared bytes that has %d', async (length) => {
    async function* bytes() {
      yield Buffer.alloc(length);
    }
    const run = misbehaving().run({
      kind: 'echo',
      facts: {},
      parts: [{ size_bytes: 4, chunks: bytes() }],
    });
    await expect(run).rejects.toThrow(RangeError);
  });

  it('leaves no child behind when it is closed', async () => {
    const sandbox = misbehaving({ slots: 2 });
    await Promise.all([startOf(sandbox), startOf(sandbox)]);
    const pids = decoderPids('misbehaving-child');
    expect(pids.length).toBeGreaterThanOrEqual(2);
    const running = failureOf(sandbox.run(job('spins')));
    await sandbox.close();
    expect(await running).toBe('crashed');
    await gone(pids);
  });
});

async function gone(pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
}
