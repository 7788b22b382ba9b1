import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readOptions } from './options.ts';

const MINUTES = 'FUZZ_MINUTES (--minutes): expected a number above 0; for example FUZZ_MINUTES=30';
const SEED = 'FUZZ_SEED (--seed): expected a whole number; for example FUZZ_SEED=7';
const USAGE = /^expected make fuzz FUZZ_MINUTES=30 FUZZ_SEED=7 FUZZ_KEEP=yes, or [^\n]+$/;

describe('the options of a fuzz run', () => {
  it('are minutes, a seed, names of targets and whether to keep inputs', () => {
    const words = ['--minutes=0.5', '--seed=7', '--only=cursors', '--keep'];
    const options = { minutes: 0.5, seed: 7, only: ['cursors'], keep: true };
    expect(readOptions(words)).toEqual(options);
    expect(readOptions([])).toMatchObject({ minutes: 30, only: [], keep: false });
  });

  it.each([
    ['--minutes=abc', MINUTES],
    ['--minutes=0', MINUTES],
    ['--minutes=-3', MINUTES],
    ['--minutes=Infinity', MINUTES],
    ['--seed=abc', SEED],
    ['--seed=', SEED],
    ['--seed=1.5', SEED],
    ['--only=nothing', /^--only: there is no nothing: name one of .*cursors/],
    ['--fast', USAGE],
    ['1', USAGE],
  ])('are rejected with an explanation if they are %s', (word, said) => {
    expect(() => readOptions([word])).toThrow(said);
  });

  it('end the run with 2 if they are wrong, and one line that names the make variable', () => {
    const main = new URL('main.ts', import.meta.url).pathname;
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--minutes=abc'], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 2,
      stdout: '',
      stderr: `fuzz: ${MINUTES}\n`,
    });
  });
});
