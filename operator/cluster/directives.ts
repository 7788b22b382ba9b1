/**
 * What a person asks of the operator by annotation: to leave a resource alone, or to report what it would do. Both also
 * apply to its deletion. Spec: Resources and their fields.
 */
import type { EventDetails } from '../kube/events.ts';
import type { KubeObject } from '../kube/resource.ts';

export const PAUSED = 'tintype.dev/paused';
export const PLAN_ONLY = 'tintype.dev/plan-only';

export type Directive = 'paused' | 'plan-only';

/** Only the value `true` counts: someone who writes `false` means it. */
export function directiveOf(object: KubeObject): Directive | undefined {
  if (annotationOf(object, PAUSED) === 'true') return 'paused';
  return annotationOf(object, PLAN_ONLY) === 'true' ? 'plan-only' : undefined;
}

/** Whether two states of a resource carry the same directives, with the same values. */
export function hasSameDirectives(one: KubeObject, other: KubeObject): boolean {
  return DIRECTIVE_ANNOTATIONS.every(
    (name) => annotationOf(one, name) === annotationOf(other, name),
  );
}

const DIRECTIVE_ANNOTATIONS = [PAUSED, PLAN_ONLY] as const;

/**
 * Warns about values such as `True` or `yes`, whose author expects an effect that they do not have.
 */
export function ignoredAnnotations(object: KubeObject): EventDetails[] {
  return DIRECTIVE_ANNOTATIONS.flatMap((name) => {
    const value = annotationOf(object, name);
    if (value === undefined || value === 'true' || value === 'false') return [];
    const note = `${name} has no effect with the value ${JSON.stringify(value)}: set it to "true", or remove it`;
    return { type: 'Warning', reason: 'AnnotationIgnored', action: 'Read', note };
  });
}

function annotationOf({ metadata }: KubeObject, name: string): string | undefined {
  return metadata.annotations?.[name];
}
