import { expect, it } from 'vitest';
import { createPauses } from '../../../operator/kube/pause.ts';

const pauses = () => createPauses({ least_ms: 100, most_ms: 30_000, random: () => 0.5 });

it('a pause is about as long as was asked for, and never much longer than the maximum', () => {
  expect(pauses().next()).toBe(200);
  expect(pauses().next(5_000)).toBe(5_625);
  expect(pauses().next(3_600_000)).toBe(33_750);
});
