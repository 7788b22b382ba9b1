import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CORPUS, readCorpus } from './corpus.ts';
import { fuzzTarget } from './fuzz-target.ts';
import { targets } from './targets.ts';
import { tryTarget } from './try-target.ts';

const CORPUS_BYTES_MAX = 300_000;
/**
 * Replays the corpus with the same mutations in every run, so that every parser is tested at least
 * a little.
 */
const MUTATED = 40;

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

describe('the corpus of the fuzzer', () => {
  it('has only folders of targets, and is small', () => {
    const names = targets.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(readdirSync(CORPUS).filter((folder) => !names.includes(folder))).toEqual([]);
    const sizes = filesOf(CORPUS).map(
      ({ parentPath, name }) => statSync(join(parentPath, name)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(CORPUS_BYTES_MAX);
  });

  it.each(targets)(
    'is parsed as expected, and so are mutations of the seeds: $name',
    async (target) => {
      const seeds = await target.seeds();
      const outcomes = await Promise.all(seeds.map((seed) => tryTarget(target, seed)));
      expect(outcomes.map(({ outcome }) => outcome)).toContain('taken');
      for (const { input, file } of readCorpus(target)) {
        expect(await tryTarget(target, input), file).not.toMatchObject({ outcome: 'broken' });
      }
      let rest = seeds.length + MUTATED;
      const found: unknown[] = [];
      await fuzzTarget(target, {
        seed: 1,
        kept: [],
        trying: () => undefined,
        found: (finding) => found.push(finding),
        isOver: () => rest-- <= 0,
      });
      expect(found).toEqual([]);
    },
  );
});
