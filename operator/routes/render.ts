/**
 * Renders the routes of one project: to its custom domains, and to its default host if it asks for rules of its own. An
 * Ingress, or HTTPRoutes of the installation's Gateway. Spec: Project (custom_domains).
 */

import { CUSTOM_DOMAINS_MAX } from '../../runtime/core/limits.ts';
import { APPLIED, digest, toMap } from '../image-service/render/object.ts';
import { SERVICE_PORT } from '../image-service/render/services.ts';
import { API_VERSION } from '../kinds.ts';
import { deliveryName, type Edge, ownFieldOf, type RouteMode, routeLabels } from './edge.ts';
import { findRoute, hostsOfRoute, type KnownRoute, type LiveRoute } from './live-route.ts';
import { shareHosts } from './share-hosts.ts';

export type Routed = {
  project_id: string;
  project_slug: string;
  custom_domains: readonly string[];
  /** In addition to the wildcard. */
  has_own_default: 'yes' | 'no';
};

export type RenderedRoute = {
  mode: RouteMode;
  metadata: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
    ownerReferences: { apiVersion: string; kind: string; name: string; uid: string }[];
  };
  hosts: readonly string[];
  spec: object;
};

/** The target of routes, and their kind. */
export type RouteTarget = { edge: Edge; mode: RouteMode };

/** The hosts of one route. */
type Share = { name: string; hosts: readonly string[] };

/** Empty if the wildcard is all that the project needs; `live` are its existing routes. */
export function renderRoutes(
  target: RouteTarget,
  project: Routed,
  live: readonly KnownRoute[],
): readonly RenderedRoute[] {
  const of = withoutOwnHosts(target.edge, project);
  const all = { name: routeName(target.edge, of), hosts: hostsOf(target.edge, of) };
  const shares = target.mode === 'Ingress' ? [all] : shareOut(all, live);
  return shares
    .filter(({ hosts }) => hosts.length > 0)
    .map((share) => renderRoute(target, of, share));
}

function renderRoute(
  { edge, mode }: RouteTarget,
  of: Routed,
  { name, hosts }: Share,
): RenderedRoute {
  const spec = mode === 'Ingress' ? ingressSpec(edge, of, hosts) : httpRouteSpec(edge, hosts);
  const declared = annotationsOf(edge, of);
  const { owner, namespace } = edge;
  return {
    mode,
    hosts,
    metadata: {
      name,
      namespace,
      labels: routeLabels(of.project_id),
      annotations: { ...declared, [APPLIED]: digest({ declared, spec }) },
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'ImageService', ...owner }],
    },
    spec,
  };
}

/** The Gateway API's limit on `spec.hostnames`. */
const HTTP_ROUTE_HOSTS_MAX = 16;
/** Includes the default host. */
const HTTP_ROUTES_MAX = Math.ceil((CUSTOM_DOMAINS_MAX + 1) / HTTP_ROUTE_HOSTS_MAX);

/** A project's slug contains no dot, so none of these names can be another project's. */
function shareOut({ name, hosts }: Share, live: readonly KnownRoute[]): Share[] {
  const names = Array.from({ length: HTTP_ROUTES_MAX }, (_, index) =>
    index === 0 ? name : `${name}.${index + 1}`,
  );
  const held = names.map((each) => {
    const route = findRoute(live, { mode: 'Gateway', name: each });
    return route === undefined ? [] : hostsOfRoute(route);
  });
  const shares = shareHosts(hosts, { held, most: HTTP_ROUTE_HOSTS_MAX });
  return names.map((each, index) => ({ name: each, hosts: shares[index] ?? [] }));
}

/** The API keeps its hosts, whatever a project's slug or its custom domains are. */
function withoutOwnHosts(edge: Edge, of: Routed): Routed {
  const isFree = (host: string) => ownFieldOf(edge, host) === undefined;
  const custom_domains = of.custom_domains.filter(isFree);
  const has_own_default = isFree(defaultHost(edge, of)) ? of.has_own_default : 'no';
  return { ...of, custom_domains, has_own_default };
}

export function defaultHost({ spec }: Edge, { project_slug }: Pick<Routed, 'project_slug'>) {
  return `${project_slug}.${spec.deliveryRootDomain}`;
}

function routeName(edge: Edge, { project_slug }: Pick<Routed, 'project_slug'>): string {
  return `${routePrefix(edge.owner.name)}${project_slug}`;
}

function routePrefix(owner: string): string {
  return `${owner}-project-`;
}

/** The slug of the project that a route is named for: its labels may be changed, its name never. */
export function slugOf({ metadata: { name, ownerReferences = [] } }: LiveRoute) {
  const owner = ownerReferences.find(({ kind }) => kind === 'ImageService')?.name;
  const prefix = owner === undefined ? /^.+?-project-/.exec(name)?.[0] : routePrefix(owner);
  if (prefix === undefined || !name.startsWith(prefix)) return undefined;
  return name.slice(prefix.length).split('.')[0] || undefined;
}

function hostsOf(edge: Edge, of: Routed): string[] {
  const own = of.has_own_default === 'yes' ? [defaultHost(edge, of)] : [];
  return [...own, ...of.custom_domains];
}

const CERTIFICATES = /^(acme\.)?cert-manager\.io\//;

/**
 * cert-manager only handles custom domains: the wildcard's certificate belongs to the wildcard's
 * route.
 */
function annotationsOf({ spec }: Edge, { custom_domains }: Routed): Record<string, string> {
  const all = toMap(spec.routing?.deliveryAnnotations);
  if (custom_domains.length > 0) return all;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !CERTIFICATES.test(name)));
}

function ingressSpec(edge: Edge, of: Routed, hosts: readonly string[]): object {
  const { ingressClassName } = edge.spec;
  const tls = tlsOf(edge, of);
  const service = { name: deliveryName(edge), port: { name: 'http' } };
  const paths = [{ path: '/', pathType: 'Prefix', backend: { service } }];
  return {
    ...(ingressClassName === undefined ? {} : { ingressClassName }),
    ...(tls.length === 0 ? {} : { tls }),
    rules: hosts.map((host) => ({ host, http: { paths } })),
  };
}

/**
 * One Secret for the custom domains of each project: no certificate covers hosts of two tenants.
 */
function tlsOf(edge: Edge, of: Routed): { hosts: string[]; secretName: string }[] {
  const { deliverySecretName, customDomains } = edge.spec.tls ?? {};
  const wildcard =
    of.has_own_default === 'yes' && deliverySecretName !== undefined
      ? [{ hosts: [defaultHost(edge, of)], secretName: deliverySecretName }]
      : [];
  const usual = deliverySecretName === undefined ? 'Disabled' : 'SecretPerProject';
  if (of.custom_domains.length === 0 || (customDomains ?? usual) === 'Disabled') return wildcard;
  const secretName = `${routeName(edge, of)}-tls`;
  return [...wildcard, { hosts: [...of.custom_domains], secretName }];
}

function httpRouteSpec(edge: Edge, hosts: readonly string[]): object {
  return {
    parentRefs: [edge.spec.routing?.gatewayRef],
    hostnames: hosts,
    rules: [{ backendRefs: [{ name: deliveryName(edge), port: SERVICE_PORT }] }],
  };
}
