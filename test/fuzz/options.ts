/**
 * Parses the arguments of `node test/fuzz/main.ts`. Messages name the variables of `make fuzz`, from which most
 * arguments come.
 */
import { parseArgs } from 'node:util';
import { Advice } from '../../runtime/platform/advice.ts';
import { targets } from './targets.ts';

export type FuzzOptions = { minutes: number; seed: number; only: string[]; keep: boolean };

const NAMES = targets.map(({ name }) => name);

export function readOptions(words: readonly string[]): FuzzOptions {
  const { minutes: time, seed: start, only, keep } = parse(words);
  const minutes = Number(time);
  if (!(minutes > 0 && Number.isFinite(minutes))) {
    throw refusal(
      'FUZZ_MINUTES (--minutes): expected a number above 0; for example FUZZ_MINUTES=30',
    );
  }
  const seed = Number(start);
  if (!/^\d+$/.test(start) || !Number.isSafeInteger(seed)) {
    throw refusal('FUZZ_SEED (--seed): expected a whole number; for example FUZZ_SEED=7');
  }
  const unknown = only.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) {
    throw refusal(`--only: there is no ${unknown.join(', ')}: name one of ${NAMES.join(', ')}`);
  }
  return { minutes, seed, only, keep };
}

function parse(words: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        minutes: { type: 'string', default: '30' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        only: { type: 'string', multiple: true, default: [] },
        keep: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (cause) {
    const how = 'expected make fuzz FUZZ_MINUTES=30 FUZZ_SEED=7 FUZZ_KEEP=yes';
    throw refusal(`${how}, or --minutes=30 --seed=7 --only=NAME --keep`, cause);
  }
}

function refusal(message: string, cause?: unknown): Advice {
  return new Advice(message, { cause, exitCode: 2 });
}
