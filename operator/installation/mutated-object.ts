/**
 * Changes that admission policies and webhooks of the cluster make to objects as they are written: they are left alone,
 * and reported, since what runs is not what was rendered.
 */
import { type Condition, withFinding } from '../image-service/conditions.ts';
import { printPath } from '../image-service/find-difference.ts';
import type { EventDetails } from '../kube/events.ts';
import { printSome } from '../print-some.ts';

export type MutatedObject = {
  kind: string;
  name: string;
  paths: readonly string[];
  /** `tried`: the object was just written, to see whether the change still happens. */
  since: 'tried' | 'before';
};

const PRINTED = { paths: 4, objects: 8 };

/** Adds them to the condition Applied if nothing else is wrong with it. */
export function withMutations(
  conditions: readonly Condition[],
  mutated: readonly MutatedObject[],
): Condition[] {
  const isApplied = conditions.some(
    ({ type, reason }) => type === 'Applied' && reason === 'AsRendered',
  );
  if (!isApplied || mutated.length === 0) return [...conditions];
  const objects = mutated.map(({ kind, name, paths }) => `${kind} ${name} (${printPaths(paths)})`);
  const message = `Every object is as it was rendered, except for changes that a policy or webhook of the cluster makes on admission, which stay: ${printSome(objects, PRINTED.objects)}.`;
  return withFinding(conditions, { type: 'Applied', reason: 'ChangedOnWayIn', message });
}

export function mutationEvent({ kind, name, paths }: MutatedObject): EventDetails {
  return {
    ...{ type: 'Normal', reason: 'ChangedOnWayIn', action: 'Apply' },
    note: `a policy or webhook of the cluster changes ${printPaths(paths)} of ${kind} ${name} on admission; the operator leaves that unchanged, and tries again within the hour`,
  };
}

/** For a message about routes; empty if none was changed. */
export function describeMutations(
  mutated: readonly Pick<MutatedObject, 'kind' | 'name' | 'paths'>[],
): string {
  if (mutated.length === 0) return '';
  const routes = mutated.map(({ kind, name, paths }) => `${printPaths(paths)} of ${kind} ${name}`);
  return `; a policy or webhook of the cluster changes ${printSome(routes, PRINTED.objects)} on admission, and the operator leaves that unchanged`;
}

function printPaths(paths: readonly string[]): string {
  return printSome(paths.map(printPath), PRINTED.paths);
}
