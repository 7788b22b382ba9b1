/**
 * The state of the installation's own routes: whether a controller serves the hosts of the API, uploads and delivery. A
 * Project's routes have their own condition.
 */

import { describeWaiting } from '../routes/describe-waiting.ts';
import type { RouteMode } from '../routes/edge.ts';
import {
  admissionOf,
  findRoute,
  hostsOfRoute,
  type KnownRoute,
  routeTypes,
} from '../routes/live-route.ts';
import { mostSevere } from './findings.ts';
import { type Installation, routingOf } from './installation.ts';
import type { Observed, Verdict } from './observed.ts';
import { APPLIED, digest, type RenderedObject } from './render/object.ts';
import { renderRoutes } from './render/routes.ts';

type Facts = { of: Installation; observed: Pick<Observed, 'routes'> };

/** `unwritten`: why missing routes are not written at present. */
export function judgeRoutes({ of, observed }: Facts, unwritten?: Verdict): Verdict {
  const mode = routingOf(of.spec);
  if (mode === 'Disabled') {
    const message = "`spec.routing.mode` is 'Disabled': routes are managed outside the operator.";
    return { reason: 'RoutedByOthers', message };
  }
  const wanted = renderRoutes(of).map((route) => ({ route, live: findCurrent(route, observed) }));
  const open = wanted.flatMap(({ route, live }) => {
    const verdict =
      live === undefined ? (unwritten ?? notWritten(route)) : judge(live, { of, observed });
    return verdict ?? [];
  });
  const found = mostSevere(open);
  if (found === undefined) {
    const hosts = wanted.flatMap(({ live }) => (live === undefined ? [] : hostsOfRoute(live)));
    return { reason: 'Routed', message: `Every host is routed: ${hosts.join(', ')}.` };
  }
  const alike = open.filter(({ reason }) => reason === found.reason);
  const messages = new Set(alike.map(({ message }) => message));
  return { reason: found.reason, message: [...messages].join(' ') };
}

/** A route's status only counts once the route itself is as declared now. */
function findCurrent(route: RenderedObject, { routes }: Facts['observed']) {
  const mode = route.kind === 'Ingress' ? 'Ingress' : 'Gateway';
  const live = findRoute(routes, { mode, name: route.metadata.name });
  return live?.object.metadata.annotations?.[APPLIED] === digest(route) ? live : undefined;
}

function notWritten({ metadata: { name }, kind }: RenderedObject): Verdict {
  return { reason: 'NotApplied', message: `${kind} ${name} is being written.` };
}

/** Undefined if the route is served. */
function judge(live: KnownRoute, { of, observed }: Facts): Verdict | undefined {
  const { mode } = live;
  const admission = admissionOf(live, of.spec.routing?.gatewayRef);
  if (admission.state === 'admitted') return undefined;
  const { name } = live.object.metadata;
  const called = `${routeTypes[mode].kind} ${name} (${hostsOfRoute(live).join(', ')})`;
  const other = mode === 'Ingress' ? 'Gateway' : 'Ingress';
  const isSwitching = findRoute(observed.routes, { mode: other, name }) !== undefined;
  const kept = isSwitching ? ` ${routeTypes[other].kind} ${name} ${PREVIOUS_ROUTE[mode]}` : '';
  if (admission.state === 'refused') {
    const why = admission.why.replace(/[:.\s]*$/, '');
    const message = `${called} is refused by its Gateway, ${why}.${kept}`;
    return { reason: 'RouteRefused', message };
  }
  const words = describeWaiting({ mode, namespace: of.namespace, spec: of.spec });
  // Some ingress controllers never write an address.
  const reason = mode === 'Ingress' ? 'NoAddress' : 'NotAdmitted';
  return { reason, message: `${called} ${words.replace(/[^?]$/, '$&.')}${kept}` };
}

/** What the message says of the previous route, of the other kind. */
const PREVIOUS_ROUTE: Readonly<Record<RouteMode, string>> = {
  Ingress:
    'stays until it has one: delete it yourself if the ingress controller never sets an address.',
  Gateway: 'stays until it is accepted.',
};
