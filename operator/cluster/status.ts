/**
 * A resource's status after a pass, and whether it differs from the existing one: a pass that finds everything as
 * declared writes nothing. Spec: Resources and their fields. A transition time changes only with the status of its
 * condition.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Condition, conditionTypes } from '../conditions.ts';
import { defined } from '../defined.ts';
import { findCondition, type LiveCondition, stampConditions } from '../kube/live-condition.ts';
import type { TenantObject, TenantStatus } from './tenant-object.ts';

export type Verdict = {
  conditions: readonly Condition[];
  /** The ids of the resource's rows. */
  facts: Readonly<Record<string, unknown>>;
};

/** The status after a pass. */
export function statusOf(
  object: TenantObject,
  { conditions, facts }: Verdict,
  now: Date,
): TenantStatus {
  return {
    ...defined(facts),
    observedGeneration: object.metadata.generation ?? 0,
    conditions: stampConditions(object, conditions, now),
  };
}

/**
 * The status without a pass: the previous conditions remain, with the generation that they were
 * reported for.
 */
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

/**
 * Keeps the previous value of one condition: what server-side apply no longer sends would be
 * removed from the status.
 */
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

/** The status besides its conditions. */
export function factsOf({ status = {} }: Pick<TenantObject, 'status'>): Verdict['facts'] {
  const { observedGeneration: _, conditions: __, ...facts } = status;
  return facts;
}

export function hasStatus({ status = {} }: TenantObject, wanted: TenantStatus): boolean {
  return isDeepStrictEqual(
    { ...wanted, conditions: ownConditions(wanted) },
    { ...status, conditions: ownConditions(status) },
  );
}

/** In the order of the status; conditions of other types belong to other writers. */
export function ownConditions(status: TenantStatus): LiveCondition<Condition>[] {
  return conditionTypes.flatMap((type) => findCondition(status, type) ?? []);
}
