/**
 * The documented algorithm of kstatus (sigs.k8s.io/cli-utils, resources of an unknown kind), by which Flux and kpt
 * determine whether a resource is ready.
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
  // A resource without Ready counts as ready. Therefore the status of every kind has a default
  // observedGeneration of -1.
  return ready === undefined || ready === 'True' ? 'Current' : 'InProgress';
}
