/**
 * Runs mutated inputs through one parser until the time is over. Inputs that give a new kind of result are mutated
 * further.
 */
import { seededRandom } from '../support/pictures.ts';
import { type Chance, createMutator } from './mutate.ts';
import type { Input, Target } from './target.ts';
import { type Tried, tryTarget } from './try-target.ts';

export type Finding = { input: Input; site: string; error: string };

export type FuzzOptions = {
  seed: number;
  /** Inputs of the corpus, in addition to the target's seeds. */
  kept: readonly Input[];
  /** Called with every input before it is tried. */
  trying(input: Input): void;
  found(finding: Finding): void;
  isOver(): boolean;
};

export type Fuzzed = {
  inputs: number;
  /** The shortest input for each kind of result. */
  pool: Input[];
};

const POOL_MAX = 500;
const SITES_MAX = 5;

export async function fuzzTarget(target: Target, options: FuzzOptions): Promise<Fuzzed> {
  const seeds = [...(await target.seeds()), ...options.kept];
  const mutate = createMutator(seeds, target.length_max);
  const random = seededRandom(options.seed);
  const chance: Chance = (below) => Math.floor(random() * below);
  const pool = createPool();
  const sites = new Set<string>();
  const tell = async (input: Input, broken: Extract<Tried, { outcome: 'broken' }>) => {
    if (sites.has(broken.site)) return;
    sites.add(broken.site);
    const shortest = await shorten(target, input, { site: broken.site, trying: options.trying });
    options.found({ input: shortest, site: broken.site, error: print(broken.error) });
  };
  let inputs = 0;
  for (; !options.isOver() && sites.size < SITES_MAX; inputs += 1) {
    const input = seeds[inputs] ?? mutate(pickFrom(seeds, pool.inputs(), chance), chance);
    options.trying(input);
    const tried = await tryTarget(target, input);
    if (tried.outcome === 'broken') await tell(input, tried);
    else pool.keep(input, `${tried.outcome} ${tried.shape}`);
  }
  return { inputs, pool: pool.inputs() };
}

function createPool() {
  const byShape = new Map<string, Input>();
  let list: Input[] = [];
  return {
    inputs: () => list,
    keep(input: Input, shape: string): void {
      const known = byShape.get(shape);
      const isWanted = known === undefined ? byShape.size < POOL_MAX : known.length > input.length;
      if (!isWanted) return;
      byShape.set(shape, input);
      list = [...byShape.values()];
    },
  };
}

function pickFrom(seeds: readonly Input[], pool: readonly Input[], chance: Chance): Input {
  const from = chance(2) === 0 || pool.length === 0 ? seeds : pool;
  return from[chance(from.length)] ?? '';
}

const SHORTER_TRIES_MAX = 2000;

/** Minimizes a finding: removes ever smaller pieces while the same defect occurs. */
async function shorten(
  target: Target,
  input: Input,
  { site, trying }: { site: string; trying(input: Input): void },
): Promise<Input> {
  let shortest = input;
  let tries = 0;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < shortest.length && tries < SHORTER_TRIES_MAX; tries += 1) {
      const without = leaveOut(shortest, at, size);
      trying(without);
      const tried = await tryTarget(target, without);
      if (tried.outcome === 'broken' && tried.site === site) shortest = without;
      else at += size;
    }
  }
  return shortest;
}

function leaveOut(input: Input, at: number, size: number): Input {
  if (typeof input === 'string') return input.slice(0, at) + input.slice(at + size);
  return Buffer.concat([input.subarray(0, at), input.subarray(at + size)]);
}

function print(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
