/**
 * The cost of matching rules to elements, in nanoseconds of one core, measured with librsvg: every selector is tried at
 * every element, and followed from there. Spec: Limits, Uploads (SVG complexity).
 */
import type { AppliedStyles } from './applied-styles.ts';
import { childElements, type SvgNode } from './svg-node.ts';

const MATCH_NS = 250;
const LEVEL_STEP_NS = 350;
const CLIMBING_STEP_NS = 150;
const SIBLING_NS = 100;
/** Per selector and class of an element: the classes are read again each time. */
const CLASS_SHARE = 0.6;
/** Per character of the classes, or of another value in which a selector searches on its way. */
const CHARACTER_SHARE = 0.16;
/** Per character when the selector ends there. */
const LETTER_WITHIN_NS = 22;

/**
 * The weight of examining an element's siblings, those of all its ancestors, and each of all these.
 */
type Around = { readonly widest: number; readonly climb: number; readonly crowd: number };

export function stylesCost(styles: AppliedStyles, root: SvgNode): number {
  if (styles.rule_count === 0) return 0;
  const weighed = weigh(styles, root);
  const { looked } = weighed;
  return costBelow(styles, weighed, { widest: looked, climb: looked, crowd: looked });
}

/**
 * The weight of an element by its classes, the letters of the values in which rules search, and the
 * larger weight of the two.
 */
type Weighed = {
  readonly node: SvgNode;
  readonly weight: number;
  readonly letters: number;
  readonly looked: number;
};

function weigh({ looked_within }: AppliedStyles, node: SvgNode): Weighed {
  const weight = weightOf(node);
  let letters = 0;
  // By the element's attributes, which are fewer than those in which rules may search.
  for (const [name, value] of node.attributes) {
    if (looked_within.has(name)) letters = Math.max(letters, value.length);
  }
  return { node, weight, letters, looked: Math.max(weight, letters * CHARACTER_SHARE) };
}

function costBelow(
  styles: AppliedStyles,
  { node, weight, letters }: Weighed,
  around: Around,
): number {
  const { level, climbing, siblings } = styles.stepsFrom(node);
  let ns =
    matchesCost(styles.rule_count, weight) + styles.within_count * letters * LETTER_WITHIN_NS;
  ns += level * around.widest * LEVEL_STEP_NS + climbing * around.climb * CLIMBING_STEP_NS;
  ns += siblings * around.crowd * SIBLING_NS;
  const children = childElements(node).map((child) => weigh(styles, child));
  const widest = children.reduce((most, { looked }) => Math.max(most, looked), 0);
  // Selectors that count siblings go over all of them for each; a position has no letters.
  const pairs = children.length ** 2 / 2;
  ns += (styles.sibling_count * widest + styles.counting_count) * pairs * SIBLING_NS;
  const crowd = around.crowd + children.reduce((sum, { looked }) => sum + looked, 0);
  const within = { widest, climb: around.climb + widest, crowd };
  for (const child of children) ns += costBelow(styles, child, within);
  return ns;
}

/**
 * The least cost of this many selectors at elements of this total weight, whatever the selectors
 * are.
 */
export function matchesCost(selectors: number, weight: number): number {
  return selectors * weight * MATCH_NS;
}

/** How many times longer a selector takes at this element than at one with a single short class. */
export function weightOf({ attributes }: Pick<SvgNode, 'attributes'>): number {
  const classes = attributes.get('class') ?? '';
  return Math.max(1, countWords(classes) * CLASS_SHARE, classes.length * CHARACTER_SHARE);
}

/** Without splitting the text: there may be a million words. */
function countWords(text: string): number {
  let count = 0;
  let isWithin = false;
  for (let at = 0; at < text.length; at += 1) {
    const isOfWord = !isSpace(text.charCodeAt(at));
    if (isOfWord && !isWithin) count += 1;
    isWithin = isOfWord;
  }
  return count;
}

/**
 * The characters at which librsvg splits classes, and a few near them: counting too many words is
 * safe.
 */
function isSpace(code: number): boolean {
  if (code <= 0x20) return true;
  if (code < 0x80) return false;
  const isOfBlock = code >= 0x2000 && code <= 0x205f;
  return isOfBlock || code === 0x85 || code === 0xa0 || code === 0x1680 || code === 0x3000;
}
