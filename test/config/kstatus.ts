/**
 * The documented algorithm of kstatus (sigs.k8s.io/cli-utils, status of a resource of an unknown kind), by which Flux and
 * kpt tell whether a resource is ready.
 */
import type { Recorded } from './recorded-statuses.ts';

export type KStatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

export function kstatus({ metadata, status }: Recorded): KStatus {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const { observedGeneration, conditions = [] } = status ?? {};
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) {
    return 'InProgress';
  }
  const statusOf = (type: string) => conditions.find((each) => each.type === type)?.status;
  if (statusOf('Reconciling') === 'True') return 'InProgress';
  if (statusOf('Stalled') === 'True') return 'Failed';
  const ready = statusOf('Ready');
  // What says nothing of itself counts as ready: hence the default of -1 in the status of every kind.
  return ready === undefined || ready === 'True' ? 'Current' : 'InProgress';
}
