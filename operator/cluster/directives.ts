/**
 * What a person asks of the operator by an annotation: to leave a resource alone, or to say what it would do. Both hold
 * for the deletion too. Spec: Resources and their fields.
 */
import type { Happening } from '../kube/events.ts';
import type { KubeObject } from '../kube/resource.ts';

export const PAUSED = 'tintype.dev/paused';
export const PLAN_ONLY = 'tintype.dev/plan-only';

export type Directive = 'paused' | 'plan-only';

/** The value `true` alone: who writes `false` means it. */
export function directiveOf(object: KubeObject): Directive | undefined {
  if (annotationOf(object, PAUSED) === 'true') return 'paused';
  return annotationOf(object, PLAN_ONLY) === 'true' ? 'plan-only' : undefined;
}

/** Whether two states of a resource ask for the same, in the same words. */
export function asksTheSame(one: KubeObject, other: KubeObject): boolean {
  return HELD_BY.every((name) => annotationOf(one, name) === annotationOf(other, name));
}

const HELD_BY = [PAUSED, PLAN_ONLY] as const;

/** Of `True` or `yes`, whose writer believes that it holds: it does not. */
export function ignoredAnnotations(object: KubeObject): Happening[] {
  return HELD_BY.flatMap((name) => {
    const value = annotationOf(object, name);
    if (value === undefined || value === 'true' || value === 'false') return [];
    const note = `${name} holds nothing by ${JSON.stringify(value)}: write "true", or take it away`;
    return { type: 'Warning', reason: 'AnnotationIgnored', action: 'Read', note };
  });
}

function annotationOf({ metadata }: KubeObject, name: string): string | undefined {
  return metadata.annotations?.[name];
}
