/** What the objects of an installation are rendered from: the resource, and what was found out about its surroundings. */

import type { ImageServiceSpec } from './schema.ts';
import type { Endpoints } from './secrets.ts';

export type Installation = {
  name: string;
  namespace: string;
  /** Of the ImageService, which owns all objects. */
  uid: string;
  spec: ImageServiceSpec;
  /** The newest migration that this operator knows, as its number. */
  schema_version: string;
  /** Which database it is; undefined where it did not answer. */
  database_id: string | undefined;
  /** Changes with what the Secrets hold, so that pods are replaced then. */
  secrets_digest: string;
  /** Changes with the files of the ConfigMaps, which a process reads when it starts; none where none is named. */
  files_digest: string | undefined;
  endpoints: Endpoints;
  /** Whether the custom resources of KEDA are there. */
  keda: 'present' | 'absent';
};

/** The parts that run all the time. */
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
