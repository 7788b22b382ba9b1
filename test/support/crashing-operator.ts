/**
 * The passes of the operator over a few resources, as processes that end at a chosen write: nothing of one survives in
 * the next but what API server and database were told. Which writes there are is counted, so that none is left out.
 */
import { createOrganizations } from '../../operator/cluster/organizations.ts';
import { reconcileObject } from '../../operator/cluster/reconcile-object.ts';
import type { ObjectContext } from '../../operator/cluster/reconcile-rows.ts';
import type { TenantKind, TenantObject } from '../../operator/cluster/tenant-object.ts';
import type { KubeClient } from '../../operator/kube/client.ts';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import type { Database } from '../../runtime/db/client.ts';
import type { Sealing } from '../../runtime/platform/sealing.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { kubeRequest, type PlaneAddress } from './kube-request.ts';

/** At its write of this number, from 0, either before it is sent or after it is done. */
export type CrashPoint = { write: number; side: 'before' | 'after' };

export type CrashingOperator = {
  /** Passes until one writes nothing, or until it crashes; answers each write in its order. */
  run(at?: CrashPoint): Promise<string[]>;
};

type Watched = { kind: TenantKind; path: string };

type Options = {
  plane: PlaneAddress;
  db: Database;
  sealing: Sealing;
  resources: readonly Watched[];
};

class Crash extends Error {}

const WRITES = ['create', 'apply', 'applyStatus', 'replace', 'merge', 'delete'] as const;
const PASSES_MAX = 12;

export function createCrashingOperator(options: Options): CrashingOperator {
  const { client, metrics } = connectKube(options.plane);
  const { sealing } = options;
  return {
    run: async (at) => {
      const writes: string[] = [];
      const step = async <T>(name: string, write: () => Promise<T>): Promise<T> => {
        const isHere = at?.write === writes.length;
        // What has ended writes nothing more.
        if (at !== undefined && writes.length > at.write) throw new Crash();
        writes.push(name);
        if (isHere && at.side === 'before') throw new Crash();
        const result = await write();
        if (isHere) throw new Crash();
        return result;
      };
      const context = {
        ...{ client: counted(client, step), db: countedDatabase(options.db, step) },
        ...{ clock, sealing, metrics, delivery_root_domain: 'images.example' },
        findOrganization: createOrganizations(clock),
        events: { tell: () => undefined },
      };
      try {
        await passes(options, context, writes);
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      }
      return writes;
    },
  };
}

type Step = <T>(name: string, write: () => Promise<T>) => Promise<T>;

function counted(client: KubeClient, step: Step): KubeClient {
  return new Proxy(client, {
    get: (target, property, receiver) => {
      const verb = WRITES.find((each) => each === property);
      const method: unknown = Reflect.get(target, property, receiver);
      if (verb === undefined || typeof method !== 'function') return method;
      return (...args: unknown[]) =>
        step(`${verb} ${kindOf(args[0])}`, async () => Reflect.apply(method, target, args));
    },
  });
}

function kindOf(type: unknown): string {
  return typeof type === 'object' && type !== null && 'kind' in type ? String(type.kind) : '';
}

function countedDatabase(db: Database, step: Step): Database {
  return {
    ...db,
    query: db.query,
    transaction: (work, settings) => step('commit', () => db.transaction(work, settings)),
  };
}

async function passes(
  { plane, resources }: Options,
  context: Omit<ObjectContext, 'findObject'>,
  writes: readonly string[],
): Promise<void> {
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const before = writes.length;
    for (const { kind, path } of resources) {
      const objects = await readAll(plane, resources);
      const object = objects.get(path);
      if (object === undefined) continue;
      const findObject: ObjectContext['findObject'] = (wanted, { name }) =>
        [...objects].find(
          ([, each]) =>
            each.kind === wanted &&
            each.metadata.name === name &&
            each.metadata.deletionTimestamp === undefined,
        )?.[1];
      await reconcileObject(kind, object, { ...context, findObject });
    }
    if (writes.length === before) return;
  }
  throw new Error(`it does not come to rest: ${writes.slice(-10).join(', ')}`);
}

async function readAll(
  plane: PlaneAddress,
  resources: readonly Watched[],
): Promise<Map<string, TenantObject>> {
  const objects = new Map<string, TenantObject>();
  for (const { path } of resources) {
    const { status, body } = await kubeRequest(plane, { path });
    if (status === 200) objects.set(path, body as TenantObject);
  }
  return objects;
}
