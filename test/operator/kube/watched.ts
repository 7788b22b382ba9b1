/** A watch cache of the ConfigMaps in one namespace, and the changes that its handler received. */
import { expect } from 'vitest';
import type { KubeClient } from '../../../operator/kube/client.ts';
import type { KubeMetrics } from '../../../operator/kube/metrics.ts';
import type { Change } from '../../../operator/kube/stored-objects.ts';
import type { TimedClock } from '../../../operator/kube/timed-clock.ts';
import { openWatchCache, type WatchCache } from '../../../operator/kube/watch-cache.ts';
import { kubeApply, kubeOk, kubeRequest, type PlaneAddress } from '../../support/kube-request.ts';
import { type ConfigMap, configMaps } from './config-map.ts';
import { silentLog } from './silent-log.ts';

export type Watched = {
  cache: WatchCache<ConfigMap>;
  changes: Change<ConfigMap>[];
  /** Waits until the cache holds exactly what the server has. */
  agrees(): Promise<void>;
  stop(): Promise<void>;
};

/** Kubernetes creates it in every namespace at some point. */
const PUT_BY_CONTROLLERS = 'kube-root-ca.crt';

export async function watchConfigMaps(options: {
  client: KubeClient;
  metrics: KubeMetrics;
  clock: TimedClock;
  plane: PlaneAddress;
  namespace: string;
}): Promise<Watched> {
  const { namespace, plane, ...rest } = options;
  const selection = { namespace, fields: `metadata.name!=${PUT_BY_CONTROLLERS}` };
  const cache = openWatchCache({ ...rest, type: configMaps, selection, log: silentLog });
  const changes: Change<ConfigMap>[] = [];
  cache.subscribe((change) => changes.push(change));
  await cache.synced;
  const held = () => [...cache.values()].map(printState).sort();
  return {
    cache,
    changes,
    agrees: () =>
      expect
        .poll(async () => ({ held: held(), server: await serverStates(plane, namespace) }), {
          timeout: 25_000,
        })
        .toSatisfy(({ held, server }) => held.join() === server.join()),
    stop: async () => {
      await cache.stop();
      options.client.close();
    },
  };
}

export function configMapWorld(plane: PlaneAddress, namespace: string) {
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  return {
    set: (name: string, value: string) =>
      kubeApply(plane, `${maps}/${name}`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: { value },
      }),
    remove: async (name: string) => {
      const { status } = await kubeRequest(plane, { method: 'DELETE', path: `${maps}/${name}` });
      expect([200, 404]).toContain(status);
    },
  };
}

async function serverStates(plane: PlaneAddress, namespace: string): Promise<string[]> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const { items } = (await kubeOk(plane, { path })) as { items: ConfigMap[] };
  const own = items.filter(({ metadata }) => metadata.name !== PUT_BY_CONTROLLERS);
  return own.map(printState).sort();
}

function printState({ metadata: { name, uid, resourceVersion } }: ConfigMap): string {
  return `${name} ${uid} ${resourceVersion}`;
}
