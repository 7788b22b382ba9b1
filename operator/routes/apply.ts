/**
 * Writes what was decided for the routes of a project, by server-side apply: what others added to a route stays theirs,
 * and an object of somebody else is never taken.
 */
import { refusalOf } from '../cluster/refusal.ts';
import type { KubeClient } from '../kube/client.ts';
import { unwrap } from '../kube/kube-failure.ts';
import type { RouteStep } from './decide.ts';
import { routeTypes } from './live-route.ts';
import type { RenderedRoute } from './render.ts';
import type { Verdict } from './verdict.ts';

const ROUTE_OWNER = 'tintype/route';

/** What stood in the way, if so: first of all. A route is taken away only where all others could be written. */
export async function applyRoute(
  client: KubeClient,
  steps: readonly RouteStep[],
): Promise<Verdict | undefined> {
  const troubles: Verdict[] = [];
  for (const step of steps) {
    const trouble = step.do === 'apply' ? await write(client, step) : undefined;
    if (trouble !== undefined) troubles.push(trouble);
  }
  if (troubles.length > 0) return troubles[0];
  for (const step of steps) if (step.do === 'delete') await remove(client, step);
  return undefined;
}

type Applying = Extract<RouteStep, { do: 'apply' }>;

async function write(client: KubeClient, { route, to }: Applying): Promise<Verdict | undefined> {
  const { mode, metadata, spec } = route;
  const answer = await client.apply(
    routeTypes[mode],
    { metadata, spec },
    {
      owner: ROUTE_OWNER,
      conflicts: to === 'new' ? 'refuse' : 'take',
    },
  );
  if (!answer.ok && answer.failure.reason === 'Conflict' && to === 'new') return taken(route);
  const isMissing = !answer.ok && answer.failure.reason === 'NotFound' && mode === 'Gateway';
  if (isMissing) {
    const message =
      'the cluster has no HTTPRoutes: install the Gateway API, or set `spec.routing.mode` to Ingress';
    return { reason: 'GatewayAPIMissing', message };
  }
  const refusal = answer.ok ? undefined : refusalOf(answer.failure);
  if (refusal !== undefined) return refused(route, refusal);
  unwrap(answer);
  return undefined;
}

function refused({ metadata: { namespace, name } }: RenderedRoute, refusal: string): Verdict {
  const message = `'${namespace}/${name}': ${refusal}; this is tried again by itself`;
  return { reason: 'RouteRefused', message };
}

function taken({ metadata: { namespace, name } }: RenderedRoute): Verdict {
  const message = `'${namespace}/${name}' is there and was not made by the operator: delete it, and the route is written`;
  return { reason: 'RouteTaken', message };
}

async function remove(
  client: KubeClient,
  { route: { mode, object } }: Extract<RouteStep, { do: 'delete' }>,
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  const answer = await client.delete(routeTypes[mode], { name, namespace }, { uid });
  // Another has its name by now, which is not ours to delete.
  if (!answer.ok && answer.failure.reason !== 'Conflict') throw answer.failure;
}
