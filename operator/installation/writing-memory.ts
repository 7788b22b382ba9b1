/** What a term remembers about the objects that it wrote. */
import { createQuarrels, type Quarrels } from '../kube/quarrels.ts';
import type { TimedClock } from '../kube/timed-clock.ts';
import { type Became, createBecame } from './became.ts';

export type WritingMemory = { became: Became; quarrels: Quarrels };

export function createWritingMemory(clock: TimedClock): WritingMemory {
  return { became: createBecame(clock), quarrels: createQuarrels(clock) };
}
