// The cost of matching style rules in librsvg depends on the length of the values that they examine. Spec: Limits,
// Uploads.
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';

const svg = (content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50">${content}</svg>`;
const sanitize = (content: string) => sanitizeSvg(Buffer.from(svg(content)));
const rules = (count: number, selector: string) =>
  `<style>${`${selector}{fill:red}`.repeat(count)}</style>`;

describe('an SVG whose CSS rules would take too long to match', () => {
  const SPACES = [...' \n\u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000'];
  it.each(SPACES.map((space) => [space.charCodeAt(0).toString(16), space]))(
    'is rejected for many classes separated by U+%s',
    (_, space) => {
      const paths = `<path class="${`a${space}`.repeat(3000)}"/>`.repeat(40);
      expect(() => sanitize(rules(1000, '.b') + paths)).toThrow(/drawing_ns/);
    },
  );

  it.each([
    ['a class', '.b', 'class'],
    ['a word of a value', '[aria-label~=b]', 'aria-label'],
    ['a part of a value', '[aria-label*=b]', 'aria-label'],
    [
      'a part of a value, with comments and a prefix',
      'g, [*|aria-label /**/ *= "b"]',
      'aria-label',
    ],
    ['a part of the value of an ancestor', '[aria-label*=b] path', 'aria-label'],
  ])('is rejected for one long value searched for %s', (_, selector, attribute) => {
    const paths = `<path ${attribute}="${'a'.repeat(50_000)}"/>`.repeat(30);
    const label = selector.endsWith('path') ? paths.replaceAll('path', 'g') : paths;
    expect(() => sanitize(rules(400, selector) + label)).toThrow(/drawing_ns/);
  });
});

it('a long value costs nothing if rules compare it as a whole, by its prefix or not at all', () => {
  const path = `<path aria-label="${'a'.repeat(100_000)}" class="a"/>`.repeat(10);
  for (const selector of [
    '.b',
    '[aria-label]',
    '[aria-label=b]',
    '[aria-label^=b]',
    '[class*=b]',
  ]) {
    expect(sanitize(rules(400, selector) + path).needs.cpu_ms).toBeLessThan(10);
  }
});

describe('the estimated cost of CSS rules as charts have them', () => {
  const named = 'class="highcharts-point highcharts-color-0 edge-pattern-solid LS-Start bar"';
  it.each([
    ['a word of a class', '[class~="bar"]', `<rect ${named}/>`.repeat(5000)],
    ['every other row', '.bar:nth-child(2n)', `<rect ${named}/>`.repeat(4200)],
    ['a part of a path', '[d*="z"]', `<path d="M0 0${'L9 9L8 7.5'.repeat(35)}"/>`.repeat(2000)],
  ])('is low: %s', (_, selector, content) => {
    expect(sanitize(rules(1, selector) + rules(130, '.c') + content).needs.cpu_ms).toBeLessThan(
      5000,
    );
  });

  it('is too high for a sibling selector that matches many elements', () => {
    const rects = `<rect ${named}/>`.repeat(5000);
    expect(() => sanitize(rules(1, '.head ~ .bar') + rects)).toThrow(/drawing_ns/);
  });
});

it('reading a long name in a selector takes less than a second', () => {
  const began = process.cpuUsage();
  sanitize(`${rules(1, `.${'a'.repeat(90_000)} .b`)}<path class="b"/>`);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(1000);
});

it('attribute selectors that ignore case are dropped', () => {
  const styles = (selector: string) =>
    /<style>(.*?)<\/style>/.exec(sanitize(rules(1, selector)).vector)?.[1];
  for (const flag of ['"b" i', "'b'I", 'b i ', '"b"/**/i', 'b\ni']) {
    for (const operator of ['', '*', '~', '^', '|']) {
      expect(styles(`[class${operator}=${flag}]`), flag + operator).toBeUndefined();
    }
  }
  for (const kept of ['[class=i]', '[class="i"]', '[class*=bi]', '[i]', '[class="b i"]']) {
    expect(styles(kept)).toContain('fill:red');
  }
});

describe('a CSS rule that adds layers', () => {
  it.each([
    ['a class behind U+0085', '.a', 'x\u0085a'],
    ['a class behind U+00A0', '.a', 'x\u00a0a'],
    ['a class that has U+FEFF in it', '.x\ufeffa', 'x\ufeffa'],
  ])('counts for every element to which librsvg applies it: %s', async (_, selector, value) => {
    const drawn = svg(
      `<style>${selector}{fill:#f00}</style><rect class="${value}" width="50" height="50" fill="#00f"/>`,
    );
    const { data } = await sharp(Buffer.from(drawn)).raw().toBuffer({ resolveWithObject: true });
    expect([...data.subarray(0, 3)]).toEqual([255, 0, 0]);
    const layers = `<style>${selector}{opacity:.5}</style>${`<g class="${value}"/>`.repeat(501)}`;
    expect(() => sanitize(layers)).toThrow(/layers/);
  });
});
