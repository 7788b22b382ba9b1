import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../../../runtime/platform/queue/in-process.ts';
import {
  type Frame,
  printFrameHead,
  readFrames,
} from '../../../../runtime/worker/sandbox/frames.ts';
import { childrenOf } from '../../../../runtime/worker/sandbox/memory.ts';
import { spawnDecoder } from '../../../../runtime/worker/sandbox/spawn-decoder.ts';
import { startWorker, type Worker } from '../../../../runtime/worker/serve.ts';
import { useDatabase } from '../../../support/database.ts';
import { makeFolderBuckets } from '../../../support/folder-buckets.ts';

let child: ChildProcess;
let frames: AsyncGenerator<Frame>;
/** The process id of Node itself, inside the processes that enclose it. */
let decoder: number;

describe('a decoder process', () => {
  beforeEach(async () => {
    child = spawnDecoder({ memory_bytes: 1_000_000_000 });
    frames = readFrames(child.stdio[3] as Readable, { part_bytes_max: 0, parts_max: 0 });
    await frames.next();
    decoder = innermost(child.pid ?? expect.fail('no decoder started'));
  });
  afterEach(() => void child.kill('SIGKILL'));

  it('runs at a lower priority from its start', () => {
    expect(getPriority(decoder)).toBe(constants.priority.PRIORITY_BELOW_NORMAL);
    expect(getPriority(child.pid)).toBe(constants.priority.PRIORITY_BELOW_NORMAL);
  });

  it('stays in the session of its parent, within which its priority counts', () => {
    expect(sessionOf(decoder)).toBe(sessionOf(process.pid));
  });

  it('survives the signals of a terminal, so that its parent can end in order', async () => {
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGTERM'] as const) {
      process.kill(decoder, signal);
    }
    (child.stdin as Writable).write(printFrameHead({ kind: 'none', facts: {} }, []));
    const { value } = await frames.next();
    expect(value.message).toMatchObject({
      ok: false,
      error: expect.stringContaining('no handler for none'),
    });
  });
});

// Only root may take back the lower priority at which all tests run.
describe.runIf(process.getuid?.() === 0)('the decoders of a worker of usual priority', () => {
  const { db } = useDatabase();
  const { buckets, remove } = makeFolderBuckets();
  const background = getPriority();
  let worker: Worker | undefined;

  beforeEach(() => setPriority(constants.priority.PRIORITY_NORMAL));
  afterEach(async () => {
    await worker?.stop();
    setPriority(background);
  });
  afterAll(remove);

  it('run behind it, and those of uploads behind those of renders', async () => {
    // Tests share processes, so earlier ones may have left children.
    const before = childrenOf(process.pid);
    worker = await startWorker({
      ...{ db, buckets, queue: createInProcessQueue(), clock: systemClock },
      log: createLog({ level: 'silent', name: 'test' }),
      ...{ ingest: { slots: 1 }, render: { slots: 1 } },
    });
    const niceness = () =>
      childrenOf(process.pid)
        .filter((pid) => !before.includes(pid))
        .map((pid) => getPriority(innermost(pid)))
        .sort();
    await expect.poll(niceness).toEqual([10, 15]);
  });
});

function innermost(pid: number): number {
  const [below] = childrenOf(pid);
  return below === undefined ? pid : innermost(below);
}

/**
 * See proc(5): the text after the parenthesized name begins with field 3, and the session is field
 * 6.
 */
function sessionOf(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3];
}
