/**
 * What long values of properties take: librsvg gives each element a copy of all that holds around it, whether it
 * uses it or not, and holds it to the end. Measured. Spec: Limits, Uploads (SVG complexity).
 */
import { svgProperties } from '../../../core/image/svg-rules.ts';
import { styleRules } from './applied-styles.ts';
import { type Declaration, readDeclarations } from './style.ts';
import { allElements, type SvgNode } from './svg-node.ts';

/** So many characters of a value are part of what any element takes. */
const SHORT_VALUE = 100;
/** Of a character: two are a number of dashes, eight a function of a transform. */
const LIST_BYTES = 16;
const LISTS = new Set(['stroke-dasharray', 'transform']);

/** For each element as it is read, and again as it is drawn. */
export const COPY_NS = 1.2;

/** Of the longest value of each property, as all elements may have it. */
export function copiedBytes(root: SvgNode): number {
  const longest = new Map<string, number>();
  const note = ([property, { length }]: Declaration) => {
    if (length > (longest.get(property) ?? SHORT_VALUE)) longest.set(property, length);
  };
  for (const { attributes } of allElements(root)) {
    for (const own of attributes) if (svgProperties.has(own[0])) note(own);
    const style = attributes.get('style') ?? '';
    if (style.length > SHORT_VALUE) readDeclarations(style).forEach(note);
  }
  for (const { declarations } of styleRules(root)) declarations.forEach(note);
  return Array.from(
    longest,
    ([property, length]) => (length - SHORT_VALUE) * (LISTS.has(property) ? LIST_BYTES : 1),
  ).reduce((sum, bytes) => sum + bytes, 0);
}
