/**
 * Turns a scanner's scores into the flags that staff see. Spec: Staff, checks; File (status), the automatic scanner.
 */
import { SCAN_NUDITY_THRESHOLD } from './limits.ts';

/** From 0 to 1 for each label of a scanner. */
export type Scores = Readonly<Record<string, number>>;

/** The only flag that can block by itself, if the project allows it. */
export const NUDITY = 'nudity';

/** Flags sorted by name. A score without a threshold is kept and raises no flag. */
export function raisedFlags(scores: Scores, thresholds: Scores): string[] {
  const all: Scores = { [NUDITY]: SCAN_NUDITY_THRESHOLD, ...thresholds };
  return Object.entries(scores)
    .filter(([name, score]) => Object.hasOwn(all, name) && score >= (all[name] ?? Infinity))
    .map(([name]) => name)
    .sort();
}
