/**
 * What only a restart can fix: a part of this process that is stuck while everything it depends on works. An API server
 * or a database that is down does not count, nor does a refusal. Pure.
 */
import { MINUTE_MS } from '../runtime/core/durations.ts';
import type { CacheHealth } from './kube/cache-health.ts';

export type LivenessInput = {
  caches: readonly Pick<CacheHealth, 'unheard_ms'>[];
  /** For how long the API server has been answering this process without interruption. */
  answering_ms: number;
  /** Of the longest-running pass; a pass is told to stop after two minutes. */
  longest_pass_ms: number;
  /**
   * For how long the work of an ended term has been going on: others are unaffected, but this
   * process cannot lead again.
   */
  overdue_ms: number;
};

/** `answering`: caches pause for at most half a minute before they try again. */
const LONGEST_MS = {
  unheard: 30 * MINUTE_MS,
  answering: 5 * MINUTE_MS,
  pass: 15 * MINUTE_MS,
  overdue: 15 * MINUTE_MS,
};

export function findStuck(input: LivenessInput): string | undefined {
  const { caches, answering_ms, longest_pass_ms, overdue_ms } = input;
  const isUnheard = caches.some(({ unheard_ms }) => unheard_ms > LONGEST_MS.unheard);
  if (isUnheard && answering_ms > LONGEST_MS.answering) {
    return 'a watch receives nothing, although the API server answers';
  }
  if (longest_pass_ms > LONGEST_MS.pass) return 'a pass does not end';
  return overdue_ms > LONGEST_MS.overdue
    ? 'the work of a term that has ended does not end'
    : undefined;
}
