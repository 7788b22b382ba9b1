import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allObjects, renderInstallation } from '../../operator/image-service/render/render.ts';
import { kustomize } from '../config/rendered.ts';
import { full, installation, least } from '../operator/image-service/samples.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const { plane } = useControlPlane();

const HOME = 'tintype-system';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const plurals: Record<string, string> = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
};

const objects = kustomize('rbac').map((object) => {
  const { name, namespace } = object.metadata;
  const place = namespace === undefined ? rbac : `${rbac}/namespaces/${namespace}`;
  return { path: `${place}/${plurals[object.kind]}/${name}`, object };
});

beforeAll(async () => {
  await kubeApply(plane(), `/api/v1/namespaces/${HOME}`, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: HOME },
  });
  for (const { path, object } of objects) await kubeApply(plane(), path, object);
}, 300_000);

// Other tests share the cluster, so remove what was applied.
afterAll(async () => {
  for (const path of [...objects.map((each) => each.path), `/api/v1/namespaces/${HOME}`]) {
    await kubeRequest(plane(), { method: 'DELETE', path });
  }
});

type Question = {
  verb: string;
  group?: string;
  resource: string;
  name?: string;
  namespace?: string;
};

/** Whether the API server itself grants the operator's account this access. */
async function mayOperator(question: Question): Promise<boolean> {
  const [resource, subresource] = question.resource.split('/');
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const { status } = await kubeOk(plane(), {
    method: 'POST',
    path,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: `system:serviceaccount:${HOME}:tintype-operator`,
        groups: ['system:serviceaccounts', 'system:authenticated'],
        resourceAttributes: { ...question, resource, subresource },
      },
    },
  });
  return (status as { allowed: boolean }).allowed;
}

describe('the operator’s account on a real API server', () => {
  it('may read, watch, create, change and delete every kind of object of an ImageService', async () => {
    const rendered = [installation(least), installation(full, { keda: 'present' })];
    const kinds = new Map(
      rendered
        .flatMap((each) => allObjects(renderInstallation(each)))
        .map(({ apiVersion, kind }) => [kind, apiVersion]),
    );
    expect(kinds.size).toBeGreaterThan(7);
    for (const [kind, apiVersion] of kinds) {
      const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
      const resource = kind.endsWith('y')
        ? `${kind.slice(0, -1)}ies`
        : `${kind}${kind.endsWith('s') ? 'es' : 's'}`;
      for (const verb of ['get', 'list', 'watch', 'create', 'patch', 'delete']) {
        const question = {
          verb,
          group: group ?? '',
          resource: resource.toLowerCase(),
          namespace: HOME,
        };
        expect(await mayOperator(question), `${verb} ${kind}`).toBe(true);
      }
    }
  });

  it.each([
    { verb: 'watch', group: 'tintype.dev', resource: 'projects' },
    { verb: 'patch', group: 'tintype.dev', resource: 'projects/status', namespace: 'team' },
    { verb: 'get', resource: 'secrets', name: 'shop-hook', namespace: 'team' },
    { verb: 'create', group: 'events.k8s.io', resource: 'events', namespace: 'team' },
    {
      verb: 'update',
      group: 'coordination.k8s.io',
      resource: 'leases',
      name: 'tintype-operator',
      namespace: HOME,
    },
    { verb: 'patch', group: 'apps', resource: 'deployments/scale', namespace: HOME },
    { verb: 'patch', resource: 'pods', namespace: HOME },
    { verb: 'create', group: 'networking.k8s.io', resource: 'ingresses', namespace: HOME },
  ] as Question[])('may $verb $resource', async (question) => {
    expect(await mayOperator(question)).toBe(true);
  });

  it.each([
    { verb: 'list', resource: 'secrets' },
    { verb: 'watch', resource: 'secrets', namespace: HOME },
    { verb: 'deletecollection', resource: 'secrets', namespace: 'team' },
    { verb: 'create', group: 'tintype.dev', resource: 'projects', namespace: 'team' },
    { verb: 'delete', group: 'tintype.dev', resource: 'projects', namespace: 'team' },
    { verb: 'manage-staff-fields', group: 'tintype.dev', resource: 'projects', namespace: 'team' },
    {
      verb: 'update',
      group: 'coordination.k8s.io',
      resource: 'leases',
      name: 'other',
      namespace: HOME,
    },
    { verb: 'create', group: 'apps', resource: 'deployments', namespace: 'team' },
    { verb: 'create', resource: 'pods', namespace: HOME },
    { verb: 'create', resource: 'pods/exec', namespace: HOME },
    {
      verb: 'create',
      group: 'rbac.authorization.k8s.io',
      resource: 'rolebindings',
      namespace: HOME,
    },
    { verb: 'impersonate', resource: 'users' },
    { verb: 'delete', resource: 'namespaces', name: 'team' },
  ] as Question[])('may not $verb $resource', async (question) => {
    expect(await mayOperator(question)).toBe(false);
  });
});
