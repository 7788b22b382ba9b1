/**
 * Routes of the kind that is declared no more, until all of the other kind serve: they keep what is the project's still,
 * so that a domain that went to another project leaves at once. Pure.
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
export function keepOutgoing(route: KnownRoute, hosts: readonly string[]): RouteStep[] {
  const held = hostsOfRoute(route);
  const kept = held.filter((host) => hosts.includes(host));
  if (kept.length === 0) return [{ do: 'delete', route }];
  if (kept.length === held.length) return [];
  return [{ do: 'apply', route: narrow(route, kept), to: 'ours' }];
}

/** As it stands, but for the hosts; whatever is rendered of its kind next differs from it. */
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
