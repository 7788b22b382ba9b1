/** The input for rendering an installation's objects: the resource, and what is known about its surroundings. */

import type { ImageServiceSpec } from './schema.ts';
import type { Endpoints } from './secrets.ts';

export type Installation = {
  name: string;
  namespace: string;
  /** The uid of the ImageService, which owns all objects. */
  uid: string;
  spec: ImageServiceSpec;
  /** The number of the newest migration that this operator knows. */
  schema_version: string;
  /** Identifies the database; undefined if it did not answer. */
  database_id: string | undefined;
  /** Changes with the contents of the Secrets, which replaces the pods. */
  secrets_digest: string;
  /**
   * Changes with the ConfigMaps' files, which a process reads at its start; undefined without
   * ConfigMaps.
   */
  files_digest: string | undefined;
  endpoints: Endpoints;
  /** Whether KEDA's custom resources are installed. */
  keda: 'present' | 'absent';
};

/** The long-running parts. */
export const components = [
  'worker-ingest',
  'worker-render',
  'dispatcher',
  'api',
  'delivery',
] as const;
export type Component = (typeof components)[number];

/** Everything that runs as a pod. */
export type Process = Component | 'migrate' | 'job';

/** What leads requests to the API, uploads and delivery. */
export function routingOf({ routing }: ImageServiceSpec): 'Ingress' | 'Gateway' | 'Disabled' {
  return routing?.mode ?? 'Ingress';
}

/** Who sets the number of workers. */
export function scalerOf({
  spec,
  keda,
}: Pick<Installation, 'spec' | 'keda'>): 'keda' | 'built-in' | 'nobody' {
  const mode = spec.autoscaling?.mode ?? 'Auto';
  if (mode === 'Disabled') return 'nobody';
  if (mode === 'KEDA') return 'keda';
  return mode === 'Auto' && keda === 'present' ? 'keda' : 'built-in';
}
