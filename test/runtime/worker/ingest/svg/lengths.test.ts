import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';

const needs = (content: string) =>
  sanitizeSvg(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="2048" height="2048">${content}</svg>`,
    ),
  ).needs;
const outcome = (content: string) => {
  try {
    return needs(content);
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
};

const painted = (shape: string) => `<linearGradient id="a"/><g fill="url(#a)">${shape}</g>`;
const dashed = (content: string) => `<g stroke="red" stroke-dasharray="4">${content}</g>`;
const blurred = (region: string) =>
  `<filter id="f" filterUnits="userSpaceOnUse" ${region}><feGaussianBlur stdDeviation="1"/></filter><g filter="url(#f)"/>`;
const tiled = (side: string) =>
  `<pattern id="p" patternUnits="userSpaceOnUse" width="${side}" height="${side}"/><rect width="9" height="9" fill="url(#p)"/>`;

const ways: readonly (readonly [name: string, draw: (side: string) => string])[] = [
  ['a rect', (side) => painted(`<rect width="${side}" height="${side}"/>`)],
  ['a circle', (side) => painted(`<circle r="${side}"/>`)],
  ['an ellipse', (side) => painted(`<ellipse rx="${side}" ry="${side}"/>`)],
  ['a dashed line', (side) => dashed(`<line x1="-${side}" x2="${side}"/>`)],
  ['dashes', (side) => `<g stroke="red" stroke-dasharray="${side}"><path d="M0 0H2000"/></g>`],
  ['overlapping dashes', (side) => dashed(`<path stroke-width="${side}" d="M0 0H2000"/>`)],
  ['a filter of its own region', (side) => blurred(`width="${side}" height="${side}"`)],
  ['the tile of a pattern', tiled],
  [
    'a viewBox inside',
    (side) =>
      `<svg width="${side}" height="${side}" viewBox="0 0 9 9"><text stroke="red">A</text></svg>`,
  ],
  ['letters', (side) => `<text font-size="${side}">A</text>`],
];

describe('the estimated drawing cost of an SVG length', () => {
  it.each(ways)('depends on its unit: %s', (_name, draw) => {
    expect(needs(draw('30in'))).toEqual(needs(draw('2880')));
    expect(needs(draw('180PC'))).toEqual(needs(draw('2880')));
    expect(needs(draw('30in'))).not.toEqual(needs(draw('30')));
  });

  it('depends on the surrounding font size', () => {
    const sized = (size: string) =>
      painted(`<g font-size="100"><rect width="${size}" height="3"/></g>`);
    expect(needs(sized('4em'))).toEqual(needs(sized('400')));
  });

  it('depends on the surrounding viewport', () => {
    const inside = (content: string) => needs(`<svg viewBox="0 0 204800 204800">${content}</svg>`);
    expect(inside(tiled('300%')).memory_bytes).toBe(inside(tiled('614400')).memory_bytes);
    const stroked = (width: string) => dashed(`<path stroke-width="${width}" d="M0 0H90"/>`);
    expect(inside(stroked('3%'))).toEqual(inside(stroked('6144')));
  });

  it.each([
    ['shapes', painted('<rect width="100in" height="100in"/>'.repeat(1000))],
    ['the radius of a filter', '<rect style="filter:blur(3in)"/>'],
    ['the radius of a shadow', '<rect style="filter:drop-shadow(1px 1px 3in)"/>'],
    [
      'the radius of a shadow of a colour',
      '<rect style="filter:drop-shadow(0 0 300px rgb(0 0 0))"/>',
    ],
    [
      'the radius of a shadow after its colour',
      '<rect style="filter:drop-shadow(rgb(0 0 0) 0 0 300px)"/>',
    ],
  ])('exceeds the limit if only a length is excessive: %s', (_name, content) => {
    expect(outcome(content)).toBe('image_too_large');
  });

  it.each([
    'drop-shadow(1px 2px 3px #a1b2c3)',
    'drop-shadow(1px 2px 3px hsl(120deg 50% 50%))',
    'drop-shadow(0 0 .2em red)',
    'blur(1mm)',
  ])('allows an ordinary length: %s', (filter) => {
    expect(outcome(`<rect style="filter:${filter}"/>`)).toHaveProperty('cpu_ms');
  });
});
