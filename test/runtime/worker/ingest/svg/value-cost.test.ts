// The cost in librsvg of values that many elements inherit or refer to. Spec: Limits, Uploads.
import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';

const needs = (content: string, side = 2048) =>
  sanitizeSvg(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}">${content}</svg>`,
    ),
  ).needs;
const groups = '<g/>'.repeat(15_000);

describe('the estimated cost of long inherited values', () => {
  it.each([
    ['dashes', `<g stroke-dasharray="${'9 '.repeat(4990)}">${groups}</g>`],
    [
      'a transform',
      `<style>*{transform:inherit}</style><g style="transform:${'scale(1)'.repeat(1240)}">${groups}</g>`,
    ],
  ])('grows in memory and time with every element that inherits them: %s', (_, content) => {
    const { memory_bytes, cpu_ms } = needs(content);
    expect(memory_bytes).toBeGreaterThan(2e9);
    expect(cpu_ms).toBeGreaterThan(3000);
  });

  const name = `url(#${'a'.repeat(1900)})`;
  it.each([
    ['a name', 36, `<g fill="${name}">`],
    ['a name of a rule', 72, `<style>g{fill:${name}}</style><g>`],
    ['markers of a rule', 217, `<style>g{marker:${name}}</style><g>`],
    ['dashes of a rule', 577, `<style>g{stroke-dasharray:${'9 '.repeat(953)}}</style><g>`],
  ])(
    'matches the measured memory: %s of 1,900 letters for 10,000 elements takes %i MB',
    (_, megabytes, open) => {
      const { memory_bytes } = needs(`${open}${'<g/>'.repeat(10_000)}</g>`);
      expect(memory_bytes / 1e6 / megabytes).toBeCloseTo(1, 1);
    },
  );

  it('makes a rule that says too much to many elements fail quickly', () => {
    const long = `<style>g{transform:${'scale(1)'.repeat(2500)}}</style>`;
    const began = process.cpuUsage();
    expect(() => needs(long + '<g/>'.repeat(10_000))).toThrow(/styles that hold for many/);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(1500);
  });

  it('is zero for short values', () => {
    expect(needs(`<g stroke-dasharray="${'9 '.repeat(40)}">${groups}</g>`).memory_bytes).toBe(0);
  });
});

describe('the estimated cost of dashes on a non-scaling stroke', () => {
  const path = `<path stroke="red" stroke-dasharray=".1" d="M0 0${'L2 2L0 1L2 0L1 2'.repeat(100)}"/>`;
  it.each([
    'vector-effect="non-scaling-stroke"',
    'vector-effect=" Non-Scaling-Stroke "',
    'style="vector-effect:non-scaling-stroke!important"',
  ])('depends on their length in pixels of the image: %s', (fixed) => {
    expect(needs(path, 2).cpu_ms).toBeLessThan(2000);
    expect(() => needs(path.replace('<path', `<path ${fixed}`), 2)).toThrow(/drawing_ns/);
  });

  it('applies only to elements that have the non-scaling stroke themselves', () => {
    const line = '<path d="M0 0H2" stroke="red" vector-effect="non-scaling-stroke"/>';
    expect(needs(path + line, 2).cpu_ms).toBeLessThan(2000);
    const dashed = `<g stroke-dasharray=".001">${line}</g>`;
    expect(() => needs(dashed.replace('vector', 'x-vector'), 2)).not.toThrow();
    expect(() => needs(dashed, 2)).toThrow(/drawing_ns/);
  });
});

it('the estimated cost of a gradient includes all gradients it refers to, for each shape', () => {
  const chain = Array.from(
    { length: 250 },
    (_, at) =>
      `<linearGradient id="g${at}" href="#g${at + 1}">${'<stop/>'.repeat(30)}</linearGradient>`,
  );
  const shapes = '<rect width="3" height="3" fill="url(#g0)"/>'.repeat(9000);
  expect(needs(chain.join('') + shapes).cpu_ms).toBeGreaterThan(5000);
});
