/**
 * What finding out which rules hold for which elements costs, in nanoseconds of one core, measured with librsvg: every
 * selector is tried at every element, and followed from there. Spec: Limits, Uploads (SVG complexity).
 */
import type { AppliedStyles } from './applied-styles.ts';
import { childElements, type SvgNode } from './svg-node.ts';

const MATCH_NS = 250;
const LEVEL_STEP_NS = 350;
const CLIMBING_STEP_NS = 150;
const SIBLING_NS = 100;
/** Of a selector, for each class that an element has: they are read anew each time. */
const CLASS_SHARE = 0.6;
/** For each character of them, or of another value that a selector looks within on its way. */
const CHARACTER_SHARE = 0.16;
/** Where it ends there. */
const LETTER_WITHIN_NS = 22;

/** How much looking at an element's siblings takes, at those of all around it, and at each of all these. */
type Around = { readonly widest: number; readonly climb: number; readonly crowd: number };

export function stylesCost(styles: AppliedStyles, root: SvgNode): number {
  if (styles.rule_count === 0) return 0;
  const weighed = weigh(styles, root);
  const { looked } = weighed;
  return costBelow(styles, weighed, { widest: looked, climb: looked, crowd: looked });
}

/** By all its classes, and also by the letters of what rules look within; both are counted once. */
type Weighed = {
  readonly node: SvgNode;
  readonly weight: number;
  readonly letters: number;
  readonly looked: number;
};

function weigh({ looked_within }: AppliedStyles, node: SvgNode): Weighed {
  const weight = weightOf(node);
  let letters = 0;
  // Of the two, an element has fewer attributes than rules may look at.
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
  // Selectors that count siblings go over all of them for each; their place has no letters.
  const pairs = children.length ** 2 / 2;
  ns += (styles.sibling_count * widest + styles.counting_count) * pairs * SIBLING_NS;
  const crowd = around.crowd + children.reduce((sum, { looked }) => sum + looked, 0);
  const within = { widest, climb: around.climb + widest, crowd };
  for (const child of children) ns += costBelow(styles, child, within);
  return ns;
}

/** Of so many selectors, at elements that weigh so much together: the least that they cost, however they look. */
export function matchesCost(selectors: number, weight: number): number {
  return selectors * weight * MATCH_NS;
}

/** How much longer than at an element of one short class a selector takes at this one. */
export function weightOf({ attributes }: Pick<SvgNode, 'attributes'>): number {
  const classes = attributes.get('class') ?? '';
  return Math.max(1, countWords(classes) * CLASS_SHARE, classes.length * CHARACTER_SHARE);
}

/** Without making them: there may be a million. */
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

/** What librsvg parts classes at, and a few signs near it: too many words are safe. */
function isSpace(code: number): boolean {
  if (code <= 0x20) return true;
  if (code < 0x80) return false;
  const isOfBlock = code >= 0x2000 && code <= 0x205f;
  return isOfBlock || code === 0x85 || code === 0xa0 || code === 0x1680 || code === 0x3000;
}
