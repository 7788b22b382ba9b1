/** Where a route in the cluster differs from its rendered form. Pure. */
import { findDifference } from '../image-service/find-difference.ts';
import type { Became } from '../installation/became.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { RenderedRoute } from './render.ts';

/**
 * Additions by others are no deviation; a field that is no longer declared shows in the digest of
 * what was applied.
 */
export function findDeviation(route: RenderedRoute, live: KubeObject): string | undefined {
  const isOwned = route.metadata.ownerReferences.every(({ uid }) =>
    live.metadata.ownerReferences?.some((each) => each.uid === uid),
  );
  return isOwned ? findDifference(declaredOf(route), live) : '.metadata.ownerReferences';
}

/** Whether it exists as rendered, or as the cluster changes that on admission. */
export function isAsWritten(
  route: RenderedRoute,
  live: KubeObject,
  became: Pick<Became, 'find'> | undefined,
): boolean {
  if (findDeviation(route, live) === undefined) return true;
  return became?.find(declaredOf(route), live) !== undefined;
}

/** Without the owners, as others may add some. */
export function declaredOf({ metadata, spec }: RenderedRoute): object {
  const { labels, annotations } = metadata;
  return { metadata: { labels, annotations }, spec };
}
