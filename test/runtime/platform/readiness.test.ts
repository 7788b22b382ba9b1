// Spec: Infrastructure, GET /readyz.
import { expect, it } from 'vitest';
import { createLog } from '../../../runtime/platform/log.ts';
import { findReadiness, StillStarting } from '../../../runtime/platform/readiness.ts';

it('findReadiness reports checks that fail, hang or still start, and logs only the first two', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'info', name: 'test', destination });
  const probes = {
    answers: async () => 'yes',
    fails: async () => {
      throw new Error('refused');
    },
    hangs: () => new Promise(() => {}),
    starts: () => Promise.reject(new StillStarting('the process still starts')),
  };
  expect(await findReadiness(probes, log, 1)).toEqual({
    ready: false,
    checks: { answers: true, fails: false, hangs: false, starts: false },
  });
  const said = lines.map((line) => JSON.parse(line));
  expect(said.map(({ dependency, error }) => [dependency, error.message]).toSorted()).toEqual([
    ['fails', 'refused'],
    ['hangs', 'no answer in 1 ms'],
  ]);
});
