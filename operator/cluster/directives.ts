/**
 * What a person asks of the operator by an annotation: to leave a resource alone, or to say what it would do. Both hold
 * for the deletion too. Spec: Resources and their fields.
 */
import type { KubeObject } from '../kube/resource.ts';

export const PAUSED = 'tintype.dev/paused';
export const PLAN_ONLY = 'tintype.dev/plan-only';

export type Directive = 'paused' | 'plan-only';

/** The value `true` alone: who writes `false` means it. */
export function directiveOf({ metadata: { annotations = {} } }: KubeObject): Directive | undefined {
  if (annotations[PAUSED] === 'true') return 'paused';
  return annotations[PLAN_ONLY] === 'true' ? 'plan-only' : undefined;
}
