/**
 * The cost of long property values: librsvg gives each element a copy of all inherited values, used or not, and keeps
 * it to the end. Measured. Spec: Limits, Uploads (SVG complexity).
 */
import { svgProperties } from '../../../core/image/svg-rules.ts';
import { styleRules } from './applied-styles.ts';
import { type Declaration, readDeclarations } from './style.ts';
import { allElements, type SvgNode } from './svg-node.ts';

/** Characters of a value that are already part of any element's cost. */
const SHORT_VALUE = 100;
/**
 * Bytes per character and copy: two characters make one number of a dash array, eight one function
 * of a transform.
 */
const LETTER_BYTES: Readonly<Record<string, number>> = {
  'stroke-dasharray': 16,
  transform: 16,
  // A shorthand for three properties.
  marker: 6,
};
const PLAIN_LETTER_BYTES = 2;
/**
 * A rule's values are copied for each matching element, and inherited values again for its
 * contents.
 */
const COPIES_OF_RULES = 2;

/** Per element when it is read, and again when it is drawn. */
export const COPY_NS = 1.2;

/** Based on the longest value of each property, as all elements may have it. */
export function copiedBytes(root: SvgNode): number {
  const longest = new Map<string, number>();
  const note = (copies: number, [property, { length }]: Declaration) => {
    const letters = copies * Math.max(0, length - SHORT_VALUE);
    if (letters > (longest.get(property) ?? 0)) longest.set(property, letters);
  };
  for (const { attributes } of allElements(root)) {
    for (const own of attributes) if (svgProperties.has(own[0])) note(1, own);
    const style = attributes.get('style') ?? '';
    if (style.length > SHORT_VALUE) for (const own of readDeclarations(style)) note(1, own);
  }
  for (const { declarations } of styleRules(root)) {
    for (const declaration of declarations) note(COPIES_OF_RULES, declaration);
  }
  return [...longest].reduce((sum, [property, letters]) => {
    return sum + letters * (LETTER_BYTES[property] ?? PLAIN_LETTER_BYTES);
  }, 0);
}
