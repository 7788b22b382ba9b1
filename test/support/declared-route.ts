import type { Database } from '../../runtime/db/client.ts';
import { updateProjectDomains } from '../../runtime/db/project-domains.ts';
import { updateProject } from '../../runtime/db/projects.ts';
import { kubeOk } from './kube-request.ts';
import { makeProject } from './rows.ts';
import { newSlug, type TenantCluster } from './tenant-cluster.ts';

type Places = Pick<TenantCluster, 'apply' | 'namespace' | 'other' | 'path' | 'plane'>;

/**
 * Declares a Project with a custom domain, and creates its row, owned by the Project, as the
 * projects controller does. Its Ingress belongs in another namespace.
 */
export async function declareRouted(cluster: Places, db: Database) {
  const { apply, namespace, other: images, path, plane } = cluster;
  const name = newSlug();
  const host = `${name}.example`;
  const made = await apply('Project', name, {});
  const { project_id } = await makeProject(db, { project_slug: name });
  const owner = { owner_namespace: namespace(), owner_name: name };
  const changes = {
    ...{ ...owner, owner_uid: (made as { metadata: { uid: string } }).metadata.uid },
    owner_deletion_policy: 'suspend' as const,
  };
  await db.transaction(async (tx) => {
    await updateProject(tx, { project_id, changes });
    await updateProjectDomains(tx, { project_id, domains: [host] });
  });
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const synced = { type: 'Synced', status: 'True', reason: 'InSync', message: '' };
  const body = { status: { conditions: [{ ...synced, lastTransitionTime }] } };
  const content_type = 'application/merge-patch+json';
  const status = `${path('Project', name)}/status`;
  await kubeOk(plane(), { method: 'PATCH', content_type, body, path: status });
  const route = `/apis/networking.k8s.io/v1/namespaces/${images()}/ingresses/main-project-${name}`;
  return { name, host, route };
}
