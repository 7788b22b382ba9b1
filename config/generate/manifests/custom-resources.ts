/**
 * The custom resources to install: those of tenants, and the ImageService, which exists in clusters only.
 */
import { clusterKinds, GROUP, kinds } from '../../../operator/kinds.ts';

export { GROUP };

export type CustomResource = { kind: string; plural: string };

export const customResources: readonly CustomResource[] = [...kinds, ...clusterKinds].map(
  ({ kind, plural }) => ({ kind, plural }),
);
