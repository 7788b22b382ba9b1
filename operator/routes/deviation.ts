/** Where a route in the cluster differs from its rendered form. Pure. */
import { findDifference } from '../image-service/find-difference.ts';
import type { AdmissionMutations } from '../installation/admission-mutations.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { RenderedRoute } from './render.ts';

/**
 * Additions by others are no deviation; a field that is no longer declared shows in the digest of
 * what was applied.
 */
export function findDeviation(route: RenderedRoute, live: KubeObject): string | undefined {
  return findDifference(declaredOf(route, live), live);
}

/** Whether it exists as rendered, or as the cluster changes that on admission. */
export function isAsRendered(
  route: RenderedRoute,
  live: KubeObject,
  mutations: Pick<AdmissionMutations, 'find'> | undefined,
): boolean {
  if (findDeviation(route, live) === undefined) return true;
  return mutations?.find(declaredOf(route, live), live) !== undefined;
}

/** Owners only where ours is missing, as others may add some. */
export function declaredOf(route: RenderedRoute, live: KubeObject): object {
  const { labels, annotations, ownerReferences } = route.metadata;
  const owners = isOwned(route, live) ? {} : { ownerReferences };
  return { metadata: { labels, annotations, ...owners }, spec: route.spec };
}

/** Whether it belongs to the ImageService that the route is rendered for. */
function isOwned({ metadata }: RenderedRoute, live: KubeObject): boolean {
  return metadata.ownerReferences.every(({ uid }) =>
    live.metadata.ownerReferences?.some((each) => each.uid === uid),
  );
}
