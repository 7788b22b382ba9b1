/** A condition in the status of an object, and how it is updated. */
import type { ObjectMeta } from './resource.ts';

export type LiveCondition<Said> = Said & {
  lastTransitionTime: string;
  observedGeneration?: number;
};

type Named = { type: string };

export function findCondition<Condition extends Named>(
  status: { conditions?: readonly Condition[] } | undefined,
  type: Condition['type'],
): Condition | undefined {
  return status?.conditions?.find((each) => each.type === type);
}

type WithConditions = {
  metadata: ObjectMeta;
  status?: { conditions?: readonly LiveCondition<Named & { status: string }>[] };
};

/** Whether the reason changed, or the same reason applies to a newer generation. */
export function isNewReason(
  before: LiveCondition<{ reason: string }> | undefined,
  now: LiveCondition<{ reason: string }>,
): boolean {
  return before?.reason !== now.reason || before.observedGeneration !== now.observedGeneration;
}

/** Adds the observed generation to each, and the time since when it has had its status. */
export function stampConditions<Said extends Named & { status: string }>(
  { metadata: { generation = 0 }, status }: WithConditions,
  conditions: readonly Said[],
  now: Date,
): LiveCondition<Said>[] {
  return conditions.map((condition) => {
    const last = findCondition(status, condition.type);
    const lastTransitionTime =
      last?.status === condition.status ? last.lastTransitionTime : printTime(now);
    return { ...condition, lastTransitionTime, observedGeneration: generation };
  });
}

/** Kubernetes stores whole seconds. */
export function printTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
