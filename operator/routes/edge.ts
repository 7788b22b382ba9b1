/**
 * Where delivery hosts lead, by the ImageService of the delivery namespace: to its Service, through an Ingress of its
 * class or at its Gateway. A route and its backend must share a namespace, so no other ImageService counts.
 */

import { oncePerObject } from '../../runtime/core/once-per-object.ts';
import { routingOf } from '../image-service/installation.ts';
import { ownHosts } from '../image-service/own-hosts.ts';
import { readSpec } from '../image-service/read-spec.ts';
import { MANAGED } from '../image-service/render/object.ts';
import { type ImageServiceSpec, imageServiceSpec } from '../image-service/schema.ts';
import type { ImageServiceObject } from '../installation/live-types.ts';
import { byAge } from '../kube/resource.ts';

export type Edge = {
  /** The ImageService, whose deletion also deletes the routes. */
  owner: { name: string; uid: string };
  namespace: string;
  spec: ImageServiceSpec;
};

export type RouteMode = 'Ingress' | 'Gateway';
export type GatewayRef = NonNullable<ImageServiceSpec['routing']>['gatewayRef'];

/**
 * `absent`: there is no target. `disabled`: somebody else makes the routes. `invalid`: the target
 * is unknown; `unseen`: existing routes were never listed. In the last two cases existing routes
 * stay.
 */
export type EdgeFound =
  | { state: 'ready'; edge: Edge; mode: RouteMode }
  | { state: 'disabled'; edge: Edge }
  | { state: 'unseen'; edge: Edge; why: string }
  | { state: 'invalid'; why: string; deliveryRootDomain: string | undefined }
  | { state: 'absent'; why: string };

/**
 * The ImageService that has the database, otherwise the oldest: another cannot take the routes over
 * by appearing.
 */
export function findEdge(services: Iterable<ImageServiceObject>, namespace: string): EdgeFound {
  const all = [...services].toSorted(byAge);
  const first = all.find(({ status }) => status?.databaseID !== undefined) ?? all[0];
  if (first === undefined) {
    return { state: 'absent', why: `there is no ImageService in the namespace '${namespace}'` };
  }
  const { name, uid } = first.metadata;
  const spec = parseSpec(first);
  if (spec === undefined) {
    const why = `the ImageService '${namespace}/${name}' is not valid, see its conditions: routes stay as they are until it is`;
    return { state: 'invalid', why, deliveryRootDomain: parseRootDomain(first) };
  }
  const edge = { owner: { name, uid }, namespace, spec };
  const mode = routingOf(spec);
  return mode === 'Disabled' ? { state: 'disabled', edge } : { state: 'ready', edge, mode };
}

/** The domain of all projects' default hosts; undefined without an ImageService. */
export function rootDomainOf(found: EdgeFound): string | undefined {
  if (found.state === 'absent') return undefined;
  return found.state === 'invalid' ? found.deliveryRootDomain : found.edge.spec.deliveryRootDomain;
}

/** Cached, as every project asks for it. */
const parseSpec = oncePerObject(({ spec }: ImageServiceObject) => readSpec(spec).spec);

/** Valid whatever else is wrong with the spec. */
const parseRootDomain = oncePerObject(
  ({ spec }: ImageServiceObject) => rootDomainSpec.safeParse(spec).data?.deliveryRootDomain,
);
const rootDomainSpec = imageServiceSpec.pick({ deliveryRootDomain: true }).strip();

/**
 * The hosts of the API, which no project may take: cached, as every host of every project asks for
 * them.
 */
const ownHostsOf = oncePerObject(ownHosts);

/** The field that makes a host the installation's own. */
export function ownFieldOf({ spec }: Edge, host: string): 'baseURL' | 'uploadBaseURL' | undefined {
  return ownHostsOf(spec).get(host);
}

/** The Service that delivers, and the ImageService's own route of all default hosts. */
export function deliveryName({ owner }: Edge): string {
  return `${owner.name}-delivery`;
}

/** The Gateway of the HTTPRoutes; undefined with Ingresses. */
export function gatewayOf({ spec }: Edge): GatewayRef {
  return spec.routing?.gatewayRef;
}

export const PROJECT_LABEL = 'tintype.dev/project';

/** Without the name of the installation: these are not among the ImageService's own objects. */
export function routeLabels(project_id: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': 'tintype',
    'app.kubernetes.io/component': 'project-route',
    ...MANAGED,
    [PROJECT_LABEL]: project_id,
  };
}
