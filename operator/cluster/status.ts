/**
 * The status of a resource after a pass: written only where something in it differs, so that a pass over what is as it
 * should be writes nothing. Spec: Resources and their fields. A time moves only with the status of its condition.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../conditions.ts';
import type { TenantObject, TenantStatus } from './tenant-object.ts';

export type Verdict = {
  conditions: readonly Condition[];
  /** The ids that the resource was given. */
  facts: Readonly<Record<string, string | undefined>>;
};

/** The whole status to write; undefined where it is there already. */
export function statusToWrite(
  { metadata, status = {} }: TenantObject,
  { conditions, facts }: Verdict,
  now: Date,
): TenantStatus | undefined {
  const { generation = 0 } = metadata;
  const wanted: TenantStatus = {
    ...present(facts),
    observedGeneration: generation,
    conditions: conditions.map((condition) => {
      const last = status.conditions?.find(({ type }) => type === condition.type);
      const lastTransitionTime =
        last?.status === condition.status ? last.lastTransitionTime : printTime(now);
      return { ...condition, lastTransitionTime, observedGeneration: generation };
    }),
  };
  return isDeepStrictEqual(wanted, ours(status, conditions)) ? undefined : wanted;
}

/** Conditions of other types are of others. */
function ours(status: TenantStatus, written: readonly Condition[]): TenantStatus {
  const types = written.map(({ type }) => type);
  const conditions = types.flatMap(
    (type) => status.conditions?.find((each) => each.type === type) ?? [],
  );
  return { ...status, conditions };
}

function present(facts: Verdict['facts']): TenantStatus {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

/** Kubernetes keeps whole seconds. */
function printTime(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}
