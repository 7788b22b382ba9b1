/** From what a scanner scores to the flags that staff see. Spec: Staff, checks; File (status), the automatic scanner. */
import { SCAN_NUDITY_THRESHOLD } from './limits.ts';

/** From 0 to 1 for each thing that a scanner looks for. */
export type Scores = Readonly<Record<string, number>>;

/** The flag that can block by itself, where a project has it so. */
export const NUDITY = 'nudity';

/** Flags in the order of their names. What has no threshold is kept as a score and raises no flag. */
export function raisedFlags(scores: Scores, thresholds: Scores): string[] {
  const all: Scores = { [NUDITY]: SCAN_NUDITY_THRESHOLD, ...thresholds };
  return Object.entries(scores)
    .filter(([name, score]) => Object.hasOwn(all, name) && score >= (all[name] ?? Infinity))
    .map(([name]) => name)
    .sort();
}
