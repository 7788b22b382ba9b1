/** A thread that fuzzes one target after the other, as lane.ts tells it. */
import { parentPort, workerData } from 'node:worker_threads';
import { fuzzTarget } from './fuzz-target.ts';
import { asInput } from './lane.ts';
import { openShared } from './shared-input.ts';
import type { Input, Target } from './target.ts';

/** `table` is the module that exports `targets`. */
export type WorkerData = { table: string; memory: SharedArrayBuffer };
export type Task = { name: string; seed: number; seconds: number; kept: Input[] };
export type Word =
  | { word: 'ready' }
  | { word: 'found'; input: Input; error: string }
  | { word: 'done'; inputs: number; pool: Input[] };

const { table, memory } = workerData as WorkerData;
const shared = openShared(memory);
const { targets } = (await import(table)) as { targets: readonly Target[] };
const say = (word: Word) => parentPort?.postMessage(word);
parentPort?.on('message', (task: Task) => void perform(task));
say({ word: 'ready' });

async function perform({ name, seed, seconds, kept }: Task): Promise<void> {
  const target = targets.find((each) => each.name === name);
  if (target === undefined) throw new Error(`no target ${name}`);
  const end = performance.now() + seconds * 1000;
  const fuzzed = await fuzzTarget(target, {
    seed,
    kept: kept.map(asInput),
    trying: shared.write,
    found: ({ input, error }) => say({ word: 'found', input, error }),
    isOver: () => performance.now() >= end,
  });
  say({ word: 'done', ...fuzzed });
}
