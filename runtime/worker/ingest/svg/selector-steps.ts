/**
 * How far a selector is followed from an element that matches its last part: along its level, and up through all
 * ancestors, at each of which the rest of the selector is tried again. For counting cost, too much is safe.
 */

export type SelectorSteps = {
  readonly level: number;
  /** Per ancestor. */
  readonly climbing: number;
  /** Per sibling of each ancestor. */
  readonly siblings: number;
};

export const noSteps: SelectorSteps = { level: 0, climbing: 0, siblings: 0 };

/** A single element, class or id. */
const PLAIN = /^[.#]?[^\s>+~,(.#:[]+$/;
const PARTS = /[>+~,(.#:[]/g;
/** Separators of compounds, each of which tests an ancestor or a sibling. */
const COMPOUNDS = /[\s>+~,(]/g;
/** The first parts of a compound, such as `g.layer:hover`, take no longer than one. */
const PARTS_AT_ONCE = 3;
/** When one fails, the whole run of compounds before it is tried again from the next ancestor. */
const ADJACENT = /[>+]/g;
const ADJACENT_STEPS = 3;
/** The attribute operator for a word, which is not a sibling combinator. */
const WORD_OF = /~=/g;
const SPACE_THAT_SAYS_NOTHING = /\s*([>+~,])\s*|(?<=\()\s+|\s+(?=\))/g;

export function selectorSteps(selector: string): SelectorSteps {
  const text = selector.trim().replaceAll(WORD_OF, '=').replaceAll(SPACE_THAT_SAYS_NOTHING, '$1');
  if (PLAIN.test(text)) return noSteps;
  const parts = text.match(PARTS)?.length ?? 0;
  if (!/\s/.test(text)) return { ...noSteps, level: parts };
  const compounds = (text.match(COMPOUNDS)?.length ?? 0) + 1;
  const adjacent = text.match(ADJACENT)?.length ?? 0;
  const more = Math.max(0, parts - PARTS_AT_ONCE * compounds);
  const climbing = compounds + adjacent * ADJACENT_STEPS + more;
  return { level: 0, climbing, siblings: text.split('~').length - 1 };
}

export function addSteps(one: SelectorSteps, other: SelectorSteps): SelectorSteps {
  return {
    level: one.level + other.level,
    climbing: one.climbing + other.climbing,
    siblings: one.siblings + other.siblings,
  };
}
