/** What a term remembers about the objects that it wrote. */
import { createRevertedWrites, type RevertedWrites } from '../kube/reverted-writes.ts';
import type { TimedClock } from '../kube/timed-clock.ts';
import { type AdmissionMutations, createAdmissionMutations } from './admission-mutations.ts';

export type WriteHistory = { mutations: AdmissionMutations; reverts: RevertedWrites };

export function createWriteHistory(clock: TimedClock): WriteHistory {
  return { mutations: createAdmissionMutations(clock), reverts: createRevertedWrites(clock) };
}
