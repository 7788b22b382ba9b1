import { access } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ControlPlane,
  compactEtcd,
  createNamespace,
  startControlPlane,
} from './control-plane.ts';
import { kubeApply, kubeOk, kubeRequest } from './kube-request.ts';
import { useControlPlane } from './shared-control-plane.ts';

const shared = useControlPlane();

describe('the control plane shared by a test run', () => {
  it('serves Tintype’s custom resources with the defaults of their schemas', async () => {
    const namespace = await shared.namespace();
    const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects/shop`;
    await kubeApply(shared.plane(), path, {
      apiVersion: 'tintype.dev/v1alpha1',
      kind: 'Project',
      metadata: { name: 'shop' },
      spec: {},
    });
    const stored = await kubeOk(shared.plane(), { path });
    expect(stored.status).toEqual({ observedGeneration: -1 });
  });

  it('grants users only the permissions that are bound to them', async () => {
    const namespace = await shared.namespace();
    const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects`;
    const asTenant = () => kubeRequest(shared.plane(), { path, as: 'tenant' });
    expect((await asTenant()).status).toBe(403);
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    const metadata = { name: 'reader' };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    await kubeApply(shared.plane(), `${rbac}/roles/reader`, {
      ...{ apiVersion, kind: 'Role', metadata },
      rules: [{ apiGroups: ['tintype.dev'], resources: ['projects'], verbs: ['list'] }],
    });
    await kubeApply(shared.plane(), `${rbac}/rolebindings/reader`, {
      ...{ apiVersion, kind: 'RoleBinding', metadata },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'User', name: 'tenant', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    await expect.poll(async () => (await asTenant()).status).toBe(200);
    expect((await kubeRequest(shared.plane(), { path, as: 'stranger' })).status).toBe(403);
  });

  it('garbage-collects objects whose owner is deleted', async () => {
    const namespace = await shared.namespace();
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    const owner = await kubeApply(shared.plane(), `${maps}/owner`, configMap('owner'));
    const { uid } = owner.metadata as { uid: string };
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await kubeApply(shared.plane(), `${maps}/owned`, configMap('owned', { ownerReferences }));
    await kubeOk(shared.plane(), { method: 'DELETE', path: `${maps}/owner` });
    const statusOfOwned = async () =>
      (await kubeRequest(shared.plane(), { path: `${maps}/owned` })).status;
    await expect.poll(statusOfOwned).toBe(404);
  });
});

describe('a control plane of a single test', { shuffle: false }, () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane({ components: [] });
  });
  afterAll(() => plane.stop());

  it('keeps its objects when its API server is killed and restarted', async () => {
    const namespace = await createNamespace(plane);
    const path = `/api/v1/namespaces/${namespace}/configmaps/kept`;
    await kubeApply(plane, path, configMap('kept'));
    await plane.killApiServer();
    await expect(kubeRequest(plane, { path })).rejects.toThrow();
    await plane.startApiServer();
    expect((await kubeRequest(plane, { path })).status).toBe(200);
  });

  it('returns 410 for a list at a resource version before a compaction', async () => {
    const namespace = await createNamespace(plane);
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    const old = await kubeApply(plane, `${maps}/one`, configMap('one'));
    const { resourceVersion } = old.metadata as { resourceVersion: string };
    await kubeApply(plane, `${maps}/two`, configMap('two'));
    await compactEtcd(plane);
    const exact = `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
    await plane.killApiServer();
    await plane.startApiServer();
    expect((await kubeRequest(plane, { path: `${maps}?${exact}` })).status).toBe(410);
  });

  it('leaves no server or folder behind when it is stopped', async () => {
    await access(plane.folder);
    await plane.stop();
    await expect(fetch(`${plane.etcd_url}/health`)).rejects.toThrow();
    await expect(access(plane.folder)).rejects.toThrow('ENOENT');
  });
});

function configMap(name: string, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } };
}
