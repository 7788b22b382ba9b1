/**
 * Routes of the kind that is no longer declared, until all of the other kind are served: they keep only hosts that
 * still belong to the project, so that a domain which moved to another project leaves at once. Pure.
 */
import { APPLIED, digest } from '../image-service/render/object.ts';
import type { RouteStep } from './decide.ts';
import { hostsOfRoute, type KnownRoute } from './live-route.ts';
import type { RenderedRoute } from './render.ts';

type IngressSpec = {
  tls?: { hosts?: string[]; secretName?: string }[];
  rules?: { host?: string }[];
};

/** `hosts` are those of the project. */
export function narrowSuperseded(route: KnownRoute, hosts: readonly string[]): RouteStep[] {
  const held = hostsOfRoute(route);
  const kept = held.filter((host) => hosts.includes(host));
  if (kept.length === 0) return [{ do: 'delete', route }];
  if (kept.length === held.length) return [];
  return [{ do: 'apply', route: narrow(route, kept), to: 'ours' }];
}

/** The existing route with fewer hosts; the next rendered one of its kind will differ from it. */
function narrow({ mode, object }: KnownRoute, hosts: readonly string[]): RenderedRoute {
  const { name, namespace = '', labels = {}, ownerReferences = [] } = object.metadata;
  const { [APPLIED]: _, ...declared } = object.metadata.annotations ?? {};
  const spec =
    mode === 'Gateway'
      ? { ...(object.spec as object), hostnames: hosts }
      : narrowIngress(object.spec, hosts);
  return {
    mode,
    hosts,
    metadata: {
      ...{ name, namespace, labels, ownerReferences },
      annotations: { ...declared, [APPLIED]: digest({ narrowed: spec }) },
    },
    spec,
  };
}

function narrowIngress(spec: unknown, hosts: readonly string[]): object {
  const { tls = [], rules = [], ...rest } = spec as IngressSpec;
  const certified = tls
    .map((each) => ({ ...each, hosts: (each.hosts ?? []).filter((host) => hosts.includes(host)) }))
    .filter((each) => each.hosts.length > 0);
  return {
    ...rest,
    ...(certified.length === 0 ? {} : { tls: certified }),
    rules: rules.filter(({ host = '' }) => hosts.includes(host)),
  };
}
