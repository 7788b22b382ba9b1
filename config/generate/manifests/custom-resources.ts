/** The custom resources that are installed: those of tenants, and the one that means nothing on one machine. */
import { clusterKinds, GROUP, kinds } from '../../../operator/kinds.ts';

export { GROUP };

export type CustomResource = { kind: string; plural: string };

export const customResources: readonly CustomResource[] = [...kinds, ...clusterKinds].map(
  ({ kind, plural }) => ({ kind, plural }),
);
