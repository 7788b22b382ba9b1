/** Makes the API server reject the creation of certain objects, by a ResourceQuota. */
import { expect } from 'vitest';
import { kubeApply, kubeOk, type PlaneAddress } from './kube-request.ts';

/**
 * Forbids new objects of the quota's resource name `counted` in the namespace. Resolves when the
 * quota is in force; the returned function removes it.
 */
export async function kubeForbid(plane: PlaneAddress, namespace: string, counted: string) {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas/none`;
  const hard = { [counted]: '0' };
  const head = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' } };
  await kubeApply(plane, path, { ...head, spec: { hard } });
  await expect.poll(() => kubeOk(plane, { path })).toMatchObject({ status: { hard } });
  return () => kubeOk(plane, { method: 'DELETE', path });
}
