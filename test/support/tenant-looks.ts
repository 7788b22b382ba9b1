/**
 * Reconciles a few tenant resources one after the other, and rows whose resource was deleted. Uses the real passes of
 * the operator, without the queues and caches that trigger them.
 */
import type { ImageDeps } from '../../operator/cluster/declared-image.ts';
import { createOrganizations } from '../../operator/cluster/organizations.ts';
import { reconcileObject } from '../../operator/cluster/reconcile-object.ts';
import type { ObjectContext } from '../../operator/cluster/reconcile-rows.ts';
import type { TenantKind, TenantObject } from '../../operator/cluster/tenant-object.ts';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import { defaultPlans } from '../../runtime/core/plans.ts';
import type { Database } from '../../runtime/db/client.ts';
import type { Sealing } from '../../runtime/platform/sealing.ts';
import {
  type CrashingOperator,
  createCrashingOperator,
  type Step,
  type Through,
} from './crashing-operator.ts';
import { kubeRequest, type PlaneAddress } from './kube-request.ts';

type Watched = { kind: TenantKind; path: string };

type Looks = {
  plane: PlaneAddress;
  sealing: Sealing;
  resources: readonly Watched[];
  images?: (step: Step) => ImageDeps;
};

type Options = Looks & {
  db: Database;
  /** What other processes do before the next pass. */
  others?: () => Promise<void>;
};

type Objects = ReadonlyMap<string, TenantObject>;

export function createTenantOperator(options: Options): CrashingOperator {
  const { plane, db, others } = options;
  return createCrashingOperator({
    ...{ plane, db, others },
    start: (through) => lookAtTenants(options, through),
  });
}

/** Returns one process's pass over all resources. */
export function lookAtTenants(options: Looks, through: Through): () => Promise<void> {
  const { client, db, metrics, step } = through;
  const context = {
    ...{ client, db, metrics, clock, sealing: options.sealing },
    delivery_root_domain: 'images.example',
    findOrganization: createOrganizations({ clock, findPlans: async () => defaultPlans }),
    events: { record: () => undefined },
    images: options.images?.(step),
  };
  return async () => {
    for (const { kind, path } of options.resources) {
      const objects = await readAll(options);
      const object = objects.get(path);
      if (object === undefined) continue;
      const findObject = finderIn(objects);
      const findObjectNow: ObjectContext['findObjectNow'] = async (...asked) =>
        findObject(...asked);
      const finding = { findObject, findObjectNow, watches: () => true };
      await reconcileObject(kind, object, { ...context, ...finding });
    }
  };
}

function finderIn(objects: Objects): ObjectContext['findObject'] {
  return (kind, { name }) =>
    [...objects.values()].find((each) => each.kind === kind && each.metadata.name === name);
}

async function readAll({ plane, resources }: Looks): Promise<Objects> {
  const objects = new Map<string, TenantObject>();
  for (const { path } of resources) {
    const { status, body } = await kubeRequest(plane, { path });
    if (status === 200) objects.set(path, body as TenantObject);
  }
  return objects;
}
