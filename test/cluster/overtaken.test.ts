// Somebody else writes at the same moment as the operator: its own changes are still reported, and theirs stay.
import { expect, it } from 'vitest';
import type { KubeClient } from '../../operator/kube/client.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import { makeOrganization, makeProject } from '../support/rows.ts';
import { type Live, newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const slug = newSlug();
/** How often the operator's finalizer write failed because of a concurrent write. */
let overtaken = 0;
/** What to run right before the operator's next such write, by `write kind name`. */
const ahead = new Map<string, () => Promise<unknown>>();
/** The results of the status writes that came after such a change. */
const answers: string[] = [];
const cluster = useTenantCluster({ db, wrap: overtaking });
const { apply, led, namespace, path, plane, read, untilReason } = cluster;

function overtaking(client: KubeClient): KubeClient {
  const goAhead = async (write: 'merge' | 'delete' | 'status', kind: string, name: string) => {
    const act = ahead.get(`${write} ${kind} ${name}`);
    ahead.delete(`${write} ${kind} ${name}`);
    await act?.();
    return act !== undefined;
  };
  return {
    ...client,
    merge: async (type, place, patch) => {
      await goAhead('merge', type.kind, place.name);
      if (place.name !== slug || overtaken > 0) return client.merge(type, place, patch);
      await kubeApply(plane(), path('Project', slug), {
        ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'Project' },
        metadata: { name: slug, namespace: namespace(), annotations: { other: 'word' } },
        spec: { adoptionPolicy: 'IfUnowned', displayName: 'Shop' },
      });
      const answer = await client.merge(type, place, patch);
      if (!answer.ok && answer.failure.reason === 'Conflict') overtaken += 1;
      return answer;
    },
    delete: async (type, place, options) => {
      await goAhead('delete', type.kind, place.name);
      return client.delete(type, place, options);
    },
    applyStatus: async (type, object, as) => {
      const { observedGeneration } = object['status'] as Live['status'];
      const name = `${object.metadata.name} ${observedGeneration}`;
      const isLate = await goAhead('status', type.kind, name);
      const answer = await client.applyStatus(type, object, as);
      if (isLate) answers.push(answer.ok ? 'written' : answer.failure.reason);
      return answer;
    },
  };
}

it('an adopted project gets its Event even if somebody else writes it at the same time', async () => {
  const { organization_id } = await makeOrganization(db);
  await db.query('update organizations set namespace = null where namespace = $1', [namespace()]);
  await db.query('update organizations set namespace = $2 where organization_id = $1', [
    organization_id,
    namespace(),
  ]);
  await makeProject(db, { project_slug: slug, organization_id });
  await led(async () => {
    await apply('Project', slug, { displayName: 'Shop' });
    await untilReason('Project', slug, 'NotOwned');
    await apply('Project', slug, { displayName: 'Shop', adoptionPolicy: 'IfUnowned' });
    await untilReason('Project', slug, 'InSync');
    await until(async () => {
      const reported = await cluster.events();
      expect(reported.map(({ reason }) => reason)).toContain('Adopted');
    });
  });
  expect(overtaken).toBe(1);
});

const secrets = () => `/api/v1/namespaces/${namespace()}/secrets`;
const callback = (secretName: string) => {
  return { callback: { url: 'https://shop.example/hook', secretName } };
};
const theirs = { own: 'bXkgb3du' };

/** Replaces the Secret of a Project with one of somebody else. */
async function putInPlace(name: string): Promise<void> {
  await kubeOk(plane(), { method: 'DELETE', path: `${secrets()}/${name}` });
  const body = { metadata: { name }, data: theirs };
  await kubeOk(plane(), { method: 'POST', path: secrets(), body });
}

async function dataOf(name: string): Promise<unknown> {
  return (await kubeOk(plane(), { path: `${secrets()}/${name}` }))['data'];
}

it('a Secret that somebody just put in the place of the operator’s gets no key', async () => {
  const name = newSlug();
  await led(async () => {
    await apply('Project', name, callback(name));
    await untilReason('Project', name, 'InSync');
    ahead.set(`merge Secret ${name}`, () => putInPlace(name));
    await kubeOk(plane(), {
      ...{ method: 'PATCH', path: `${secrets()}/${name}` },
      ...{ content_type: 'application/merge-patch+json', body: { data: { secret: 'eA==' } } },
    });
    await untilReason('Project', name, 'SecretTaken');
    expect(await dataOf(name)).toEqual(theirs);
  });
});

it('a Secret that somebody just put in the place of an obsolete one is not deleted', async () => {
  const name = newSlug();
  const [first, second] = [`${name}-1`, `${name}-2`];
  await led(async () => {
    await apply('Project', name, callback(first));
    await untilReason('Project', name, 'InSync');
    ahead.set(`delete Secret ${first}`, () => putInPlace(first));
    await apply('Project', name, callback(second));
    await untilReason('Project', name, 'InSync');
    expect(await dataOf(first)).toEqual(theirs);
  });
});

it('a condition that is only repeated in a status does not overwrite a newer one', async () => {
  const name = newSlug();
  const route = (message: string) =>
    kubeApply(plane(), `${path('Project', name)}/status`, {
      ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'Project' },
      metadata: { name, namespace: namespace() },
      status: {
        conditions: [
          {
            ...{ type: 'Routed', status: 'Unknown', reason: 'RouteWaiting', message },
            ...{ observedGeneration: 1, lastTransitionTime: '2026-11-20T10:00:00Z' },
          },
        ],
      },
    });
  await led(async () => {
    await apply('Project', name, { displayName: 'One' });
    await untilReason('Project', name, 'InSync');
    await route('as it was');
    // The pass over the next spec has this message in its cache.
    ahead.set(`status Project ${name} 2`, () => route('as it is'));
    await apply('Project', name, { displayName: 'Two' });
    await untilReason('Project', name, 'InSync');
    expect(answers).toEqual(['Conflict']);
    const { conditions = [] } = (await read('Project', name)).status;
    expect(conditions.find(({ type }) => type === 'Routed')?.message).toBe('as it is');
  });
});
