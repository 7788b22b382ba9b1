/**
 * `node test/fuzz/main.ts --minutes 30` fuzzes every parser of untrusted input for an equal share of the time. Findings
 * are written into the corpus, which a test replays from then on. `--seed` repeats a run, `--only` selects targets,
 * `--keep`, which `make soak` passes, renews the inputs that the corpus keeps for different results.
 */
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { Advice } from '../../runtime/platform/advice.ts';
import { readCorpus, writeFinding, writeKept } from './corpus.ts';
import { openLane, type Watched } from './lane.ts';
import { type FuzzOptions, readOptions } from './options.ts';
import type { Target } from './target.ts';
import { targets } from './targets.ts';

const { minutes, seed, only, keep } = optionsOrEnd();
const wanted = targets.filter(({ name }) => only.length === 0 || only.includes(name));
const lanes = Math.min(availableParallelism(), wanted.length);
const seconds = (minutes * 60 * lanes) / wanted.length;
const say = (text: string) => process.stdout.write(`${text}\n`);
say(`fuzz: ${wanted.length} parsers, ${seconds.toFixed(1)} s each, --seed ${seed}`);

const NOTHING: Watched = { inputs: 0, seconds: 1, findings: [], pool: [] };
const rows = new Map<Target, Watched>();
const waiting = [...wanted];
await Promise.all(Array.from({ length: lanes }, runLane));
say(row('target', ['inputs', 'inputs/s', 'findings']));
for (const target of wanted) {
  const { inputs, seconds: taken, findings } = rows.get(target) ?? NOTHING;
  say(row(target.name, [inputs, Math.round(inputs / Math.max(taken, 0.001)), findings.length]));
}
const all = [...rows.values()];
const found = sum(all.map(({ findings }) => findings.length));
say(row('all', [sum(all.map(({ inputs }) => inputs)), '', found]));
process.exitCode = found === 0 ? 0 : 1;

function optionsOrEnd(): FuzzOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Advice)) throw error;
    process.stderr.write(`fuzz: ${error.message}\n`);
    process.exit(error.exitCode);
  }
}

async function runLane(): Promise<void> {
  const lane = openLane(new URL('targets.ts', import.meta.url).href);
  for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
    const { name } = target;
    const kept = readCorpus(target).map(({ input }) => input);
    const watched = await lane.fuzz({ name, seed, seconds, kept });
    rows.set(target, watched);
    for (const { input, error } of watched.findings) {
      say(`FOUND ${name}: ${relative('', writeFinding(target, input))}\n${error}`);
    }
    if (keep) writeKept(target, watched.pool);
  }
  await lane.close();
}

function row(name: string, cells: readonly (number | string)[]): string {
  return name.padEnd(26) + cells.map((cell) => String(cell).padStart(12)).join('');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
