// What librsvg takes for values that many elements have by inheritance, or by reference. Spec: Limits, Uploads.
import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';

const needs = (content: string, side = 2048) =>
  sanitizeSvg(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}">${content}</svg>`,
    ),
  ).needs;
const groups = '<g/>'.repeat(15_000);

describe('each element takes a copy of the long values that hold for it', () => {
  it.each([
    ['dashes', `<g stroke-dasharray="${'9 '.repeat(4990)}">${groups}</g>`],
    [
      'a transform',
      `<style>*{transform:inherit}</style><g style="transform:${'scale(1)'.repeat(1240)}">${groups}</g>`,
    ],
    ['dashes of a rule', `<style>g{stroke-dasharray:${'9 '.repeat(4990)}}</style>${groups}`],
  ])('%s', (_, content) => {
    const { memory_bytes, cpu_ms } = needs(content);
    expect(memory_bytes).toBeGreaterThan(2e9);
    expect(cpu_ms).toBeGreaterThan(3000);
  });

  it('not short ones', () => {
    expect(needs(`<g stroke-dasharray="${'9 '.repeat(40)}">${groups}</g>`).memory_bytes).toBe(0);
  });
});

it('dashes of a stroke that does not scale are as short as they say', () => {
  const path = `<path stroke="red" stroke-dasharray=".1" d="M0 0${'L2 2L0 1L2 0L1 2'.repeat(100)}"/>`;
  const fixed = path.replace('<path', '<path vector-effect="non-scaling-stroke"');
  expect(needs(path, 2).cpu_ms).toBeLessThan(2000);
  expect(() => needs(fixed, 2)).toThrow(/drawing_ns/);
});

it('the colours of all gradients that one is made after are copied for each shape', () => {
  const chain = Array.from(
    { length: 250 },
    (_, at) =>
      `<linearGradient id="g${at}" href="#g${at + 1}">${'<stop/>'.repeat(30)}</linearGradient>`,
  );
  const shapes = '<rect width="3" height="3" fill="url(#g0)"/>'.repeat(9000);
  expect(needs(chain.join('') + shapes).cpu_ms).toBeGreaterThan(5000);
});
