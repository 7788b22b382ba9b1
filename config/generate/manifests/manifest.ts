/** One object of Kubernetes: the file that it is written to, in kustomize and in the chart, and when the chart has it. */
import type { Place } from './place.ts';

export type Manifest = {
  /** The folder of config/ that kustomize finds it in; none: the chart alone has it. */
  folder?: string;
  file: string;
  /** A condition of Helm; none: always. */
  when?: string;
  /** A list of Helm: one object for each `$namespace` of it. */
  forEach?: string;
  make(place: Place): object;
};
