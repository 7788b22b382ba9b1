// A resource that somebody else writes in the moment in which the operator does: what it did to the rows is told all the same.
import { expect, it } from 'vitest';
import type { KubeClient } from '../../operator/kube/client.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import { makeOrganization, makeProject } from '../support/rows.ts';
import { newSlug, until, useTenantCluster } from '../support/tenant-cluster.ts';

const { db } = useDatabase();
const slug = newSlug();
/** How often the operator came too late with the finalizer. */
let overtaken = 0;
const cluster = useTenantCluster({ db, wrap: overtakingOnce });
const { apply, led, namespace, path, plane, untilReason } = cluster;

function overtakingOnce(client: KubeClient): KubeClient {
  return {
    ...client,
    merge: async (type, place, patch) => {
      if (type.kind !== 'Project' || overtaken > 0) return client.merge(type, place, patch);
      await kubeApply(plane(), path('Project', slug), {
        ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'Project' },
        metadata: { name: slug, namespace: namespace(), annotations: { other: 'word' } },
        spec: { adoptionPolicy: 'IfUnowned', displayName: 'Shop' },
      });
      const answer = await client.merge(type, place, patch);
      if (!answer.ok && answer.failure.reason === 'Conflict') overtaken += 1;
      return answer;
    },
  };
}

it('a project that is taken over is told of in an Event', async () => {
  const { organization_id } = await makeOrganization(db);
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
    const events = `/apis/events.k8s.io/v1/namespaces/${namespace()}/events`;
    await until(async () => {
      const { items } = (await kubeOk(plane(), { path: events })) as {
        items: { reason: string }[];
      };
      expect(items.map(({ reason }) => reason)).toContain('Adopted');
    });
  });
  expect(overtaken).toBe(1);
});
