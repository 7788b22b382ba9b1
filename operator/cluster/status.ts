/**
 * The status of a resource after a pass, and whether it differs from what is there: a pass over what is as it should be
 * writes nothing. Spec: Resources and their fields. A time moves only with the status of its condition.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Condition, conditionTypes } from '../conditions.ts';
import { findCondition, type LiveCondition, stampConditions } from '../kube/live-condition.ts';
import type { TenantObject, TenantStatus } from './tenant-object.ts';

export type Verdict = {
  conditions: readonly Condition[];
  /** The ids that the resource was given. */
  facts: Readonly<Record<string, unknown>>;
};

/** The status of a resource that was looked at. */
export function statusOf(
  object: TenantObject,
  { conditions, facts }: Verdict,
  now: Date,
): TenantStatus {
  return {
    ...present(facts),
    observedGeneration: object.metadata.generation ?? 0,
    conditions: stampConditions(object, conditions, now),
  };
}

/** The status of one that was not looked at: what it said before stands, for the generation that it was said of. */
export function pausedStatusOf(
  object: TenantObject,
  conditions: readonly Condition[],
  now: Date,
): TenantStatus {
  const { status = {} } = object;
  const said = stampConditions(object, conditions, now);
  const types = [...said.map(({ type }) => type), 'Planned'];
  const kept = ownConditions(status).filter(({ type }) => !types.includes(type));
  return { ...status, conditions: [...kept, ...said] };
}

/** With what was said in a condition before: what is no longer sent would be taken out of the status. */
export function withKept(
  object: TenantObject,
  wanted: TenantStatus,
  type: 'Accepted' | 'Routed' | 'Planned',
): TenantStatus {
  const { conditions = [] } = wanted;
  const kept = findCondition(object.status, type);
  const isSaid = kept === undefined || findCondition(wanted, type) !== undefined;
  return isSaid ? wanted : { ...wanted, conditions: [...conditions, kept] };
}

/** What the status says beside its conditions. */
export function factsOf({ status = {} }: Pick<TenantObject, 'status'>): Verdict['facts'] {
  const { observedGeneration: _, conditions: __, ...facts } = status;
  return facts;
}

export function isWritten({ status = {} }: TenantObject, wanted: TenantStatus): boolean {
  return isDeepStrictEqual(
    { ...wanted, conditions: ownConditions(wanted) },
    { ...status, conditions: ownConditions(status) },
  );
}

/** In the order in which they are written; those of other types are of others. */
export function ownConditions(status: TenantStatus): LiveCondition<Condition>[] {
  return conditionTypes.flatMap((type) => findCondition(status, type) ?? []);
}

function present(facts: Verdict['facts']): TenantStatus {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
