/**
 * One decoder as seen from its parent: started without environment and secrets, given one job at a time, watched by
 * wall clock and resident memory, and killed when it breaks a rule.
 */
import type { Readable, Writable } from 'node:stream';
import { isRecord } from '../../core/json.ts';
import { cpuStarvationMs } from './cpu-starvation.ts';
import { openPipes, type Pipes, waitForOutputEnd, whenExited, write } from './decoder-pipes.ts';
import { type Frame, printFrameHead, readFrames } from './frames.ts';
import { createClock, createJobAdmission, parseCost } from './job-admission.ts';
import { residentBytes, watchMemory } from './memory.ts';
import type { SandboxJob, SandboxOptions, SandboxPart, SandboxResult } from './sandbox.ts';
import { SandboxFailure } from './sandbox-failure.ts';
import type { JobCost } from './serve-jobs.ts';
import { spawnDecoder } from './spawn-decoder.ts';

export type SandboxChild = {
  run(job: SandboxJob): Promise<SandboxResult>;
  /** False after its first failure: it is dead or about to die. */
  isUsable(): boolean;
  /** The number of jobs it was given. */
  jobs(): number;
  /** Including the enclosing processes; 0 when the system does not report it. */
  residentBytes(): number;
  stop(): Promise<void>;
};

/** For a child that does not start, which is no job's fault. */
const START_MS_MAX = 120_000;
const ANSWER_BYTES_MAX = 1_073_741_824;
const ANSWER_PARTS_MAX = 16;

export function startChild(options: SandboxOptions): SandboxChild {
  const life: Life = {
    failure: undefined,
    pending: undefined,
    jobs: 0,
    isReady: false,
    atReady: [],
  };
  const pipes = openPipes(spawnDecoder(options), () =>
    kill(new SandboxFailure('garbage', 'it writes errors without end')),
  );
  const kill = (reason: unknown) => {
    life.failure ??= reason;
    pipes.child.kill('SIGKILL');
  };
  const start = createClock(START_MS_MAX, () =>
    kill(new SandboxFailure('unstarted', `not ready within ${START_MS_MAX} ms`)),
  );
  start.start();
  life.atReady.push(start.stop);
  const exited = whenExited(pipes.child).then(async (how) => {
    start.stop();
    if (!life.isReady) await waitForOutputEnd(pipes.answers);
    const text = `exit ${how} ${pipes.errors.last()}`.trim();
    life.failure ??= life.isReady ? failureOf(how, text) : new SandboxFailure('unstarted', text);
    life.pending?.reject(life.failure);
  });
  void listen(pipes.answers, options, life).catch((error) =>
    kill(new SandboxFailure('garbage', String(error))),
  );
  return {
    isUsable: () => life.failure === undefined,
    jobs: () => life.jobs,
    residentBytes: () => residentBytes(pipes.child.pid ?? 0),
    run: (job) => runJob({ job, options, pipes, life, kill }),
    stop: async () => {
      kill(new SandboxFailure('crashed', 'it was stopped'));
      await exited;
    },
  };
}

/**
 * A child that reaches its limit may report it, or end by itself, before the watcher notices its
 * size.
 */
const OUT_OF_MEMORY = /out of memory|allocation failed|bad_alloc|cannot allocate memory/i;

function failureFromOutput(text: string): SandboxFailure {
  return new SandboxFailure(OUT_OF_MEMORY.test(text) ? 'out_of_memory' : 'crashed', text);
}

/** The child's own signal, and the exit code with which bwrap reports it. */
const KILLED: readonly string[] = ['SIGKILL', '137'];

function failureOf(how: string, text: string): SandboxFailure {
  const said = failureFromOutput(text);
  return said.reason === 'crashed' && KILLED.includes(how)
    ? new SandboxFailure('killed', text)
    : said;
}

type Pending = {
  resolve(frame: Frame): void;
  reject(reason: unknown): void;
  /** The cost of the job, as the child reads it from a header. */
  onCost(cost: JobCost): void;
};
type Life = {
  failure: unknown;
  pending: Pending | undefined;
  jobs: number;
  isReady: boolean;
  /** Called once the child is ready. */
  atReady: (() => void)[];
};
type Running = {
  job: SandboxJob;
  options: SandboxOptions;
  pipes: Pipes;
  life: Life;
  kill(reason: unknown): void;
};

async function runJob({ job, options, pipes, life, kill }: Running): Promise<SandboxResult> {
  if (life.failure !== undefined) throw life.failure;
  life.jobs += 1;
  pipes.errors.forget();
  const answered = Promise.withResolvers<Frame>();
  const { pid } = pipes.child;
  const clock = createClock(options.wall_clock_ms, kill, () => cpuStarvationMs(pid ?? 0));
  const entry = createJobAdmission(options, job.signal);
  life.pending = {
    ...answered,
    onCost: (cost) => {
      clock.stop();
      void entry.ask(cost).then(async (admitted) => {
        if (life.pending === undefined) return;
        clock.start(cost.wall_clock_ms);
        await write(pipes.input, printFrameHead({ admitted }, []));
      }, kill);
    },
  };
  // A slow start on a busy machine is not the job's fault.
  if (life.isReady) clock.start();
  else life.atReady.push(() => life.pending !== undefined && clock.start());
  const memory = watchMemory(pid, options.memory_bytes, (bytes) =>
    kill(new SandboxFailure('out_of_memory', `${bytes} bytes resident`)),
  );
  const onAbort = () => kill(job.signal?.reason);
  job.signal?.addEventListener('abort', onAbort, { once: true });
  if (job.signal?.aborted === true) onAbort();
  // An error while feeding kills the child, and comes out of `answered` once the child is gone.
  void feed(pipes.input, job, () => clock.refresh()).catch(kill);
  try {
    return parseAnswer(await answered.promise, kill);
  } finally {
    life.pending = undefined;
    clock.stop();
    entry.leave();
    memory.stop();
    job.signal?.removeEventListener('abort', onAbort);
  }
}

function parseAnswer({ message, parts }: Frame, kill: Running['kill']): SandboxResult {
  const { ok, facts, error } = message;
  if (ok === true && isRecord(facts)) return { facts, parts };
  const failure =
    ok === false
      ? failureFromOutput(String(error))
      : new SandboxFailure('garbage', 'an answer says nothing');
  kill(failure);
  throw failure;
}

async function listen(answers: Readable, options: SandboxOptions, life: Life): Promise<void> {
  const bounds = {
    part_bytes_max: options.answer_bytes_max ?? ANSWER_BYTES_MAX,
    parts_max: ANSWER_PARTS_MAX,
  };
  for await (const frame of readFrames(answers, bounds)) {
    if (frame.message.ready === true && !life.isReady) {
      life.isReady = true;
      for (const act of life.atReady.splice(0)) act();
      continue;
    }
    if (life.pending === undefined) throw new Error('an answer to nothing');
    if (life.failure !== undefined) return;
    if (frame.message.cost !== undefined) {
      life.pending.onCost(parseCost(frame.message.cost));
      continue;
    }
    life.pending.resolve(frame);
    life.pending = undefined;
  }
}

async function feed(input: Writable, job: SandboxJob, onProgress: () => void): Promise<void> {
  const lengths = job.parts.map(partLength);
  await write(input, printFrameHead({ kind: job.kind, facts: job.facts }, lengths));
  for (const part of job.parts) {
    for await (const chunk of part instanceof Uint8Array ? [part] : exactly(part)) {
      await write(input, chunk);
      onProgress();
    }
  }
}

function partLength(part: SandboxPart): number {
  return part instanceof Uint8Array ? part.byteLength : part.size_bytes;
}

async function* exactly(part: Exclude<SandboxPart, Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of part.chunks) {
    length += chunk.byteLength;
    if (length > part.size_bytes) break;
    yield chunk;
  }
  if (length !== part.size_bytes) throw new RangeError(`a part is not ${part.size_bytes} bytes`);
}
