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
const SPACE_THAT_SAYS_NOTHING = /\s*([>+~,])\s*|(?<=\()\s+|\s+(?=\))/g;

export function selectorSteps(selector: string): SelectorSteps {
  const text = selector.trim().replaceAll(SPACE_THAT_SAYS_NOTHING, '$1');
  if (PLAIN.test(text)) return noSteps;
  const parts = text.match(PARTS)?.length ?? 0;
  if (!/\s/.test(text)) return { ...noSteps, level: parts };
  return { level: 0, climbing: parts + 1, siblings: text.split('~').length - 1 };
}

export function addSteps(one: SelectorSteps, other: SelectorSteps): SelectorSteps {
  return {
    level: one.level + other.level,
    climbing: one.climbing + other.climbing,
    siblings: one.siblings + other.siblings,
  };
}
