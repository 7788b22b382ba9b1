import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ObjectCaches, openObjectCaches } from '../../operator/cluster/object-caches.ts';
import { createOrganizations } from '../../operator/cluster/organizations.ts';
import {
  createTenantControllers,
  type TenantControllers,
} from '../../operator/cluster/tenant-controllers.ts';
import { createEventRecorder } from '../../operator/kube/events.ts';
import type { KubeMetrics } from '../../operator/kube/metrics.ts';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import { LEASE_NAME, permissions } from '../../operator/permissions.ts';
import { defaultPlans } from '../../runtime/core/plans.ts';
import { findProjectBySlug, updateProject } from '../../runtime/db/projects.ts';
import { listSigningKeys } from '../../runtime/db/signing-keys.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { permitOperator, startOperator } from '../support/operator-process.ts';
import { makeFile } from '../support/rows.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;
const key = randomBytes(32);
const group = '/apis/tintype.dev/v1alpha1';

type Condition = {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration: number;
};
type Live = {
  metadata: { resourceVersion: string; generation: number; finalizers?: string[]; uid: string };
  status: { observedGeneration: number; conditions?: Condition[]; [field: string]: unknown };
};

let namespace: string;
let caches: ObjectCaches;
let controllers: TenantControllers;
let metrics: KubeMetrics;

beforeAll(async () => {
  namespace = await cluster.namespace();
  const connected = connectKube(plane());
  const { client } = connected;
  metrics = connected.metrics;
  caches = openObjectCaches({ client, clock, log, metrics, namespaces: [namespace] });
  const context = {
    ...{ client, clock, findRootDomain: () => 'images.example' },
    sealing: createSealing([{ id: 'k1', key }]),
    findOrganization: createOrganizations({ clock, findPlans: async () => defaultPlans }),
    events: createEventRecorder({ client, clock, log, instance: 'test' }),
  };
  const options = {
    caches,
    namespaces: [namespace],
    context,
    clock,
    log,
    metrics,
    resync_ms: 500,
    retry_ms: 300,
  };
  controllers = createTenantControllers(options);
  await caches.synced;
}, 300_000);

afterAll(async () => {
  await caches.stop();
});

async function total(kind: string, counter: string): Promise<number> {
  const counted = new RegExp(
    `^controller_runtime_${counter}\\{controller="${kind}".*\\} (\\d+)$`,
    'gm',
  );
  const lines = (await metrics.print()).matchAll(counted);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

const refusals = (kind: string) => total(kind, 'terminal_reconcile_errors_total');

/** Waits for `count` more passes. */
async function passes(kind: string, count: number): Promise<void> {
  const before = await total(kind, 'reconcile_total');
  await until(async () =>
    expect(await total(kind, 'reconcile_total')).toBeGreaterThanOrEqual(before + count),
  );
}

/** Runs an operator that leads while `work` runs. */
async function led(work: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const leading = controllers.lead({
    ...{ db, epoch: 1, lease_uid: 'lease' },
    signal: over.signal,
    isCurrent: () => true,
    raised: async () => undefined,
  });
  try {
    await work();
  } finally {
    over.abort();
    await leading;
  }
}

const plurals: Record<string, string> = {
  Project: 'projects',
  SigningKey: 'signingkeys',
  WatermarkPreset: 'watermarkpresets',
  Recipe: 'recipes',
};

function path(kind: string, name: string): string {
  return `${group}/namespaces/${namespace}/${plurals[kind]}/${name}`;
}

function apply(kind: string, name: string, spec: object) {
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name, namespace } };
  return kubeApply(plane(), path(kind, name), { ...head, spec });
}

async function read(kind: string, name: string): Promise<Live> {
  return (await kubeOk(plane(), { path: path(kind, name) })) as Live;
}

function remove(kind: string, name: string) {
  return kubeOk(plane(), { method: 'DELETE', path: path(kind, name) });
}

async function condition(kind: string, name: string, type = 'Ready') {
  const { metadata, status } = await read(kind, name);
  const found = status.conditions?.find((each) => each.type === type);
  // A condition of an older generation is out of date.
  return found?.observedGeneration === metadata.generation ? found : undefined;
}

async function untilReason(kind: string, name: string, reason: string): Promise<void> {
  await until(async () => expect((await condition(kind, name))?.reason).toBe(reason));
}

async function untilGone(kind: string, name: string): Promise<void> {
  await until(async () => {
    expect((await kubeRequest(plane(), { path: path(kind, name) })).status).toBe(404);
  });
}

/** Each test uses slugs of its own, because projects are never deleted. */
function slug(): string {
  return `p${randomBytes(5).toString('hex')}`;
}

async function project(name: string) {
  const row = await findProjectBySlug(db, name);
  if (row === undefined) throw new Error(`no project ${name}`);
  return row;
}

/** More than the tests of this file create: twice as many passes examine each of them. */
const PROJECTS_MAX = 10;

function countPasses(): Promise<number> {
  return sum(/^controller_runtime_reconcile_total\{controller="Project".*\} (\d+)$/gm);
}

function countWrites(): Promise<number> {
  return sum(/^rest_client_requests_total\{.*method="(?:PATCH|POST|PUT|DELETE)".*\} (\d+)$/gm);
}

async function sum(counted: RegExp): Promise<number> {
  const lines = (await metrics.print()).matchAll(counted);
  return [...lines].reduce((total, [, count]) => total + Number(count), 0);
}

describe('a Project in a cluster', () => {
  it('becomes a row in the organization of its namespace, with a signing key, and is Ready', async () => {
    const name = slug();
    await apply('Project', name, { displayName: 'Shop' });
    await led(() => untilReason('Project', name, 'InSync'));
    const row = await project(name);
    const { metadata, status } = await read('Project', name);
    expect(row).toMatchObject({ name: 'Shop', owner_uid: metadata.uid });
    expect(await listSigningKeys(db, row.project_id)).toHaveLength(1);
    expect(metadata.finalizers).toEqual(['tintype.dev/rows']);
    expect(status).toMatchObject({
      observedGeneration: metadata.generation,
      projectID: row.project_id,
      organizationID: row.organization_id,
      defaultHost: `${name}.images.example`,
      activeKid: row.active_signing_kid,
    });
    expect(await condition('Project', name)).toMatchObject({ status: 'True', reason: 'InSync' });
  });

  it('follows its spec and reverts drift, without changing the transition time of Ready', async () => {
    const name = slug();
    await apply('Project', name, { displayName: 'Shop' });
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      const first = await condition('Project', name);
      await apply('Project', name, { displayName: 'Store' });
      await until(async () => expect((await project(name)).name).toBe('Store'));
      await untilReason('Project', name, 'InSync');
      const { project_id } = await project(name);
      await db.transaction((tx) => updateProject(tx, { project_id, changes: { name: 'Other' } }));
      await until(async () => expect((await project(name)).name).toBe('Store'));
      const last = await condition('Project', name);
      expect(last?.lastTransitionTime).toBe(first?.lastTransitionTime);
      expect(last?.observedGeneration).toBe(2);
    });
  });

  it('is not written again by passes that find it as it should be', async () => {
    const name = slug();
    await apply('Project', name, { displayName: 'Shop' });
    await led(() => untilReason('Project', name, 'InSync'));
    const before = await read('Project', name);
    const row = await project(name);
    const [passes, writes] = [await countPasses(), await countWrites()];
    await led(() =>
      until(async () => expect(await countPasses()).toBeGreaterThan(passes + 2 * PROJECTS_MAX)),
    );
    expect(await countWrites()).toBe(writes);
    expect((await read('Project', name)).metadata).toEqual(before.metadata);
    expect((await project(name)).updated_at).toEqual(row.updated_at);
  });

  it('is refused without a finalizer if another one owns its slug, and its deletion changes nothing', async () => {
    const [name, loser] = [slug(), slug()];
    await apply('Project', name, { displayName: 'Shop' });
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      await apply('Project', loser, { slug: name });
      await untilReason('Project', loser, 'SlugConflict');
      expect(await condition('Project', loser, 'Accepted')).toMatchObject({ status: 'False' });
      expect((await read('Project', loser)).metadata.finalizers).toBeUndefined();
      await remove('Project', loser);
      await untilGone('Project', loser);
    });
    expect(await project(name)).toMatchObject({ status: 'active', name: 'Shop' });
  });

  it('suspends its row when it is deleted, and then it is gone', async () => {
    const name = slug();
    await apply('Project', name, {});
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      await remove('Project', name);
      await untilGone('Project', name);
    });
    expect(await project(name)).toMatchObject({ status: 'suspended', owner_uid: null });
  });

  it('writes its callback secret into a Secret, but never into one of others', async () => {
    const [name, secretName] = [slug(), slug()];
    const secrets = `/api/v1/namespaces/${namespace}/secrets`;
    const callback = (secret: string) => {
      return { callback: { url: 'https://shop.example/hook', secretName: secret } };
    };
    const names = async () => {
      const { items } = (await kubeOk(plane(), { path: secrets })) as unknown as {
        items: { metadata: { name: string } }[];
      };
      return items.map((each) => each.metadata.name).filter((each) => each.startsWith(secretName));
    };
    const taken = { metadata: { name: `${secretName}-taken` }, data: { own: 'eA==' } };
    await kubeOk(plane(), { method: 'POST', path: secrets, body: taken });
    await apply('Project', name, callback(secretName));
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      const { data, metadata } = (await kubeOk(plane(), { path: `${secrets}/${secretName}` })) as {
        data: { secret: string };
        metadata: { ownerReferences: { uid: string }[] };
      };
      expect(Buffer.from(data.secret, 'base64').toString()).toMatch(/^whsec_/);
      expect(metadata.ownerReferences[0]?.uid).toBe((await read('Project', name)).metadata.uid);
      await apply('Project', name, callback(taken.metadata.name));
      await untilReason('Project', name, 'SecretTaken');
      // The old Secret stays until there is a new one.
      expect(await names()).toEqual([secretName, taken.metadata.name]);
      await apply('Project', name, callback(`${secretName}-b`));
      await until(async () =>
        expect(await names()).toEqual([`${secretName}-b`, taken.metadata.name]),
      );
      const labels = { 'app.kubernetes.io/managed-by': null };
      await kubeOk(plane(), {
        ...{ method: 'PATCH', path: `${secrets}/${secretName}-b` },
        ...{ content_type: 'application/merge-patch+json', body: { metadata: { labels } } },
      });
      await apply('Project', name, callback(`${secretName}-c`));
      await untilReason('Project', name, 'InSync');
      // A Secret that people took over stays.
      expect(await names()).toEqual([
        ...[`${secretName}-b`, `${secretName}-c`, taken.metadata.name],
      ]);
    });
    const left = await kubeOk(plane(), { path: `${secrets}/${taken.metadata.name}` });
    expect(left['data']).toEqual(taken.data);
  });
});

describe('a resource of a tenant', () => {
  it('waits for its project, and a watermark preset also waits for its file', async () => {
    const name = slug();
    const projectRef = { name };
    await apply('SigningKey', name, { projectRef });
    await apply('Recipe', name, { projectRef, transformChain: 'resize/640x480' });
    await apply('WatermarkPreset', name, { projectRef, fileSlug: 'logo.png' });
    await led(async () => {
      await untilReason('Recipe', name, 'ProjectNotFound');
      await apply('Project', name, { defaultWatermarkPresetRef: { name } });
      await untilReason('SigningKey', name, 'InSync');
      await untilReason('Recipe', name, 'InSync');
      await untilReason('WatermarkPreset', name, 'FileNotFound');
      await untilReason('Project', name, 'WatermarkPresetNotFound');
      const { project_id, active_signing_kid } = await project(name);
      await makeFile(db, { project_id }, { file_slug: 'logo.png' });
      await untilReason('WatermarkPreset', name, 'InSync');
      await untilReason('Project', name, 'InSync');
      const { presetID, fileRevision } = (await read('WatermarkPreset', name)).status;
      expect((await project(name)).default_watermark_preset_id).toBe(presetID);
      expect(fileRevision).toBe(1);
      await makeFile(db, { project_id }, { file_slug: 'logo.png' });
      await until(async () => {
        expect((await read('WatermarkPreset', name)).status['fileRevision']).toBe(2);
      });
      expect((await read('SigningKey', name)).status['kid']).toBe(active_signing_kid);
    });
  });

  it('is refused in words if its spec is invalid in a way that the API server cannot check', async () => {
    const name = slug();
    const corsAllowedOrigins = ['https://[2001:db8:0:0::1]:8443'];
    const sendTo = (url: string) =>
      apply('Project', name, { callback: { url, secretName: name }, corsAllowedOrigins });
    await sendTo('https://[::0001]');
    const before = await refusals('Project');
    await led(async () => {
      await untilReason('Project', name, 'SpecInvalid');
      await passes('Project', 3);
      expect((await refusals('Project')) - before).toBe(1);
      await sendTo('https://[::0002]');
      await untilReason('Project', name, 'SpecInvalid');
      expect((await refusals('Project')) - before).toBe(2);
    });
    const { message } = (await condition('Project', name)) ?? {};
    expect(message?.split('; ')).toEqual([
      '`spec.corsAllowedOrigins[0]`: an origin such as https://shop.example, or * for all (it is written https://[2001:db8::1]:8443)',
      '`spec.callback.url`: empty for none, or an https URL of at most 2048 characters, its host in ASCII (its host is written [::2])',
    ]);
  });

  it('that is a default watermark is deleted once its project no longer names it', async () => {
    const name = slug();
    await apply('Project', name, { defaultWatermarkPresetRef: { name } });
    await apply('WatermarkPreset', name, { projectRef: { name }, fileSlug: 'logo.png' });
    await led(async () => {
      await until(async () => expect((await project(name)).project_slug).toBe(name));
      await makeFile(db, await project(name), { file_slug: 'logo.png' });
      await untilReason('Project', name, 'InSync');
      await remove('WatermarkPreset', name);
      await until(async () => {
        const { status } = await read('WatermarkPreset', name);
        expect(status.conditions?.[0]?.reason).toBe('InUseAsDefault');
      });
      await apply('Project', name, {});
      await untilGone('WatermarkPreset', name);
      await untilReason('Project', name, 'InSync');
    });
  });
});

describe('tintype operator', () => {
  it('needs only its own permissions, is ready, and on SIGTERM releases its lease and exits with 0', async () => {
    const home = await cluster.namespace();
    await permitOperator(plane(), namespace, permissions.tenant);
    const { own, delivery, runtime } = permissions;
    await permitOperator(plane(), home, [...own, ...delivery, ...runtime]);
    const name = slug();
    const callback = { url: 'https://shop.example/hook', secretName: name };
    await apply('Project', name, { callback });
    const { child, watched, stop } = await startOperator(plane(), {
      TINTYPE_DATABASE_URL: url(),
      TINTYPE_KEY_ENCRYPTION_KEYS: `k1:${key.toString('base64')}`,
      TINTYPE_WATCH_NAMESPACES: namespace,
      POD_NAMESPACE: home,
    });
    try {
      await until(async () => {
        expect(child.exitCode).toBeNull();
        expect((await condition('Project', name))?.reason).toBe('InSync');
      });
      expect((await fetch(`${watched}/livez`)).status).toBe(200);
      await until(async () => expect((await fetch(`${watched}/readyz`)).status).toBe(200));
      const printed = await (await fetch(`${watched}/metrics`)).text();
      expect(printed).toContain('controller_runtime_reconcile_total{controller="Project"');
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
      const lease = `/apis/coordination.k8s.io/v1/namespaces/${home}/leases/${LEASE_NAME}`;
      const { spec } = (await kubeOk(plane(), { path: lease })) as {
        spec: { holderIdentity?: string };
      };
      expect(spec.holderIdentity ?? '').toBe('');
    } finally {
      await stop();
    }
  }, 300_000);
});
