/** The Lease object of an election: who leads, since when, and how often that changed. Pure. */
import { type KubeObject, resourceType } from './resource.ts';

export type Lease = KubeObject & {
  spec?: {
    /** Empty where the last leader gave it up. */
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    /** Grows with every term: what a term is fenced by. */
    leaseTransitions?: number;
  };
};

export const leases = resourceType<Lease>({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
});

/** What tells that the leader was alive: anything that it writes when it renews. */
export function printSign({ metadata }: Lease): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}

/** The API server takes a time of a lease with six digits only. */
export function printMicroTime(time: Date): string {
  return time.toISOString().replace(/Z$/, '000Z');
}
