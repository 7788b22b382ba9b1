/** What is wrong with a route, in a sentence that says what to do. */
import { refusalOf } from '../cluster/refusal.ts';
import { findLastWriter, printReverter } from '../kube/find-last-writer.ts';
import type { KubeFailure } from '../kube/kube-failure.ts';
import type { KubeObject } from '../kube/resource.ts';
import { findDeviation } from './deviation.ts';
import { routeTypes } from './live-route.ts';
import type { RenderedRoute } from './render.ts';
import type { Verdict } from './verdict.ts';

/** Throws for any other failure, which fails the pass. */
export function describeRefusal(
  { mode, metadata: { namespace, name } }: RenderedRoute,
  { failure, isOurs }: { failure: KubeFailure; isOurs: boolean },
): Verdict {
  if (failure.reason === 'Conflict' && !isOurs) {
    const message = `'${namespace}/${name}' exists and was not created by the operator: delete it, and the operator writes the route`;
    return { reason: 'RouteTaken', message };
  }
  if (failure.reason === 'NotFound' && mode === 'Gateway') {
    const message =
      'the cluster has no HTTPRoutes: install the Gateway API, or set `spec.routing.mode` to Ingress';
    return { reason: 'GatewayAPIMissing', message };
  }
  const refusal = refusalOf(failure);
  if (refusal === undefined) throw failure;
  const message = `'${namespace}/${name}': ${refusal}; the operator tries again by itself`;
  return { reason: 'RouteRefused', message };
}

/** `live`: includes who wrote what; undefined if the route was deleted. */
export function describeRevert(route: RenderedRoute, live: KubeObject | undefined): Verdict {
  const { mode, metadata } = route;
  const path = live && findDeviation(route, live);
  const by = live && path && findLastWriter(live, path);
  const called = `the ${routeTypes[mode].kind} '${metadata.namespace}/${metadata.name}'`;
  const message = `${called} does not stay as written: ${printReverter(path, by)}; it is written again less and less often, finally every five minutes: stop whoever changes it`;
  return { reason: 'RouteUndone', message };
}
