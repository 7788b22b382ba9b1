/** Small SVG files with text that takes a renderer seconds to hours. */
import { square as svg } from './svg-square.ts';

/** The raster grid has about two pixels per unit in each direction. */
const large = (content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000">${content}</svg>`;
const onOneAnother = (count: number) =>
  `<text font-size="10" letter-spacing="-9.9" stroke="red" stroke-width="30">${'@'.repeat(count)}</text>`;
const eights = (count: number) => `<text y="900">${'8'.repeat(60)}</text>`.repeat(count);

const sizes = (count: number, print: (size: string) => string) =>
  Array.from({ length: count }, (_, at) => print(`font-size="${10 + at / 100}"`)).join('');

export type Slow = readonly [name: string, document: string];

export const slowTexts: readonly Slow[] = [
  ['a text in one line', svg(`<text>${'abc def '.repeat(10_000)}</text>`)],
  ['large letters', svg(`<g font-size="900">${'<text y="900">88888888</text>'.repeat(3000)}</g>`)],
  ...['5.', '0.01rem', '0.01ch', '5&#160;'].map(
    (size): Slow => [
      `large letters, as ${size} is no size`,
      svg(
        `<g font-size="900">${`<text y="900" font-size="${size}">88888888</text>`.repeat(3000)}</g>`,
      ),
    ],
  ),
  [
    'large letters with a wide line around',
    large(`<g font-size="900" stroke="red" stroke-width="300">${eights(330)}</g>`),
  ],
  [
    'large letters with a wide line around, by styles',
    large(
      `<style>g{font:bold 900px serif}.b{stroke:red;stroke-width:300px}</style><g class="b">${eights(330)}</g>`,
    ),
  ],
  [
    'large letters of uses',
    large(
      `<g id="t" stroke="red" stroke-width="100">${eights(3)}</g>${'<use href="#t" font-size="40em"/>'.repeat(40)}`,
    ),
  ],
  [
    'small letters made large',
    large(`<g transform="scale(90)" stroke="red" stroke-width="3">${eights(60)}</g>`),
  ],
  [
    'small letters with a wide line around',
    large(`<g stroke="red" stroke-width="400">${eights(100)}</g>`),
  ],
  ['a text of six thousand letters', svg(`<text>${'8'.repeat(6000)}</text>`)],
  ['a text of letters that no font has', svg(`<text>${'\u9000'.repeat(6000)}</text>`)],
  ['letters upon letters with a line around', svg(onOneAnother(1200))],
  ['many texts', svg('<text>abcdefghij</text>'.repeat(12_000))],
  ['texts of a size each', svg(sizes(6000, (size) => `<text ${size}>8</text>`))],
  [
    'texts of a size each, of letters that no font has',
    svg(sizes(2100, (size) => `<text ${size}>\u9000</text>`)),
  ],
  [
    'texts in 90 sizes, of letters that no font has beside some that all have',
    svg(sizes(90, (size) => `<text ${size}>a\u9000</text>`).repeat(40)),
  ],
  [
    'texts in 40 sizes, of letters of many scripts',
    svg(sizes(40, (size) => `<text ${size}>a\u05e9\u2230\u9000\u{1d538}</text>`).repeat(60)),
  ],
  [
    'a text of parts of a size each',
    svg(`<text>${sizes(2900, (size) => `<tspan ${size}>8</tspan>`)}</text>`),
  ],
  [
    'a text by uses of a size each',
    svg(`<text id="t">8</text>${sizes(6000, (size) => `<use href="#t" ${size}/>`)}`),
  ],
];
