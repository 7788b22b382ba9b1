/** SVG files that cost more than they show: nested too deeply, with too many parts, too large, or drawn repeatedly. */
import { gzipSync } from 'node:zlib';
import type { HostileFile } from './hostile-corpus.ts';
import { slowDrawings } from './svg-slow.ts';

const svg = (content: string, size = 'width="1000" height="1000"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${size}>${content}</svg>`;
const filtered = (primitives: string, filter = '') =>
  svg(
    `<filter id="f" ${filter}>${primitives}</filter><rect width="1000" height="1000" filter="url(#f)"/>`,
  );
const nested = (depth: number, open: string, close = '</g>') =>
  open.repeat(depth) + close.repeat(depth);
/** Each level uses the one below it `times` times. */
const levels = (depth: number, times: number) =>
  Array.from(
    { length: depth },
    (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(times)}</g>`,
  ).join('');
const numbered = (count: number, print: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => print(at)).join('');

const TOO_LARGE = 'image_too_large';
const DOCTYPE = 'unsupported_media_type';

export function* svgBombs(): Generator<HostileFile> {
  for (const [name, document] of refused) yield bomb(name, document, TOO_LARGE);
  for (const [name, document] of slowDrawings) yield bomb(`of ${name}`, document, TOO_LARGE);
  for (const [name, document] of doctypes) yield bomb(name, document, DOCTYPE);
  for (const [name, document] of open) yield bomb(name, document);
}

function bomb(name: string, document: string | Buffer, header_code?: string): HostileFile {
  const bytes = Buffer.from(document);
  const file = { family: 'bombs', name: `SVG ${name}`, content_type: 'image/svg+xml', bytes };
  return header_code === undefined ? file : { ...file, header_code };
}

type Named = readonly [name: string, document: string | Buffer];

const refused: readonly Named[] = [
  ['of a hundred blurs', filtered('<feGaussianBlur stdDeviation="20"/>'.repeat(100))],
  ['of two hundred nested layers', svg(nested(200, '<g opacity=".9">'))],
  ['of a hundred thousand elements', svg('<g/>'.repeat(100_000))],
  ['of 300,000 elements', svg('<g/>'.repeat(300_000))],
  ['of elements 100,000 deep', svg(nested(100_000, '<g>'))],
  ['of dropped elements 100,000 deep', svg(nested(100_000, '<x>', '</x>'))],
  ['of 300,000 dropped elements', svg('<x/>'.repeat(300_000))],
  ['of 1.9 MB of text', svg(`<text>${'a'.repeat(1_900_000)}</text>`)],
  ['of 1.9 MB of style', svg(`<style>${'a{fill:red}'.repeat(170_000)}</style>`)],
  ['of 1.9 MB of style attributes', svg(`<g style="${'fill:red;'.repeat(1000)}"/>`.repeat(200))],
  ['of 3 MB', svg(`<path d="${'M0 0'.repeat(750_000)}"/>`)],
  [
    'of a hundred million uses',
    svg(`<defs><rect id="l0" width="1" height="1"/>${levels(8, 10)}</defs><use href="#l8"/>`),
  ],
  ['of uses 30 levels deep', svg(`<defs><rect id="l0"/>${levels(30, 2)}</defs><use href="#l30"/>`)],
  [
    'of references in a circle',
    svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'),
  ],
  [
    'of patterns in patterns',
    svg(
      `${numbered(8, (at) => `<pattern id="p${at}">${`<rect fill="url(#p${at + 1})"/>`.repeat(10)}</pattern>`)}<rect fill="url(#p0)"/>`,
    ),
  ],
  [
    'of masks in masks',
    svg(
      `${numbered(8, (at) => `<mask id="p${at}">${`<rect mask="url(#p${at + 1})"/>`.repeat(10)}</mask>`)}<rect mask="url(#p0)"/>`,
    ),
  ],
  [
    'of markers on markers',
    svg(
      `${numbered(6, (at) => `<marker id="p${at}"><path d="${'M1 1L2 2'.repeat(5)}" marker-mid="url(#p${at + 1})"/></marker>`)}<path d="${'M1 1L2 2'.repeat(50)}" marker-mid="url(#p0)"/>`,
    ),
  ],
  ['of a wide morphology', filtered('<feMorphology radius="100"/>')],
  ['of a wide convolution', filtered('<feConvolveMatrix order="99"/>')],
  ['of a hundred octaves', filtered('<feTurbulence numOctaves="100"/>')],
  ['of an endless blur', filtered('<feGaussianBlur stdDeviation="1e9"/>')],
  [
    'of filters on everything',
    svg(
      `<filter id="f"><feGaussianBlur stdDeviation="2"/></filter>${'<path d="M0 0h9v9z" filter="url(#f)"/>'.repeat(5000)}`,
    ),
  ],
  [
    'of a rule for each element',
    svg(`<style>${'g{fill:red}'.repeat(8000)}</style>${'<g/>'.repeat(19_000)}`),
  ],
];

const entities = (depth: number) =>
  `<!DOCTYPE svg [<!ENTITY e0 "ha">${numbered(depth, (at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`)}]>${svg(`<text>&e${depth};</text>`)}`;

const doctypes: readonly Named[] = [
  ['of a billion laughs', entities(9)],
  [
    'of a quadratic entity',
    `<!DOCTYPE svg [<!ENTITY a "${'a'.repeat(100_000)}">]>${svg(`<text>${'&a;'.repeat(10_000)}</text>`)}`,
  ],
  [
    'that reads a file',
    `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${svg('<text>&a;</text>')}`,
  ],
  ['that asks a server', `<!DOCTYPE svg SYSTEM "http://127.0.0.1:9/a.dtd">${svg('')}`],
  [
    'of parameter entities',
    `<!DOCTYPE svg [<!ENTITY % a SYSTEM "http://127.0.0.1:9/a">%a;]>${svg('')}`,
  ],
];

/** A low drawing, whose raster grid costs little. */
const low = (content: string) => svg(content, 'width="1000" height="100"');

/** Any outcome is accepted if it stays within the resource limits. */
const open: readonly Named[] = [
  ['compressed', gzipSync(Buffer.alloc(20_000_000, 32))],
  ['of 19,000 paths', svg('<path d="M0 0L999 999L0 999z"/>'.repeat(19_000))],
  ['of a long dash', svg('<path d="M0 0L1e9 1e9" stroke="red" stroke-dasharray=".01"/>')],
  [
    'of a selector for all of them',
    low(`<style>${'g '.repeat(500)}{fill:red}</style>${nested(60, '<g>')}`),
  ],
  [
    'of siblings of siblings',
    low(`<style>g:nth-child(3n+1)~g~g~g{fill:red}</style>${'<g/>'.repeat(5000)}`),
  ],
  ['of an endless number', low(`<rect width="1e${'9'.repeat(1000)}" height="9"/>`)],
  ['of a number of a million digits', low(`<rect width="${'9'.repeat(1_000_000)}" height="9"/>`)],
  ['of a million spaces', low(`<rect width="9${' '.repeat(1_000_000)}" height="9"/>`)],
  ['of a million spaces in a transform', low(`<g transform="${'scale( '.repeat(100_000)}"/>`)],
  ['of 100,000 brackets in a style', low(`<g style="fill:${'('.repeat(90_000)}"/>`)],
  ['of a font a million high', low('<text font-size="1000000">a</text>')],
  ['without a size', svg('', '')],
  ['of no size', svg('', 'width="0" height="0"')],
  ['of an endless size', svg('', 'width="1e400" height="1"')],
  ['of a viewBox of nothing', svg('', 'viewBox="0 0 0 0"')],
  ['of nothing', ''],
  ['of white space', ' '.repeat(1_900_000)],
  ['of comments', `<!--${'-'.repeat(10)}${low('')}`],
  ['of a million comments', low('<!---->'.repeat(250_000))],
  ['of instructions', `${'<?a b?>'.repeat(200_000)}${low('')}`],
  ['of attributes', low(`<g ${numbered(50_000, (at) => `a${at}="1" `)}/>`)],
  ['of the same attribute', low(`<g ${'a="1" '.repeat(50_000)}/>`)],
  ['of namespaces', low(`<g ${numbered(30_000, (at) => `xmlns:n${at}="urn:${at}" `)}/>`)],
  ['of ids', low(numbered(15_000, (at) => `<g id="a${at}"/>`))],
  ['of one id', low('<g id="a"/>'.repeat(15_000))],
  ['in UTF-16', Buffer.from(`\ufeff${low('<script/>')}`, 'utf16le')],
  ['in UTF-7', `<?xml version="1.0" encoding="utf-7"?>${low('+ADw-script+AD4-')}`],
  ['with zeros', low('<g>\0</g>')],
  ['with numbers of characters', low('<text>&#x110000;&#0;&#xd800;</text>')],
];
