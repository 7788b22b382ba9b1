import { describe, expect, it } from 'vitest';
import { renderInstallation } from '../../../operator/image-service/render/render.ts';
import {
  type Cluster,
  liveKey,
  newestMigration,
  observeObjects,
  usableSince,
} from '../../../operator/installation/observe.ts';
import type { KubeObject } from '../../../operator/kube/resource.ts';
import { installation, least } from '../image-service/samples.ts';

const of = installation(least);
const { migration } = renderInstallation(of);

function job(name: string, owner: { kind: string; uid: string }): KubeObject {
  const reference = { apiVersion: 'v1', name: 'owner', controller: true, ...owner };
  // The labels of its pods: the API server gives them to a Job that has none.
  const { labels } = migration.metadata;
  const metadata = { name, namespace: of.namespace, uid: name, resourceVersion: '1', labels };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, ownerReferences: [reference] },
  };
}

function presentIn(...objects: KubeObject[]): string[] {
  const live = new Map(
    objects.map((each) => [liveKey({ kind: 'Job', name: each.metadata.name }), each]),
  );
  const cluster: Cluster = { live, pods: [], jobs: objects, keda: 'absent' };
  return observeObjects(of.name, migration, cluster).present.map(({ name }) => name);
}

describe('the objects that an installation counts as its own', () => {
  it('include its earlier migrations, but no runs of its CronJobs', () => {
    const earlier = job('main-migrate-0001', { kind: 'ImageService', uid: of.uid });
    const run = job('main-hourly-rollup-29384', { kind: 'CronJob', uid: 'c' });
    expect(presentIn(earlier, run)).toEqual(['main-migrate-0001']);
  });

  it('include neither copies with its labels nor leftovers of a namesake', () => {
    const copied = job('main-copied', { kind: 'ImageService', uid: of.uid });
    const { ownerReferences: _, ...metadata } = copied.metadata;
    const left = job('main-migrate-0002', { kind: 'ImageService', uid: 'another' });
    expect(presentIn({ ...copied, metadata }, left)).toEqual([]);
  });
});

it('a later run of a CronJob does not count as the newest migration', () => {
  const at = (hour: number, each: KubeObject, component: string): [string, KubeObject] => {
    const labels = { ...each.metadata.labels, 'app.kubernetes.io/component': component };
    const creationTimestamp = `2026-11-21T1${hour}:00:00Z`;
    const metadata = { ...each.metadata, labels, creationTimestamp };
    return [each.metadata.name, { ...each, metadata }];
  };
  const ours = { kind: 'ImageService', uid: of.uid };
  const live = new Map([
    at(1, job('main-migrate-0001', ours), 'migrate'),
    at(2, job('main-migrate-0002', ours), 'migrate'),
    at(3, job('main-hourly-rollup-29384', { kind: 'CronJob', uid: 'c' }), 'job'),
  ]);
  expect(newestMigration(live)).toBe('main-migrate-0002');
});

describe('the time since when everything that pods need is usable', () => {
  const said = (type: string, status: 'True' | 'False' | 'Unknown', hour: number) => {
    const lastTransitionTime = `2026-11-21T1${hour}:00:00Z`;
    return { type, status, reason: 'Usable', message: '', lastTransitionTime };
  };
  const migrated = said('MigrationComplete', 'True', 1);
  const storage = said('StorageUsable', 'True', 3);

  it('is when the last dependency became usable', () => {
    const conditions = [migrated, said('BrokerUsable', 'True', 4), storage];
    expect(usableSince({ conditions })).toEqual(new Date('2026-11-21T14:00:00Z'));
  });

  it.each([
    ['it was never looked at', undefined],
    ['one was not spoken of', { conditions: [migrated, storage] }],
    [
      'one is not tried yet',
      { conditions: [migrated, said('BrokerUsable', 'Unknown', 2), storage] },
    ],
    ['one is away', { conditions: [migrated, said('BrokerUsable', 'False', 2), storage] }],
  ])('is unknown if %s', (_, status) => {
    expect(usableSince(status)).toBeUndefined();
  });
});
