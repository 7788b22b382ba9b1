import { afterAll, describe, expect, it } from 'vitest';
import { type Lane, openLane } from './lane.ts';
import { targets } from './planted.ts';
import { tryTarget } from './try-target.ts';

const INPUT_MS_MAX = 1500;
const table = new URL('planted.ts', import.meta.url).href;
const lane: Lane = openLane(table, INPUT_MS_MAX);
afterAll(() => lane.close());

const fuzz = (name: string) => lane.fuzz({ name, seed: 7, seconds: 1, kept: [] });

describe('a lane of the fuzzer', () => {
  it('reports an input that never terminates', async () => {
    const { findings } = await fuzz('never-ends');
    expect(findings.map(({ error }) => error)).toContain(`no end within ${INPUT_MS_MAX} ms`);
    for (const { input } of findings) expect(input).toContain('==');
  });

  it('reports an input that exhausts memory', async () => {
    const { findings } = await fuzz('takes-all-memory');
    expect(findings.length).toBeGreaterThan(0);
    for (const { input } of findings) expect(input).toContain('[[');
  });

  it('reports an unexpected exception once, with a short input', async () => {
    const { findings, inputs } = await fuzz('reads-beyond');
    expect(inputs).toBeGreaterThan(100);
    expect(findings).toHaveLength(1);
    const [{ input, error } = { input: '', error: '' }] = findings;
    expect(error).toMatch(/TypeError: of \d+ bytes/);
    expect(Buffer.isBuffer(input)).toBe(true);
    const target = targets.find(({ name }) => name === 'reads-beyond');
    const found = target && (await tryTarget(target, input));
    expect(found?.outcome).toBe('broken');
    expect(input.length).toBeLessThan(20);
  });

  it('does not report expected exceptions, and returns the inputs with different outcomes', async () => {
    const { findings, pool } = await fuzz('sound');
    expect(findings).toEqual([]);
    expect(pool.length).toBeGreaterThan(10);
  });
});
