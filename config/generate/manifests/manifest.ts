/**
 * One Kubernetes object: the file it is written to, in kustomize and in the chart, and when the chart includes it.
 */
import type { Place } from './place.ts';

export type Manifest = {
  /** Its kustomize folder below config/; absent: only the chart has it. */
  folder?: string;
  file: string;
  /** A Helm condition; absent: always. */
  when?: string;
  /** A Helm list: one object for each `$namespace` in it. */
  forEach?: string;
  make(place: Place): object;
};
