/**
 * How far a selector is followed from an element that its last part fits: along its own level, and up through all that
 * it stands in, each of which the rest of the selector is tried at anew. For counting cost, too much is safe.
 */

export type SelectorSteps = {
  readonly level: number;
  /** For each element around. */
  readonly climbing: number;
  /** For each sibling of each of them. */
  readonly siblings: number;
};

export const noSteps: SelectorSteps = { level: 0, climbing: 0, siblings: 0 };

/** An element, a class or an id alone. */
const PLAIN = /^[.#]?[^\s>+~,(.#:[]+$/;
const PARTS = /[>+~,(.#:[]/g;
/** What an element around, or beside it, is asked for. */
const COMPOUNDS = /[\s>+~,(]/g;
/** Of one compound: the first few, such as `g.layer:hover`, take no longer than one. */
const PARTS_AT_ONCE = 3;
/** Where one fails, all that stand before it in a row are looked at anew from the next element around. */
const ADJACENT = /[>+]/g;
const ADJACENT_STEPS = 3;
/** An attribute's word, which is no sibling. */
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
