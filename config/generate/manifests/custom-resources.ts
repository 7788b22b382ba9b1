/**
 * The custom resources to install: those of tenants, and the ImageService, which exists in clusters only.
 */
import { clusterKinds } from '../../../operator/cluster-kinds.ts';
import { kinds } from '../../../operator/kinds.ts';

export const customResources = [...kinds, ...clusterKinds];
