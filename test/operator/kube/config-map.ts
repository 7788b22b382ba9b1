/** The simplest type of object that an API server has. */
import { type KubeObject, resourceType } from '../../../operator/kube/resource.ts';

export type ConfigMap = KubeObject & { data?: Record<string, string>; immutable?: boolean };

export const configMaps = resourceType<ConfigMap>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
});
