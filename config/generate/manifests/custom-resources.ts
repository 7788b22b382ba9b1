/**
 * The custom resources to install: those of tenants, and the ImageService, which exists in clusters only.
 */
import { clusterKinds, kinds } from '../../../operator/kinds.ts';

export const customResources = [...kinds, ...clusterKinds];
