/** Reports objects of an ImageService that somebody else changed or deleted, and that a pass restored. */
import { printPath } from '../image-service/find-difference.ts';
import { findCondition } from '../kube/live-condition.ts';
import type { ObjectChange } from './apply-steps.ts';
import type { ImageServiceObject } from './live-types.ts';
import type { PassContext } from './reconcile-installation.ts';

/**
 * A missing object counts as drift if everything was in effect before. A migration Job never does:
 * a changed Secret makes a new one.
 */
export function reportDrift(
  service: ImageServiceObject & { kind: string },
  written: readonly ObjectChange[],
  { events, metrics }: Pick<PassContext, 'events' | 'metrics'>,
): void {
  const ready = findCondition(service.status, 'Ready');
  const wasReady =
    ready?.status === 'True' && ready.observedGeneration === service.metadata.generation;
  const healed = written.filter(
    ({ change, kind, isDrift }) => isDrift || (wasReady && change === 'create' && kind !== 'Job'),
  );
  if (healed.length === 0) return;
  metrics.driftHealed(service.kind, 0);
  const objects = healed.map(printHealed).join(', ');
  events.record(service, {
    ...{ type: 'Normal', reason: 'DriftHealed', action: 'Heal' },
    note: `objects were not as they were rendered: ${objects}`,
  });
}

function printHealed({ change, kind, name, path, by }: ObjectChange): string {
  if (path === undefined) return `${change} ${kind} ${name}`;
  const who = by === undefined ? '' : ` by '${by}'`;
  return `${change} ${kind} ${name} (${printPath(path)} was changed${who})`;
}
