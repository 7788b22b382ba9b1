/** Small SVG files that take a renderer seconds, because a part of them becomes far larger than the image. */
import { seededRandom } from './pictures.ts';
import type { Slow } from './svg-slow-texts.ts';
import { square as svg } from './svg-square.ts';

/**
 * Curves with coordinates of at most 1, for documents that scale this unit far beyond the image.
 */
const farCurves = `M0 0${'C1 1-1 1 .0002 .0002'.repeat(350)}`;
/** A stroked line that crosses itself repeatedly within a square of this side. */
function randomPath(side: number, corners: number, as: string): string {
  const random = seededRandom(corners);
  const place = () => `L${random() * side} ${random() * side}`;
  const line = Array.from({ length: corners }, place).join('');
  return `<path fill="none" stroke="red" stroke-linecap="round" ${as} d="M0 0${line}"/>`;
}
const masked = (content: string) => `<g mask="url(#m)">${content}</g>`;

export const largeDrawings: readonly Slow[] = [
  [
    'curves of a symbol that its use makes as large',
    svg(
      `<symbol id="s" viewBox="0 0 1 1"><path d="${farCurves}"/></symbol><use href="#s" width="7e6" height="7e6"/>`,
    ),
  ],
  [
    'curves of a symbol that covers the side that its use does not say',
    svg(
      `<symbol id="s" viewBox="0 0 1 1" preserveAspectRatio="xMinYMin slice"><path d="${farCurves}"/></symbol><svg width="7e6" height="7e6"><use href="#s" width=".1"/></svg>`,
    ),
  ],
  [
    'dashes of strokes that only a word for their size makes thin',
    svg(
      `<g stroke="red" stroke-width="50" stroke-dasharray=".1">${'<path stroke-width="thin" d="M0 0L900 900"/>'.repeat(100)}</g>`,
    ),
  ],
  [
    'curves in viewports each five times the one around',
    svg(
      `${'<svg width="500%">'.repeat(5)}<svg viewBox="0 0 1 1"><path d="${farCurves}"/></svg>${'</svg>'.repeat(5)}`,
    ),
  ],
  [
    'curves of a mask in shares of a box as large',
    svg(
      `<mask id="m" maskContentUnits="objectBoundingBox"><path d="${farCurves}"/></mask>${masked('<rect width="7e6" height="7e6"/>')}`,
    ),
  ],
  [
    'curves of a mask in shares of what lies as far apart',
    svg(
      `<mask id="m" maskContentUnits="objectBoundingBox"><path d="${farCurves}"/></mask>${masked('<rect width="9" height="9"/><g transform="translate(7e6)"><rect width="9" height="9"/></g>')}`,
    ),
  ],
  ...['transform="scale(7e6)"', 'stroke-width="7e6"', 'stroke-width="4e5%"'].map(
    (large): Slow => [
      `curves of a marker of a path with ${large}`,
      svg(
        `<marker id="m"><path d="${farCurves}"/></marker><g marker-end="url(#m)"><path d="M0 0h9" ${large}/></g>`,
      ),
    ],
  ),
  [
    'curves of a marker whose viewBox is made as large',
    svg(
      `<marker id="m" viewBox="0 0 1 1" markerWidth="7e6" markerHeight="7e6"><path d="${farCurves}"/></marker><path d="M0 0h9" marker-end="url(#m)"/>`,
    ),
  ],
  [
    'dashes along shares of a viewport of a million',
    svg(
      `<svg width="1e6" height="1e6">${'<line y1="3" y2="3" x2="100%" stroke="red" stroke-dasharray="1"/>'.repeat(10)}</svg>`,
    ),
  ],
  [
    'dashes along shares of large markers',
    svg(
      `<marker id="m" markerUnits="userSpaceOnUse" markerWidth="3e6" markerHeight="3e6" overflow="visible"><line x2="100%" y2="100%" stroke="red" stroke-dasharray="2"/></marker><polyline marker-mid="url(#m)" points="${'0 0 1 1 '.repeat(50)}"/>`,
    ),
  ],
  [
    'wide dashes in shares of a viewport inside',
    svg(
      `<g stroke-width="3%"><svg viewBox="0 0 204800 204800">${randomPath(204_800, 600, 'stroke-dasharray="100"')}</svg></g>`,
    ),
  ],
  [
    'wide dashes by letters larger than those around',
    svg(
      `<g font-size="1" stroke-width="1em">${randomPath(2048, 600, 'font-size="60" stroke-dasharray="2"')}</g>`,
    ),
  ],
  ...['stroke-dasharray=".2%"', 'stroke-dasharray="1em" font-size=".002"'].map(
    (dashes): Slow => [
      `many dashes in a small viewport: ${dashes}`,
      svg(`<svg viewBox="0 0 1 1">${randomPath(1, 1500, `stroke-width=".03" ${dashes}`)}</svg>`),
    ],
  ),
  ...['1e14', '1e14%', '1e13em'].map(
    (width): Slow => [
      `a stroke of ${width}`,
      svg(`<path stroke="red" stroke-linejoin="round" stroke-width="${width}" d="M0 0L9 9L3 2"/>`),
    ],
  ),
  [
    'strokes of a billion',
    svg('<path stroke="red" d="M0 0c9 9 0 9 1 1" stroke-width="1e9"/>'.repeat(200)),
  ],
  [
    'a stroke that only a rule for others makes thin',
    svg(
      '<style>path:not(g){stroke-width:1e-14px}g path{stroke-width:1e-14px}</style><path stroke="red" transform="scale(1e14)" d="M0 0c9 9 0 9 1 1"/>',
    ),
  ],
  ...['patternContentUnits="objectBoundingBox"', ''].map(
    (units): Slow => [
      `small tiles beside what is large ${units}`,
      svg(
        `<pattern id="p" width="1" height="1" patternUnits="userSpaceOnUse" ${units}><rect width=".001" height=".001"/></pattern><g fill="url(#p)"><g transform="scale(500)"><path d="M0 0h1v1z"/></g>${'<rect width="2048" height="2048" fill="url(#p)"/>'.repeat(4)}</g>`,
      ),
    ],
  ),
];
