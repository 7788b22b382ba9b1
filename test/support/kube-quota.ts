/** A quota of a namespace, with which the API server refuses what a test wants refused. */
import { expect } from 'vitest';
import { kubeApply, kubeOk, type PlaneAddress } from './kube-request.ts';

/**
 * Once it resolves, no object counted under this name can be created in the namespace; returns a
 * function that lifts the quota.
 */
export async function kubeForbid(plane: PlaneAddress, namespace: string, counted: string) {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas/none`;
  const hard = { [counted]: '0' };
  const head = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' } };
  await kubeApply(plane, path, { ...head, spec: { hard } });
  await expect.poll(() => kubeOk(plane, { path })).toMatchObject({ status: { hard } });
  return () => kubeOk(plane, { method: 'DELETE', path });
}
