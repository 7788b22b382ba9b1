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
/** Of a character, each time that it is copied: two are a number of dashes, eight a function of a transform. */
const LETTER_BYTES: Readonly<Record<string, number>> = {
  'stroke-dasharray': 16,
  transform: 16,
  // It stands for three.
  marker: 6,
};
const PLAIN_LETTER_BYTES = 2;
/** A rule's are copied for each element that it holds for, and those of an element around for what is in it. */
const COPIES_OF_RULES = 2;

/** For each element as it is read, and again as it is drawn. */
export const COPY_NS = 1.2;

/** Of the longest value of each property, as all elements may have it. */
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
