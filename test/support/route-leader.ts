/** Runs the controller of routes as in a leading operator, with its own watches. */
import { openObjectCaches } from '../../operator/cluster/object-caches.ts';
import { createEventRecorder } from '../../operator/kube/events.ts';
import { systemTimedClock, type TimedClock } from '../../operator/kube/timed-clock.ts';
import { openEdgeCaches } from '../../operator/routes/edge-caches.ts';
import type { ProbeHost } from '../../operator/routes/probe-hosts.ts';
import { createRouteController } from '../../operator/routes/route-controller.ts';
import type { Database } from '../../runtime/db/client.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import type { Identity, PlaneAddress } from './kube-request.ts';

/** `teams` contains the Projects, `images` the ImageService and the routes. */
type Namespaces = { teams: string; images: string };
type Leading = { db: Database; sweep_ms?: number; probe?: ProbeHost };
type Work = () => Promise<void>;

const nobodyAsks: ProbeHost = async () => undefined;

export function watchForRoutes(
  plane: PlaneAddress,
  { teams, images }: Namespaces,
  { clock = systemTimedClock, as = 'admin' }: { clock?: TimedClock; as?: Identity } = {},
) {
  const { client, metrics } = connectKube(plane, { as });
  const common = { client, clock, log, metrics };
  const caches = openObjectCaches({ ...common, namespaces: [teams] });
  const edges = openEdgeCaches({ ...common, namespace: images });
  return {
    caches,
    edges,
    metrics,
    synced: Promise.all([caches.synced, edges.synced]),
    /** Leads while `work` runs. */
    lead: async ({ db, sweep_ms = 500, probe = nobodyAsks }: Leading, work: Work) => {
      const events = createEventRecorder({ client, clock, log, instance: 'test' });
      const context = { client, db, clock, caches, edges, probe, events };
      const often = { sweep_ms, poll_ms: 50, retry_ms: 200 };
      const controller = createRouteController({ context, log, metrics, ...often });
      const over = new AbortController();
      const term = { epoch: 1, lease_uid: 'lease', signal: over.signal, isCurrent: () => true };
      const leading = controller.lead(term);
      try {
        await work();
      } finally {
        over.abort();
        await leading;
      }
    },
    stop: async () => {
      await Promise.all([caches.stop(), edges.stop()]);
    },
  };
}
