/**
 * Reconciles the routes of all projects as the operator does: the comparison that it makes once a minute, and a pass
 * for every key that this finds, with freshly filled caches.
 */
import { openObjectCaches } from '../../operator/cluster/object-caches.ts';
import { createWriteHistory } from '../../operator/installation/write-history.ts';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import { openEdgeCaches } from '../../operator/routes/edge-caches.ts';
import { findSubject, routeProject } from '../../operator/routes/project-route.ts';
import { findUnsettled } from '../../operator/routes/sweep.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import type { Through } from './crashing-operator.ts';

/** `teams` contains the Projects, `images` the ImageService and the routes. */
type Namespaces = { teams: string; images: string };

const never = new AbortController().signal;

/** Returns one process's pass over all routes. */
export function lookAtRoutes(
  { teams, images }: Namespaces,
  { client, db, metrics }: Through,
): () => Promise<void> {
  const common = { client, clock, log, metrics };
  return async () => {
    const caches = openObjectCaches({ ...common, namespaces: [teams] });
    const edges = openEdgeCaches({ ...common, namespace: images });
    try {
      await Promise.all([caches.synced, edges.synced]);
      const silent = { probe: async () => undefined, events: { record: () => undefined } };
      const history = createWriteHistory(clock);
      const context = {
        client,
        db,
        clock,
        caches,
        edges,
        history,
        reportedConditions: new Map(),
        ...silent,
      };
      for (const key of await findUnsettled(context)) {
        await routeProject(await findSubject(key, context), context, never);
      }
    } finally {
      await Promise.all([caches.stop(), edges.stop()]);
    }
  };
}
