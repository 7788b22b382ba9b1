/**
 * Fuzzes in a watched thread. An input that hangs or takes all memory ends the thread and becomes a finding; the next
 * thread continues with another seed.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { makeShared, openShared, type SharedInput } from './shared-input.ts';
import type { Input } from './target.ts';
import type { Task, Word, WorkerData } from './worker.ts';

export type Watched = {
  inputs: number;
  seconds: number;
  findings: { input: Input; error: string }[];
  /** The shortest input for each kind of result. */
  pool: Input[];
};

export type Lane = { fuzz(task: Task): Promise<Watched>; close(): Promise<void> };

/** The time limit of one input, long enough for a busy machine. */
const INPUT_MS_MAX = 10_000;
const MEMORY_MB_MAX = 1024;
const LOOK_MS = 100;
/** Gives up after this many threads, because the parser is known to hang. */
const THREADS_MAX = 3;

type Thread = { worker: Worker; shared: SharedInput };

export function openLane(table: string, input_ms_max = INPUT_MS_MAX): Lane {
  let thread: Promise<Thread> | undefined;
  const close = async () => void (await (await thread)?.worker.terminate());
  return {
    close,
    async fuzz(task) {
      const whole: Watched = { inputs: 0, seconds: 0, findings: [], pool: [] };
      for (let turn = 0; turn < THREADS_MAX && whole.seconds < task.seconds; turn += 1) {
        thread ??= startThread(table);
        const rest = { ...task, seconds: task.seconds - whole.seconds, seed: task.seed + turn };
        const { isWhole, ...seen } = await watch(await thread, rest, input_ms_max);
        whole.inputs += seen.inputs;
        whole.seconds += seen.seconds;
        whole.findings.push(...seen.findings);
        if (isWhole) return { ...whole, pool: seen.pool };
        await close();
        thread = undefined;
      }
      return whole;
    },
  };
}

async function startThread(table: string): Promise<Thread> {
  const memory = makeShared();
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    workerData: { table, memory } satisfies WorkerData,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  });
  await once(worker, 'message');
  return { worker, shared: openShared(memory) };
}

/** `isWhole` tells whether the thread can be used again. */
function watch(
  { worker, shared }: Thread,
  task: Task,
  inputMsMax: number,
): Promise<Watched & { isWhole: boolean }> {
  const seen: Watched = { inputs: 0, seconds: 0, findings: [], pool: [] };
  const began = performance.now();
  const first = shared.serial();
  return new Promise((resolve) => {
    let last = { serial: first, at: began };
    const look = setInterval(() => {
      const [serial, now] = [shared.serial(), performance.now()];
      if (serial !== last.serial) last = { serial, at: now };
      else if (now - last.at > inputMsMax) giveUp(`no end within ${inputMsMax} ms`);
    }, LOOK_MS);
    const end = (isWhole: boolean) => {
      clearInterval(look);
      worker.off('message', onWord).off('error', onError);
      seen.seconds = (performance.now() - began) / 1000;
      resolve({ ...seen, isWhole });
    };
    const giveUp = (error: string) => {
      seen.inputs = shared.serial() - first;
      seen.findings.push({ input: shared.read(), error });
      end(false);
    };
    const onWord = (said: Word) => {
      if (said.word === 'found') seen.findings.push({ ...said, input: asInput(said.input) });
      if (said.word !== 'done') return;
      Object.assign(seen, { inputs: said.inputs, pool: said.pool.map(asInput) });
      end(true);
    };
    const onError = (error: unknown) => giveUp(String(error));
    worker.on('message', onWord).on('error', onError);
    worker.postMessage(task);
  });
}

/** Buffers arrive from other threads as plain Uint8Arrays. */
export function asInput(one: Input | Uint8Array): Input {
  return typeof one === 'string' ? one : Buffer.from(one);
}
