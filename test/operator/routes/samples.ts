/** Projects, ImageServices and routes for tests of route decisions. */
import type { ImageServiceSpec } from '../../../operator/image-service/schema.ts';
import type { DeclaredRouting, RouteFacts } from '../../../operator/routes/decide.ts';
import { type EdgeFound, findEdge, type RouteMode } from '../../../operator/routes/edge.ts';
import type { KnownRoute } from '../../../operator/routes/live-route.ts';
import { type Routed, renderRoutes } from '../../../operator/routes/render.ts';
import { least } from '../image-service/samples.ts';

export const gateway = { mode: 'Gateway', gatewayRef: { name: 'edge' } } as const;

export function edgeOf(spec: Partial<ImageServiceSpec> = {}): EdgeFound {
  const metadata = { name: 'main', namespace: 'images', uid: 'u-1', resourceVersion: '1' };
  return findEdge([{ metadata, spec: { ...least, ...spec } }], 'images');
}

export function readyEdge(spec: Partial<ImageServiceSpec> = {}) {
  const found = edgeOf(spec);
  if (found.state !== 'ready') throw new Error('an edge that routes');
  return found;
}

export const row = {
  project_id: 'prj_1',
  project_slug: 'shop',
  custom_domains: ['img.shop.example'],
  owner_uid: null,
  owner_namespace: null,
  owner_name: null,
};

export const routed: Routed = { ...row, has_own_default: 'no' };

const states = {
  admitted: {
    Ingress: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    Gateway: {
      parents: [
        { parentRef: gateway.gatewayRef, conditions: [{ type: 'Accepted', status: 'True' }] },
      ],
    },
  },
  waiting: { Ingress: { loadBalancer: {} }, Gateway: {} },
  refused: {
    Ingress: {},
    Gateway: {
      parents: [
        {
          parentRef: gateway.gatewayRef,
          conditions: [
            {
              type: 'Accepted',
              status: 'False',
              reason: 'NoMatchingListenerHostname',
              message: 'no listener has this host',
            },
          ],
        },
      ],
    },
  },
};

export type LiveState = keyof typeof states;

type Live = { edge?: ReturnType<typeof readyEdge>; state?: LiveState };

/** The routes of a project as they are in the cluster after they were written. */
export function liveRoutes(
  of: Routed,
  { edge = readyEdge(), state = 'admitted' }: Live = {},
): KnownRoute[] {
  return renderRoutes(edge, of, []).map(({ mode, metadata, spec }) => {
    const stored = { ...metadata, uid: `of ${metadata.name}`, resourceVersion: '1' };
    return { mode, object: { metadata: stored, spec, status: states[state][mode] } };
  });
}

export function liveRoute(of: Routed, live: Live = {}): KnownRoute {
  const [route] = liveRoutes(of, live);
  if (route === undefined) throw new Error('a project without a route of its own');
  return route;
}

export function wildcard(mode: RouteMode = 'Ingress', state: LiveState = 'admitted'): KnownRoute {
  const metadata = { name: 'main-delivery', namespace: 'images', uid: 'w', resourceVersion: '1' };
  return { mode, object: { metadata, status: states[state][mode] } };
}

export const usual: DeclaredRouting = {
  perProject: 'CustomDomainsOnly',
  probe: 'Disabled',
  customDomains: undefined,
};

export function facts(more: Partial<RouteFacts> = {}): RouteFacts {
  return {
    project: row,
    declared: undefined,
    edge: edgeOf(),
    live: [],
    wildcard: wildcard(),
    ...more,
  };
}
