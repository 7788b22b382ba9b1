/** Where a route of the cluster is not as it was rendered. Pure. */
import { findDifference } from '../image-service/find-difference.ts';
import type { Became } from '../installation/became.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { RenderedRoute } from './render.ts';

/** What others added stands; what we no longer declare is known by the digest of what was applied. */
export function findDeviation(route: RenderedRoute, live: KubeObject): string | undefined {
  const isOwned = route.metadata.ownerReferences.every(({ uid }) =>
    live.metadata.ownerReferences?.some((each) => each.uid === uid),
  );
  return isOwned ? findDifference(declaredOf(route), live) : '.metadata.ownerReferences';
}

/** Whether it is there as it was rendered, or as the cluster makes it of that on its way in. */
export function isAsWritten(
  route: RenderedRoute,
  live: KubeObject,
  became: Pick<Became, 'find'> | undefined,
): boolean {
  if (findDeviation(route, live) === undefined) return true;
  return became?.find(declaredOf(route), live) !== undefined;
}

/** Of its owners others may add some. */
export function declaredOf({ metadata, spec }: RenderedRoute): object {
  const { labels, annotations } = metadata;
  return { metadata: { labels, annotations }, spec };
}
