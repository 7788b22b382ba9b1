import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';

const svg = (content: string, size = 'width="1000" height="1000"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${content}</svg>`;
/**
 * The part of the worker's upload slot that is left for a drawing, besides the process and the
 * grid.
 */
const MEMORY_BYTES_MAX = 1_700_000_000;
const outcome = (document: string) => {
  try {
    const { memory_bytes } = sanitizeSvg(Buffer.from(document)).needs;
    return memory_bytes < MEMORY_BYTES_MAX ? 'taken' : memory_bytes;
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
};
const filtered = (primitives: string, filter = '', rect = 'width="1000" height="1000"') =>
  svg(`<filter id="f" ${filter}>${primitives}</filter><rect ${rect} filter="url(#f)"/>`);
const wide = (content: string) => svg(content, 'viewBox="0 0 800 600"');
const nested = (depth: number, open: string) => open.repeat(depth) + '</g>'.repeat(depth);
/** Groups that each show the previous one `times` times. */
const levels = (depth: number, times: number) =>
  Array.from(
    { length: depth },
    (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(times)}</g>`,
  ).join('');
const circles = (count: number, attributes: string) =>
  `<circle r="1" ${attributes}/>`.repeat(count);

const each = (count: number, print: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => print(at)).join('');
/** The region of a filter on a `use` is unknown, so each shadow counts as the whole picture. */
const shadowed = (count: number) =>
  svg(
    `<filter id="f" width="112%" height="112%" x="-6%" y="-4%"><feOffset dy=".5" in="SourceAlpha"/><feGaussianBlur stdDeviation=".5"/><feColorMatrix values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 .2 0"/></filter><circle id="c" cx="16" cy="15" r="15"/>${'<use filter="url(#f)" href="#c"/>'.repeat(count)}`,
    'width="32" height="32"',
  );
const outline = '<path d="M10 10C20 20 30 20 40 10L30 30z"/>';
const dotted = '<path d="M0 9H900"/>';

/** The slow drawings of svg-slow.ts are rejected in hostile-corpus.test.ts. */
describe('the drawing cost limits for SVGs', () => {
  it.each([
    ['a hundred blurs', filtered('<feGaussianBlur stdDeviation="20"/>'.repeat(100))],
    ['two hundred nested layers', svg(nested(200, '<g opacity=".9">'))],
    [
      'a hundred million uses',
      svg(`<defs><rect id="l0" width="1" height="1"/>${levels(8, 10)}</defs><use href="#l8"/>`),
    ],
    [
      'wide blurs and a wide morphology',
      svg(
        `<filter id="f"><feGaussianBlur stdDeviation="300"/><feGaussianBlur stdDeviation="300"/><feMorphology radius="200"/></filter><rect width="4000" height="4000" filter="url(#f)"/>`,
        'width="4000" height="4000"',
      ),
    ],
    ['two shadows of an icon', shadowed(2)],
    ['elements 65 deep', svg(nested(64, '<g>'))],
    ['20,001 elements', svg('<g/>'.repeat(20_000))],
    ['20,001 elements, most of them dropped', svg('<x/>'.repeat(20_000))],
    ['200,001 bytes of text', svg(`<text>${'a'.repeat(200_001)}</text>`)],
    ['100,001 bytes of style', svg(`<style>${' '.repeat(100_001)}</style>`)],
    ['100,001 bytes of style attributes', svg(`<g style="${' '.repeat(50_001)}"/>`.repeat(2))],
    ['2,000,001 bytes', svg(`<path d="${' '.repeat(2_000_000)}"/>`)],
    ['501 layers', svg('<g opacity=".5"/>'.repeat(501))],
    ['layers through a class', svg(`<style>.a{opacity:.5}</style>${circles(501, 'class="a"')}`)],
    [
      'layers through an element selector',
      svg(`<style>circle{opacity:.5}</style>${circles(501, '')}`),
    ],
    ['layers through any selector', svg(`<style>:not(g){opacity:.5}</style>${circles(501, '')}`)],
    ['layers through a use', svg(`<g id="l0" opacity=".5"/>${levels(1, 501)}`)],
    ['33 nested layers', svg(nested(33, '<g opacity=".9">'))],
    ['33 layers by a percentage', svg(nested(33, '<g opacity="90%">'))],
    ['33 layers by a power of ten', svg(nested(33, '<g opacity="9e-1">'))],
    [
      '33 layers through inherited opacity',
      svg(`<g opacity=".9">${nested(32, '<g opacity="inherit">')}</g>`),
    ],
    ['a reference to itself', svg('<g id="a"><use href="#a"/></g>')],
    ['circular references', svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>')],
    [
      'a pattern that paints itself',
      svg('<pattern id="p"><rect fill="url(#p)"/></pattern><rect fill="url(#p)"/>'),
    ],
    ['a mask of itself', svg('<mask id="m"><rect mask="url(#m)"/></mask><rect mask="url(#m)"/>')],
    [
      'a chain of references',
      svg(
        Array.from({ length: 400 }, (_, at) => `<g id="a${at}"><use href="#a${at + 1}"/></g>`).join(
          '',
        ),
      ),
    ],
    [
      'a chain of references in reverse order',
      svg(
        `<defs>${Array.from({ length: 300 }, (_, at) => `<g id="a${at}"><use href="#a${at - 1}"/></g>`).join('')}</defs><use href="#a299"/>`,
      ),
    ],
    [
      'patterns painted with patterns',
      svg(
        `${Array.from({ length: 6 }, (_, at) => `<pattern id="p${at}">${`<rect fill="url(#p${at + 1})"/>`.repeat(10)}</pattern>`).join('')}<rect fill="url(#p0)"/>`,
      ),
    ],
    [
      'a rich pattern on many shapes of a group',
      svg(`<pattern id="p">${circles(1000, '')}</pattern><g fill="url(#p)">${circles(60, '')}</g>`),
    ],
    [
      'a rich marker on a long line',
      svg(
        `<marker id="m">${circles(100, '')}</marker><path marker="url(#m)" d="${'L1 1'.repeat(400)}"/>`,
      ),
    ],
    [
      'styles that apply to many elements',
      svg(
        `<style>*{${Array.from({ length: 100 }, (_, at) => `fill:url(#a${at})`).join(';')}}</style>${circles(5000, '')}`,
      ),
    ],
    [
      'rules times elements',
      svg(`<style>${'a{fill:red}'.repeat(5000)}</style>${'<g/>'.repeat(9000)}`),
    ],
    ['a blur too wide', filtered('<feGaussianBlur stdDeviation="126"/>')],
    [
      'a blur too wide by its transform',
      filtered(
        '<feGaussianBlur stdDeviation="13"/>',
        '',
        'transform="scale(10)" width="9" height="9"',
      ),
    ],
    [
      'a blur too wide by the size of its element',
      filtered('<feGaussianBlur stdDeviation=".2"/>', 'primitiveUnits="objectBoundingBox"'),
    ],
    [
      'a blur too wide by a viewBox',
      svg(
        '<filter id="f"><feGaussianBlur stdDeviation="1"/></filter><svg viewBox="0 0 1 1"><rect width="1" height="1" filter="url(#f)"/></svg>',
      ),
    ],
    ['a shadow too wide', filtered('<feDropShadow stdDeviation="200"/>')],
    ['a blur too wide by its function', svg('<rect style="filter:blur(200px)"/>')],
    ['blurs by their functions', svg('<rect style="filter:blur(2px)"/>'.repeat(10))],
    [
      'a filter of many points',
      svg(
        `<filter id="f"><feGaussianBlur stdDeviation="1"/></filter>${'<rect width="1" height="1" filter="url(#f)"/>'.repeat(490)}`,
      ),
    ],
    [
      'three blurs, each over most of the picture',
      svg(
        `<filter id="f"><feGaussianBlur stdDeviation="2"/></filter>${'<circle cx="30" cy="30" r="20" filter="url(#f)"/>'.repeat(3)}`,
        'viewBox="0 0 64 64" width="64" height="64"',
      ),
    ],
    ['a displacement of the picture', filtered('<feDisplacementMap scale="2"/>')],
    ['a wide morphology', filtered('<feMorphology radius="20"/>')],
    ['a wide convolution', filtered('<feConvolveMatrix order="10"/>')],
    ['many octaves', filtered('<feTurbulence numOctaves="9"/>')],
    [
      'a filter of many elements',
      svg(
        `<filter id="f"><feGaussianBlur stdDeviation="2"/></filter>${'<path d="M0 0h9v9z" filter="url(#f)"/>'.repeat(10)}`,
      ),
    ],
    [
      'a filter by a class',
      svg(
        `<style>.a{filter:url(#f)}</style><filter id="f"><feGaussianBlur stdDeviation="2"/></filter>${'<path class="a"/>'.repeat(10)}`,
      ),
    ],
    [
      'a filter by a use',
      svg(
        `<filter id="f"><feGaussianBlur stdDeviation="2"/></filter><g id="l0" filter="url(#f)"/>${levels(1, 10)}<use href="#l1"/>`,
      ),
    ],
  ])('reject before drawing, with image_too_large: %s', (_, document) => {
    expect(outcome(document)).toBe('image_too_large');
  });

  it.each([
    ['a map of 20,000 outlines', svg(`<g stroke="red">${outline.repeat(9000)}</g>`)],
    ['a coast in one path', svg(`<path d="M0 0${'l3 1l-2 2l1-2l2 3'.repeat(15_000)}"/>`)],
    [
      'a map of which only a corner is visible',
      svg(`<path d="M0 0${'c5e4 9-9 9 5 5'.repeat(400)}"/>`),
    ],
    [
      'a chart of dotted lines',
      svg(`<g stroke="red" stroke-dasharray="2 2">${dotted.repeat(60)}</g>`),
    ],
    ['a scatter of circles', svg('<circle cx="9" cy="9" r="3" fill-opacity=".5"/>'.repeat(5000))],
    [
      'a picture of gradients',
      svg(`<linearGradient id="a"/>${'<rect width="50" height="50" fill="url(#a)"/>'.repeat(500)}`),
    ],
    [
      'an illustration of masks',
      svg('<mask id="m"><circle r="9"/></mask><g mask="url(#m)"><path/></g>'.repeat(30)),
    ],
    ['elements 64 deep', svg(nested(63, '<g>'))],
    ['20,000 elements', svg('<g/>'.repeat(19_999))],
    ['200,000 bytes of text', svg(`<desc>${'a'.repeat(200_000)}</desc>`)],
    ['a thousand signs in a line', svg(`<text>${'\u4e00'.repeat(1000)}</text>`)],
    [
      '2,000 labels of signs',
      svg(`${'<text x="9" y="9">\u4e00\u4e01\u4e02\u4e03\u4e04</text>'.repeat(2000)}`),
    ],
    ['2,000 labels', svg('<text x="9" y="9">A label</text>'.repeat(2000))],
    [
      'a cloud of 1,500 words, each as large as it counts',
      svg(each(1500, (at) => `<text font-size="${10 + at / 50}">word</text>`)),
    ],
    [
      '3,000 labels in a hundred fonts',
      svg(
        each(100, (at) =>
          `<text font-size="${10 + (at % 50)}" font-family="f${at % 2}">label</text>`.repeat(30),
        ),
      ),
    ],
    [
      '2,000 labels in 40 sizes, with letters that not every font has',
      svg(each(2000, (at) => `<text font-size="${10 + (at % 40)}">\u05e9\u05dc \u2713</text>`)),
    ],
    [
      '2,500 labels of one part each in many fonts, as pages are converted',
      svg(
        each(2500, (at) => `<text><tspan font-size="${10 + (at % 360) / 10}">label</tspan></text>`),
      ),
    ],
    [
      'a page of 60,000 letters',
      wide(`<g font-size="16">${each(1000, () => `<text>${'letters and '.repeat(6)}</text>`)}</g>`),
    ],
    ['preserved spaces', wide(`<text xml:space="preserve">a${' '.repeat(100_000)}b</text>`)],
    ['a paragraph', wide(`<text font-size="40">${'letters '.repeat(250)}</text>`)],
    [
      'labels with a halo, in sizes of their headline',
      wide(
        `<g font-size="80%" stroke="#fff" stroke-width="3" paint-order="stroke">${'<text font-size="1.2em">A label</text>'.repeat(400)}</g><text font-size="90">A chart</text>`,
      ),
    ],
    [
      'an outlined headline over the whole picture',
      wide(`<text font-size="600" stroke="red" stroke-width="30">${'A'.repeat(30)}</text>`),
    ],
    [
      'a thousand curves of a symbol that is high and narrow',
      wide(
        `<symbol id="s" viewBox="0 0 10 1000"><path d="M0 0${'c90 0 90 90 9 1s-90 90-9-1'.repeat(500)}"/></symbol><use href="#s"/>`,
      ),
    ],
    [
      'bars that are cut by a share of their boxes',
      wide(
        `<clipPath id="c" clipPathUnits="objectBoundingBox"><rect width="1" height=".5"/></clipPath>${'<rect width="90" height="40" clip-path="url(#c)"/>'.repeat(300)}`,
      ),
    ],
    [
      'a map in thousandths of a degree, with lines by classes',
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 .001 .001"><style>.a{stroke-width:.000001;stroke:red}</style>${'<path class="a" d="M0 0c.0001.0001 0 .0001.00001.00001"/>'.repeat(5000)}</svg>`,
    ],
    [
      'a map in degrees, of dashed lines and labels',
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><g stroke="red" stroke-width=".002" stroke-dasharray=".01 .005">${`<path d="M0 0${'c.01.01 0 .01.01.01'.repeat(100)}"/>`.repeat(100)}</g><g font-size=".02">${'<text>Berlin Nord</text>'.repeat(300)}</g></svg>`,
    ],
    [
      'icons of small tiles, each as large as its use says',
      wide(
        `<pattern id="p" width="4" height="4" patternUnits="userSpaceOnUse"><path d="M0 0L4 4"/></pattern><symbol id="s" viewBox="0 0 24 24"><path d="M0 0h24v24z"/></symbol>${'<use href="#s" width="48" height="48" fill="url(#p)"/>'.repeat(100)}`,
      ),
    ],
    [
      '500 arrows beside a thick frame',
      wide(
        `<marker id="m"><path d="M0 0c9 9 9 0 1 1z"/></marker><rect width="2000" height="900" fill="none" stroke="red" stroke-width="72"/>${'<path d="M9 9h90" stroke="red" stroke-width="2" marker-end="url(#m)"/>'.repeat(500)}`,
      ),
    ],
    [
      'a graph of 1,000 arrows, as programs draw them',
      wide(
        `<marker id="m" viewBox="0 -5 10 10" refX="15" markerWidth="6" markerHeight="6" orient="auto"><path d="M0,-5L10,0L0,5"/></marker><g fill="none" stroke="#666" stroke-width="1.5">${'<path d="M9 9L300 200" marker-end="url(#m)"/>'.repeat(1000)}</g>`,
      ),
    ],
    [
      'a dashed frame of the whole picture',
      wide(
        '<rect width="100%" height="100%" fill="none" stroke="red" stroke-width="4" stroke-dasharray="8 4"/>',
      ),
    ],
    [
      'dashes of its own in a small group with others',
      wide(
        '<g stroke="red" stroke-dasharray="4 2"><g transform="scale(.001)"><path stroke-dasharray="4000 2000" d="M0 0L900000 900000"/></g></g>',
      ),
    ],
    ['500 layers', svg('<g opacity=".5"/>'.repeat(500))],
    ['32 nested layers', svg(nested(32, '<g opacity=".9">'))],
    [
      'any number of opacities that are none',
      svg('<g opacity="1"/><g opacity="1.0"/><g opacity="2.5"/><g opacity="150%"/>'.repeat(1250)),
    ],
    ['any number of opacities of nothing around', svg('<g opacity="inherit"/>'.repeat(5000))],
    [
      'any number of paints without references',
      svg(`<style>*{fill:red}</style>${'<g fill="red"/>'.repeat(15_000)}`),
    ],
    ['49,000 elements by use', svg(`<g id="l0">${'<path/>'.repeat(480)}</g>${levels(1, 50)}`)],
    [
      'the shadow of a picture',
      filtered('<feFlood/><feOffset/><feGaussianBlur stdDeviation="4"/><feBlend/>'),
    ],
    ['a blur of the picture', filtered('<feGaussianBlur stdDeviation="20"/>')],
    [
      'a shadow of the picture, as editors write it',
      filtered(
        '<feFlood/><feColorMatrix/><feOffset/><feGaussianBlur stdDeviation="4"/><feColorMatrix/><feBlend/><feBlend/>',
        'color-interpolation-filters="sRGB"',
      ),
    ],
    ['a drop shadow by its function', svg('<rect style="filter:drop-shadow(1px 2px 3px)"/>')],
    [
      'small shadows, as editors write them',
      svg(
        `<filter id="f" x="1" y="1" width="60" height="60" filterUnits="userSpaceOnUse"><feFlood/><feColorMatrix/><feOffset/><feGaussianBlur stdDeviation="4"/><feBlend/><feBlend/></filter>${'<g filter="url(#f)"><path/></g>'.repeat(40)}`,
      ),
    ],
    [
      'small shapes with blurs',
      svg(
        `<filter id="f"><feGaussianBlur stdDeviation="2"/></filter>${'<circle r="9" filter="url(#f)"/>'.repeat(60)}`,
      ),
    ],
    [
      'a picture of gradients of many colours',
      svg(
        `<linearGradient id="a">${'<stop stop-color="red"/>'.repeat(64)}</linearGradient>${'<rect width="200" height="200" fill="url(#a)"/>'.repeat(300)}`,
      ),
    ],
    [
      'a chart with a style sheet, as programs write it',
      svg(
        `<style>${Array.from({ length: 80 }, (_, at) => `#chart .c${at} path,#chart g.node>rect:not(.a){fill:#123}`).join('')}</style><g id="chart">${'<g class="node c1"><g><rect class="a b"/><path class="b"/></g></g>'.repeat(700)}</g>`,
      ),
    ],
    [
      'a map of countries with a style sheet, as editors write it',
      svg(
        `<style>${each(250, (at) => `#map .country.c${at} path{fill:#123}#map .country.c${at}:hover path{fill:red}`)}</style><g id="map">${each(250, (at) => `<g class="country c${at}">${'<path/>'.repeat(12)}</g>`)}</g>`,
      ),
    ],
    [
      'a chart whose parts light up beside each other',
      svg(
        `<style>${each(60, (at) => `.a${at}:hover ~ .b${at} path{fill:red}`)}</style>${each(60, (at) => `<g class="a${at}"/><g class="b${at}">${'<path/>'.repeat(60)}</g>`)}`,
      ),
    ],
    [
      'dashes that are made nothing of, as animations begin',
      svg(
        '<g stroke="red" stroke-dasharray="3" transform="scale(0)"><path d="M0 0L9 9"/><rect width="100%" height="9"/></g>',
      ),
    ],
    ['a reference to a missing element', svg('<use href="#none"/>')],
    ['an icon with a shadow, as design tools write it', shadowed(1)],
    [
      'a diagram in percentages, with dashes of the size of its letters',
      svg(
        `<svg x="5%" width="100%" height="100%" font-size="12" stroke="red" stroke-width=".2%">${'<line x2="90%" y2="90%" stroke-dasharray="1em 2%"/>'.repeat(20)}</svg>`,
      ),
    ],
    ['an unused filter', svg('<filter id="f"><feTurbulence numOctaves="99"/></filter>')],
  ])('accept %s', (_, document) => {
    expect(outcome(document)).toBe('taken');
  });

  it('reject too many rules for the classes of its elements before the rest of the file is read', () => {
    const rules = `<style>${'.b{fill:red}'.repeat(2000)}</style>`;
    const elements = `<path class="${'a '.repeat(9000)}"/>`.repeat(4);
    // The trailing `<` is malformed XML: parsing the whole document would return decode_failed.
    expect(outcome(svg(`${rules}${elements}<`))).toBe('image_too_large');
    expect(outcome(svg(`${elements}${rules}<`))).toBe('image_too_large');
    expect(outcome(svg(`${rules}<`))).toBe('decode_failed');
  });
});
