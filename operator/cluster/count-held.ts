/** Counts the resources that an annotation keeps as they are. */
import type { HeldCount } from '../kube/held-metrics.ts';
import { type Directive, directiveOf } from './directives.ts';
import type { ObjectCaches } from './object-caches.ts';
import { tenantTypes } from './tenant-object.ts';

const DIRECTIVES = ['paused', 'plan-only'] as const satisfies readonly Directive[];

/**
 * For every kind and annotation, including 0: whoever waits for the number to reach 0 can see it.
 */
export function countHeld(caches: Pick<ObjectCaches, 'values'>): HeldCount[] {
  return tenantTypes.flatMap(({ kind }) => {
    const counts = { paused: 0, 'plan-only': 0 };
    for (const object of caches.values(kind)) {
      const directive = directiveOf(object);
      if (directive !== undefined) counts[directive] += 1;
    }
    return DIRECTIVES.map((annotation) => ({ kind, annotation, resources: counts[annotation] }));
  });
}
