/** Small SVG files that take a renderer seconds to hours, each through a different weakness. */
import { seededRandom } from './pictures.ts';
import { largeDrawings } from './svg-slow-large.ts';
import { type Slow, slowTexts } from './svg-slow-texts.ts';
import { square as svg } from './svg-square.ts';

const full = (attributes: string) => `<rect width="2048" height="2048" ${attributes}/>`;

/** The path of a line that visits random places all over the image. */
function randomPath(corners: number, side = 2048): string {
  const random = seededRandom(corners);
  const place = () => `${Math.floor(random() * side)} ${Math.floor(random() * side)}`;
  return `M0 0${Array.from({ length: corners }, () => `L${place()}`).join('')}`;
}

function curve(corners: number): string {
  return randomPath(corners * 3).replaceAll(/L(\d+ \d+)L(\d+ \d+)L(\d+ \d+)/g, 'C$1 $2 $3');
}

function styled(rules: readonly string[], content: string): string {
  return svg(`<style>${rules.join('')}</style>${content}`);
}

const counted = (count: number, print: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => print(at));

const stops = (count: number) =>
  counted(count, (at) => `<stop offset="${at / count}" stop-color="#${100 + (at % 900)}"/>`).join(
    '',
  );

/** Nests the content deeply, with `besides` at each level. */
const deep = (content: string, besides = '') =>
  `${`<g>${besides}`.repeat(55)}${content}${'</g>'.repeat(55)}`;

export const slowDrawings: readonly Slow[] = [
  ['a line that crosses itself', svg(`<path d="${randomPath(20_000)}"/>`)],
  ['a long line that crosses itself', svg(`<path d="${randomPath(150_000)}"/>`)],
  [
    'a polygon that crosses itself',
    svg(`<polygon points="${randomPath(20_000).replaceAll(/[ML]/g, ' ')}"/>`),
  ],
  ['curves that cross', svg(`<path d="${curve(10_000)}"/>`)],
  ['curves from far outside', svg(`<path d="M0 0${'C1e5 1e5-1e5 1e5 2000 2000'.repeat(1300)}"/>`)],
  [
    'a few curves from the farthest',
    svg(`<path d="M0 0${'C7e6 7e6-7e6 7e6 2000 2000'.repeat(350)}"/>`),
  ],
  [
    'arcs from far outside',
    svg(`<path d="M0 0${'A1e6 1e6 0 1 0 9 9A1e6 1e6 0 1 1 0 0'.repeat(150)}"/>`),
  ],
  ...largeDrawings,
  ['a stroke that crosses itself', svg(`<path fill="none" stroke="red" d="${randomPath(5000)}"/>`)],
  ['a wide stroke', svg(`<path stroke="red" stroke-width="300" d="${randomPath(5000)}"/>`)],
  [
    'a rich line by uses',
    svg(`<path id="p" d="${randomPath(1000)}"/>${'<use href="#p"/>'.repeat(100)}`),
  ],
  [
    'a rich line by a class',
    styled(['.a{stroke:red}'], `<g class="a">${`<path d="${randomPath(400)}"/>`.repeat(200)}</g>`),
  ],
  ['long edges', svg(`<path d="M0 0${'L5 2048L9 0'.repeat(50_000)}"/>`)],
  ['fine dashes', svg(`<path stroke="red" stroke-dasharray=".2" d="${randomPath(2000)}"/>`)],
  ['dashes far outside', svg('<path stroke="red" stroke-dasharray=".1" d="M0 0L1e7 1e7"/>')],
  [
    'dashes of a group',
    svg(`<g stroke="red" stroke-dasharray=".2">${`<path d="${randomPath(30)}"/>`.repeat(60)}</g>`),
  ],
  [
    'wide round dashes',
    svg(
      `<path stroke="red" stroke-width="50" stroke-linecap="round" stroke-dasharray="1" d="${randomPath(300)}"/>`,
    ),
  ],
  ['full areas', svg(full('fill="red"').repeat(6000))],
  [
    'gradients over everything',
    svg(
      `<radialGradient id="a" fx=".2"><stop/><stop offset="1" stop-color="red"/></radialGradient>${full('fill="url(#a)"').repeat(100)}`,
    ),
  ],
  [
    'gradients of a group',
    svg(
      `<radialGradient id="a"><stop/><stop offset="1" stop-color="red"/></radialGradient><g fill="url(#a)">${full('').repeat(100)}</g>`,
    ),
  ],
  [
    'turned patterns',
    svg(
      `<pattern id="p" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform="rotate(7)"><rect width="5" height="5"/></pattern>${full('fill="url(#p)"').repeat(10)}`,
    ),
  ],
  [
    'masks',
    svg(`<mask id="m">${full('fill="gray"')}</mask>${'<g mask="url(#m)"><path/></g>'.repeat(100)}`),
  ],
  ['blends', svg('<g style="mix-blend-mode:hue"><path/></g>'.repeat(100))],
  ['blends by a class', styled(['.a{mix-blend-mode:multiply}'], '<path class="a"/>'.repeat(100))],
  ...slowTexts,
  [
    'a gradient of ten thousand colors',
    svg(`<linearGradient id="a">${stops(10_000)}</linearGradient>${full('fill="url(#a)"')}`),
  ],
  [
    'a gradient of the colors of another, for many shapes',
    svg(
      `<radialGradient id="b" href="#a"/><linearGradient id="a">${stops(2000)}</linearGradient><g fill="url(#b)">${'<path d="M0 0h9v9z"/>'.repeat(3000)}</g>`,
    ),
  ],
  [
    'markers wherever a path comes back to its start',
    svg(
      `<marker id="m">${'<path d="M0 0l9 9l3 1z"/>'.repeat(100)}</marker><path marker-mid="url(#m)" d="M9 9h1${'z'.repeat(20_000)}"/>`,
    ),
  ],
  [
    'rules of elements in elements, deep in many',
    styled(
      counted(200, () => `x ${'g '.repeat(50)}path{fill:red}`),
      deep('<path/>'.repeat(4000)),
    ),
  ],
  [
    'rules of children in children, deep in many',
    styled(
      counted(20, () => `x>${'g>'.repeat(20)}g path{fill:red}`),
      deep('<path/>'.repeat(2000)),
    ),
  ],
  [
    'rules of siblings of all around',
    styled(
      counted(50, () => 'x~g path{fill:red}'),
      deep('<path/>'.repeat(1000), '<g/>'.repeat(300)),
    ),
  ],
  [
    'rules of many neighbours',
    styled(
      counted(100, () => `x+${'path+'.repeat(60)}path{fill:red}`),
      '<path/>'.repeat(8000),
    ),
  ],
  [
    'rules of many classes',
    styled(
      counted(100, () => `${'.a'.repeat(100)}.b{fill:red}`),
      '<path class="a"/>'.repeat(8000),
    ),
  ],
  [
    'rules for elements of many classes',
    styled(
      counted(2000, () => '.b{fill:red}'),
      `<path class="${'a '.repeat(9000)}"/>`.repeat(100),
    ),
  ],
  [
    'rules of whatever is none of many',
    styled(
      counted(100, () => `${':not(x g)'.repeat(20)}{fill:red}`),
      deep('<g/>'.repeat(4000)),
    ),
  ],
  [
    'rules that count',
    styled(
      counted(9, (at) => `g:nth-child(3n+${at}){fill:red}`),
      '<g/>'.repeat(15_000),
    ),
  ],
  ['rules that count types', styled(['g:nth-last-of-type(3n+1){fill:red}'], '<g/>'.repeat(19_000))],
  [
    'many rules',
    styled(
      counted(2500, (at) => `.a${at}{fill:red}`),
      '<g class="a1"/>'.repeat(19_000),
    ),
  ],
  [
    'a blur of everything',
    svg(
      `<filter id="f"><feGaussianBlur stdDeviation="9"/><feGaussianBlur stdDeviation="9"/></filter>${full('filter="url(#f)"')}`,
    ),
  ],
  [
    'convolutions',
    svg(
      `<filter id="f"><feConvolveMatrix order="9" kernelMatrix="${'1 '.repeat(81)}"/></filter>${full('filter="url(#f)"')}`,
    ),
  ],
  [
    'merges',
    svg(
      `<filter id="f"><feMerge>${'<feMergeNode/>'.repeat(1000)}</feMerge></filter>${full('filter="url(#f)"')}`,
    ),
  ],
];
