/** The current state of an installation: its live objects, read into what the decision needs. */
import type { Component, Installation } from '../image-service/installation.ts';
import { components, routingOf, scalerOf } from '../image-service/installation.ts';
import {
  type Observed,
  type Present,
  readCronJob,
  readDeployment,
  readJob,
  readScalingProblem,
} from '../image-service/observed.ts';
import { REVISION } from '../image-service/render/deployments.ts';
import type { RenderedObject } from '../image-service/render/object.ts';
import type { ImageServiceSpec } from '../image-service/schema.ts';
import type { KubeClient } from '../kube/client.ts';
import { findCondition } from '../kube/live-condition.ts';
import { type KubeObject, type ResourceType, withManagers } from '../kube/resource.ts';
import type { KnownRoute } from '../routes/live-route.ts';
import { ignoreForbidden, listObjects } from './list-objects.ts';
import { type ImageServiceStatus, jobs, ownedLabels, ownedTypes, pods } from './live-types.ts';

const COMPONENT = 'app.kubernetes.io/component';

/** By kind and name. */
export type LiveObjects = ReadonlyMap<string, KubeObject>;

export type Cluster = {
  live: LiveObjects;
  pods: readonly KubeObject[];
  /** All Jobs of the namespace, as those of CronJobs lack our labels. */
  jobs: readonly KubeObject[];
  keda: Installation['keda'];
};

export function liveKey({ kind, name }: { kind: string; name: string }): string {
  return `${kind} ${name}`;
}

type Declared = { name: string; namespace: string; spec: ImageServiceSpec };

export async function listCluster(client: KubeClient, { name, namespace, spec }: Declared) {
  const wanted = { namespace, labels: ownedLabels(name) };
  const [found, ownPods, allJobs] = await Promise.all([
    Promise.all(
      ownedTypes.map(withManagers).map(async (type) => {
        const listed = listObjects(client, type, wanted);
        const items = isNeeded(type, spec) ? listed : listed.catch(ignoreForbidden);
        return { type, items: await items };
      }),
    ),
    listObjects(client, pods, wanted),
    listObjects(client, jobs, { namespace }),
  ]);
  const objects = found.flatMap(({ type: { kind, apiVersion }, items = [] }) =>
    items.map((item): KubeObject => ({ ...item, kind, apiVersion })),
  );
  const live = new Map(
    objects.map((each) => [liveKey({ kind: each.kind ?? '', name: each.metadata.name }), each]),
  );
  const isThere = found.find(({ type }) => type.kind === 'ScaledObject')?.items !== undefined;
  const keda: Installation['keda'] = isThere ? 'present' : 'absent';
  return { live, pods: ownPods ?? [], jobs: allJobs ?? [], keda };
}

/**
 * Whether the installation has objects of this kind as declared; otherwise at most an earlier mode
 * left some, which stay until they may be listed.
 */
function isNeeded({ apiVersion, kind }: ResourceType, spec: ImageServiceSpec): boolean {
  if (apiVersion.startsWith('keda.sh/')) return scalerOf({ spec, keda: 'present' }) === 'keda';
  if (kind === 'Ingress') return routingOf(spec) === 'Ingress';
  return kind !== 'HTTPRoute' || routingOf(spec) === 'Gateway';
}

/** The state that the objects of the cluster show. */
export function observeObjects(
  name: string,
  migration: RenderedObject,
  cluster: Cluster,
): Pick<
  Observed,
  'migration' | 'deployments' | 'scalingProblems' | 'routes' | 'cronJobs' | 'present'
> {
  const { live } = cluster;
  const own = [...live.values()].filter((each) => isOwned(each, migration));
  const job = live.get(liveKey({ kind: 'Job', name: migration.metadata.name }));
  return {
    migration: readJob(job, podsWith(cluster, 'job-name', migration.metadata.name)),
    deployments: readDeployments(name, cluster),
    scalingProblems: readScalingProblems(name, cluster),
    cronJobs: [...live.values()]
      .filter(({ kind }) => kind === 'CronJob')
      .map((each) => readCronJob(each.metadata.name, each, ownedBy(cluster.jobs, each))),
    routes: own.flatMap(readRoute),
    present: own.map(presentOf),
  };
}

/** Excludes the runs of CronJobs, which are Jobs too and have the labels of their pods. */
export function newestMigration(live: LiveObjects): string | undefined {
  const found = [...live.values()].filter(
    ({ kind, metadata }) => kind === 'Job' && metadata.labels?.[COMPONENT] === 'migrate',
  );
  const at = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? '';
  return found.toSorted((a, b) => at(b).localeCompare(at(a)))[0]?.metadata.name;
}

/**
 * Whether the ImageService that owns the rendered object owns this one. Labels do not tell: people
 * copy them, and a Job without labels takes those of its pods, so that every run of a CronJob looks
 * like ours.
 */
function isOwned({ metadata: { ownerReferences = [] } }: KubeObject, own: RenderedObject): boolean {
  const owners = own.metadata.ownerReferences.map(({ uid }) => uid);
  return ownerReferences.some(({ uid }) => owners.includes(uid));
}

function readDeployments(name: string, cluster: Cluster): Observed['deployments'] {
  const found = components.flatMap((component): [Component, KubeObject][] => {
    const deployment = cluster.live.get(
      liveKey({ kind: 'Deployment', name: `${name}-${component}` }),
    );
    return deployment === undefined ? [] : [[component, deployment]];
  });
  return Object.fromEntries(
    found.map(([component, deployment]) => {
      const revision = deployment.metadata.annotations?.[REVISION] ?? '';
      const own = podsWith(cluster, COMPONENT, component);
      const newest = own.filter(({ metadata }) => metadata.labels?.[REVISION] === revision);
      return [component, readDeployment(deployment, newest)];
    }),
  );
}

/** KEDA reports it on each of its objects. */
function readScalingProblems(name: string, { live }: Cluster): Observed['scalingProblems'] {
  const said = components.map((component) => {
    const object = live.get(liveKey({ kind: 'ScaledObject', name: `${name}-${component}` }));
    return [component, object && readScalingProblem(object)] as const;
  });
  return Object.fromEntries(said.filter(([, scalingProblems]) => scalingProblems !== undefined));
}

/** A problem of the database is reported in the migration's condition. */
const DEPENDENCIES = ['MigrationComplete', 'BrokerUsable', 'StorageUsable'];

export function usableSince(status: ImageServiceStatus | undefined): Date | undefined {
  const said = DEPENDENCIES.map((type) => findCondition(status, type));
  if (!said.every((each) => each?.status === 'True')) return undefined;
  return new Date(Math.max(...said.map((each) => Date.parse(each?.lastTransitionTime ?? ''))));
}

function podsWith({ pods: all }: Cluster, label: string, value: string): KubeObject[] {
  return all.filter(({ metadata }) => metadata.labels?.[label] === value);
}

function ownedBy(objects: readonly KubeObject[], { metadata }: KubeObject): KubeObject[] {
  return objects.filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some(({ uid }) => uid === metadata.uid),
  );
}

function readRoute(object: KubeObject): KnownRoute[] {
  if (object.kind === 'Ingress') return [{ mode: 'Ingress', object }];
  return object.kind === 'HTTPRoute' ? [{ mode: 'Gateway', object }] : [];
}

function presentOf({ apiVersion = '', kind = '', metadata }: KubeObject): Present {
  return { apiVersion, kind, name: metadata.name };
}
