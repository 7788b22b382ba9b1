/**
 * How many workers a pool should have, by the waiting messages and those in work. It grows at once, and shrinks to the
 * most that was asked for within the last minutes, never below the number of busy pods. Spec: Upload session (status).
 */
import type { Pool } from '../image-service/render/autoscaling.ts';

type Sizes = Pick<Pool, 'min' | 'max' | 'queue_length' | 'stable_seconds'>;

export type Load = {
  /** Messages that no pod has taken yet. */
  waiting: number;
  /** The total that the pods are working on. */
  in_hand: number;
  /** Pods that are working on something, or did not say that they are not. */
  busy_pods: number;
};

/** How many pods were asked for, and when. */
export type Recommendation = { at_ms: number; replicas: number };

/** Regardless of the pool's limits. */
export function desiredReplicas({ queue_length }: Sizes, { waiting, in_hand }: Load): number {
  return Math.ceil((waiting + in_hand) / queue_length);
}

export function recommendedReplicas(pool: Sizes, load: Load): number {
  return Math.min(pool.max, Math.max(pool.min, desiredReplicas(pool, load)));
}

export type Scaling = { replicas: number; recommendations: Recommendation[] };

export function decideScale(
  pool: Sizes,
  load: Load,
  past: { recommendations: readonly Recommendation[]; current: number; now_ms: number },
): Scaling {
  const { current, now_ms } = past;
  const kept = past.recommendations.filter(
    ({ at_ms }) => at_ms > now_ms - pool.stable_seconds * 1000,
  );
  // At the first look, the current number counts as wanted.
  const before = past.recommendations.length === 0 ? [{ at_ms: now_ms, replicas: current }] : kept;
  const recommendations = [...before, { at_ms: now_ms, replicas: recommendedReplicas(pool, load) }];
  const wanted = Math.min(pool.max, Math.max(...recommendations.map(({ replicas }) => replicas)));
  if (current < wanted)
    return { replicas: Math.max(current, recommendedReplicas(pool, load)), recommendations };
  return { replicas: Math.min(current, Math.max(wanted, load.busy_pods)), recommendations };
}
