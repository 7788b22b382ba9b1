/** The Lease object of an election: who leads, since when, and how often that changed. Pure. */
import { type KubeObject, resourceType } from './resource.ts';

export type Lease = KubeObject & {
  spec?: {
    /** Empty if the last leader gave it up. */
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    /** Grows with every term and fences the term's writes. */
    leaseTransitions?: number;
  };
};

export const leases = resourceType<Lease>({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
});

/** Changes whenever the leader renews the Lease, which shows that it is alive. */
export function printSign({ metadata }: Lease): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}

/** The API server requires exactly six fractional digits in a Lease's times. */
export function printMicroTime(time: Date): string {
  return time.toISOString().replace(/Z$/, '000Z');
}
