import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';
import { psnr } from '../../../../support/pictures.ts';

const root = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
const clean = (document: string) => sanitizeSvg(Buffer.from(document)).vector;
const draw = (document: string) =>
  sharp(Buffer.from(document)).ensureAlpha().raw().toBuffer({ resolveWithObject: true });

const drawings: [name: string, document: string][] = [
  [
    'a stroked icon',
    `<svg ${root} width="96" height="96" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M3 9l9-7 9 7v11a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z"/><polyline points="9 22 9 12 15 12 15 22"/></svg>`,
  ],
  [
    'a filled icon with holes',
    `<svg ${root} width="96" height="96" viewBox="0 0 24 24"><path fill-rule="evenodd" clip-rule="evenodd" d="M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 5a5 5 0 1 1 0 10 5 5 0 0 1 0-10z" fill="#c33"/></svg>`,
  ],
  [
    'gradients that share stops',
    `<svg ${root} viewBox="0 0 90 60"><defs><linearGradient id="a"><stop offset="0" stop-color="#f00"/><stop offset="50%" style="stop-color:#0f0;stop-opacity:.5"/><stop offset="1" stop-color="blue"/></linearGradient><radialGradient id="b" xlink:href="#a" gradientUnits="userSpaceOnUse" cx="60" cy="30" r="30" fx="50" gradientTransform="rotate(5 60 30)" spreadMethod="reflect"/></defs><rect width="45" height="60" fill="url(#a)"/><circle cx="66" cy="30" r="22" style="fill:url('#b');stroke:url( #a );stroke-width:3"/></svg>`,
  ],
  [
    'text in several fonts, along a path and spaced',
    `<svg ${root} width="200" height="120"><path id="t" d="M10 100 Q 100 40 190 100" fill="none"/><text x="10" y="30" font-family="'DejaVu Sans', Arial, sans-serif" font-size="20" font-weight="bold">A &amp; B <tspan fill="red" dy="5">ü € 漢</tspan></text><text xml:space="preserve" x="10" y="60" style="font:italic 14px serif;letter-spacing:2px">a   b</text><text text-anchor="middle"><textPath xlink:href="#t" startOffset="50%">along the path</textPath></text></svg>`,
  ],
  [
    'clip paths and masks',
    `<svg ${root} width="100" height="100"><clipPath id="c" clipPathUnits="objectBoundingBox"><circle cx=".5" cy=".5" r=".5"/></clipPath><mask id="m" maskUnits="userSpaceOnUse" x="0" y="0" width="100" height="100"><rect width="100" height="100" fill="white"/><path d="M0 0L100 100" stroke="black" stroke-width="20"/></mask><g clip-path="url(#c)"><rect width="100" height="100" fill="teal" mask="url(#m)"/></g></svg>`,
  ],
  [
    'symbols and uses',
    `<svg ${root} width="100" height="100"><symbol id="s" viewBox="0 0 10 10" preserveAspectRatio="xMinYMin"><rect width="10" height="10" rx="2"/><circle cx="5" cy="5" r="3" fill="white"/></symbol><defs><g id="g"><use xlink:href="#s" width="20" height="20"/></g></defs><use href="#s" x="10" y="10" width="40" height="40" fill="navy"/><use xlink:href="#g" transform="translate(60 60) rotate(20)"/></svg>`,
  ],
  [
    'patterns and markers',
    `<svg ${root} width="100" height="100"><pattern id="p" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="10" fill="orange"/></pattern><marker id="m" viewBox="0 0 10 10" refX="5" refY="5" markerWidth="6" markerHeight="6" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z"/></marker><rect width="100" height="50" fill="url(#p)"/><polyline points="10,90 50,60 90,90" fill="none" stroke="black" stroke-width="2" marker-start="url(#m)" marker-mid="url(#m)" marker-end="url(#m)"/></svg>`,
  ],
  [
    'style sheets, with comments and selectors',
    `<svg ${root} width="100" height="100"><style type="text/css"><![CDATA[/* made by hand */ .a, #b > rect:first-child { fill : #0a0 ; stroke:#000!important } .c{opacity:.5;fill:rgba(255, 0, 0, .5)} g rect[width="20"]{fill:hsl(200,50%,50%)} @media screen{.d{fill:pink}}]]></style><rect class="a" width="40" height="40"/><g id="b"><rect x="50" width="40" height="40"/><rect y="50" width="20" height="20"/></g><circle class="c d" cx="60" cy="70" r="25"/></svg>`,
  ],
  [
    'filters',
    `<svg ${root} width="100" height="100"><filter id="f" x="-20%" y="-20%" width="140%" height="140%"><feGaussianBlur in="SourceAlpha" stdDeviation="3"/><feOffset dx="4" dy="4" result="o"/><feComponentTransfer><feFuncA type="linear" slope=".5"/></feComponentTransfer><feMerge><feMergeNode/><feMergeNode in="SourceGraphic"/></feMerge></filter><rect x="20" y="20" width="50" height="50" fill="gold" filter="url(#f)"/></svg>`,
  ],
  [
    'a linked part of a chart',
    `<svg ${root} width="100" height="60"><a xlink:href="https://example.com" fill="green"><rect x="5" y="20" width="20" height="40"/><text x="30" y="50"><a href="/x" fill="red">40 %</a></text></a></svg>`,
  ],
  [
    'another namespace prefix and editor metadata',
    `<?xml version="1.0" encoding="UTF-8" standalone="no"?><!-- Created with an editor --><svg xmlns="http://www.w3.org/2000/svg" xmlns:s="http://www.w3.org/2000/svg" xmlns:ed="urn:editor" width="30mm" height="2cm" viewBox="0 0 30 20" ed:version="1"><ed:view zoom="2"/><s:metadata><x/></s:metadata><s:g ed:label="Layer 1" transform="matrix(1 0 0 1 2 2)"><s:rect width="20" height="10" style="fill:#123456;-ed-note:x;marker:none"/></s:g></svg>`,
  ],
  [
    'percentages and nested pictures',
    `<svg ${root} width="120" height="80"><rect width="100%" height="50%" fill="#eee"/><svg x="10" y="10" width="50%" height="50%" viewBox="0 0 10 10" preserveAspectRatio="none"><circle cx="5" cy="5" r="5" fill="purple"/></svg><switch><g systemLanguage="xx"><rect width="9" height="9"/></g><g><rect x="80" width="9" height="9"/></g></switch></svg>`,
  ],
  [
    'dashes, blends and visibility',
    `<svg ${root} width="100" height="100"><path d="M5 5h90v90h-90z" fill="none" stroke="#555" stroke-dasharray="8, 4 2" stroke-dashoffset="3"/><g style="isolation:isolate"><circle cx="40" cy="50" r="25" fill="cyan"/><circle cx="60" cy="50" r="25" fill="magenta" style="mix-blend-mode:multiply"/></g><rect width="9" height="9" display="none"/><rect x="80" width="9" height="9" visibility="hidden"/></svg>`,
  ],
  [
    'Latin-1',
    `<?xml version="1.0" encoding="iso-8859-1"?><svg ${root} width="60" height="30"><text y="20">caf\u00e9</text></svg>`,
  ],
];

describe('sanitizing a harmless SVG', () => {
  it.each(drawings)('keeps its look: %s', async (name, document) => {
    const bytes = Buffer.from(document, name.startsWith('Latin') ? 'latin1' : 'utf8');
    const before = await draw(document.replace(/ encoding="iso-8859-1"/, ''));
    const after = await draw(sanitizeSvg(bytes).vector);
    expect(after.info).toEqual(before.info);
    expect(psnr(after.data, before.data)).toBe(Number.POSITIVE_INFINITY);
    expect(
      (await sharp(Buffer.from(document)).stats()).channels.some(({ stdev }) => stdev > 1),
    ).toBe(true);
  });

  it.each(drawings)('changes nothing when it is repeated: %s', (_, document) => {
    const once = clean(document.replace('iso-8859-1', 'utf-8'));
    expect(clean(once)).toBe(once);
  });

  it.each([
    ['its size', 'width="300" height="150"', [2048, 1024]],
    ['its size in millimeters', 'width="20mm" height="10mm"', [2048, 1024]],
    ['its viewBox', 'viewBox="0 0 24 24"', [2048, 2048]],
    [
      'its viewBox if its size is relative',
      'width="100%" height="100%" viewBox="5,5,10,20"',
      [1024, 2048],
    ],
    ['one side and its viewBox', 'width="100" viewBox="0 0 10 20"', [1024, 2048]],
    ['the other side and its viewBox', 'height="100" viewBox="0 0 10 20"', [1024, 2048]],
    ['a sufficient size', 'width="3000" height="1000"', [3000, 1000]],
    ['a size above the limit', 'width="8192" height="2048"', [4096, 1024]],
    ['a size far above the limit', 'width="100000" height="100000"', [2048, 2048]],
    ['a line', 'width="1000000" height="1"', [16_383, 1]],
  ])('draws it on a grid given by %s', (_, size, [width, height]) => {
    const { drawing } = sanitizeSvg(Buffer.from(`<svg ${root} ${size}/>`));
    // Sizes in the drawing are in the renderer's unit: 0.75 per grid pixel.
    expect(drawing).toContain(` width="${Number(width) * 0.75}"`);
    expect(drawing).toContain(` height="${Number(height) * 0.75}"`);
    expect(drawing).toMatch(/viewBox="/);
  });

  it('never draws it on a grid above the allowed area', () => {
    const side = fc.double({ min: 0.01, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(side, side, (width, height) => {
        const { drawing } = sanitizeSvg(
          Buffer.from(`<svg ${root} viewBox="0 0 ${width} ${height}"/>`),
        );
        const [across = 0, down = 0] = ['width', 'height'].map(
          (name) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(drawing)?.[1]) / 0.75,
        );
        expect(across * down).toBeLessThanOrEqual(2048 * 2048);
        expect(Math.max(across, down)).toBeGreaterThanOrEqual(2047);
      }),
    );
  });
});

const piece = fc.constantFrom(
  ...`< > & " ' \\ / * ; : { } ( ) [ ] @ # . , ! - + = url( url(#a) url("#a") rgb( rgb(1,2,3) fill stroke red opacity 1 2px .5e3 50% #fff 'a' "b" @media @import /* */ --x :not( > ~ é`.split(
    ' ',
  ),
  ' ',
  '\n',
  '\t',
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const xml = (raw: string) =>
  raw
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
const names = 'g a text tspan rect use style script title x'.split(' ');
const keys = 'fill style id class href onload filter d x aria-label'.split(' ');
const attributes = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...keys), text), {
    maxLength: 3,
    selector: ([name]) => name,
  })
  .map((all) => all.map(([key, value]) => ` ${key}="${xml(value)}"`).join(''));
const { node } = fc.letrec<{ node: string; element: string }>((tie) => ({
  node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, text.map(xml), tie('element')),
  element: fc
    .tuple(
      fc.constantFrom(...names),
      attributes,
      fc.array(tie('node') as fc.Arbitrary<string>, { maxLength: 3 }),
    )
    .map(([name, printed, children]) => `<${name}${printed}>${children.join('')}</${name}>`),
}));

describe('sanitizing an arbitrary SVG', () => {
  it('changes nothing when it is repeated', () => {
    fc.assert(
      fc.property(node, (content) => {
        const once = clean(`<svg ${root} viewBox="0 0 9 9">${content}</svg>`);
        expect(clean(once)).toBe(once);
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps no style with an import, an escape or a foreign URL, and repeating it changes no style', () => {
    fc.assert(
      fc.property(text, (css) => {
        const once = clean(
          `<svg ${root} viewBox="0 0 9 9"><style>${xml(css)}</style><g style="${xml(css)}" fill="${xml(css)}"/></svg>`,
        );
        expect(clean(once)).toBe(once);
        expect(once).not.toMatch(/@import|\\|url\((?!#a\))/);
      }),
      { numRuns: 2000 },
    );
  });
});
