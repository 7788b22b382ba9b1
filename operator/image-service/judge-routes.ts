/**
 * What the installation's own routes have come to: whether somebody serves the hosts of the API, of uploads and of
 * delivery. Those of Projects tell of themselves.
 */
import type { RouteMode } from '../routes/edge.ts';
import { admissionOf, findRoute, hostsOfRoute, type KnownRoute } from '../routes/live-route.ts';
import { waitingWords } from '../routes/waiting.ts';
import { worst } from './findings.ts';
import type { Installation } from './installation.ts';
import type { Observed, Verdict } from './observed.ts';
import { APPLIED, digest, type RenderedObject } from './render/object.ts';
import { renderRoutes } from './render/routes.ts';

type Facts = { of: Installation; observed: Pick<Observed, 'routes'> };

/** `unwritten`: why those that are not there are not being written. */
export function judgeRoutes({ of, observed }: Facts, unwritten?: Verdict): Verdict {
  const mode = of.spec.routing?.mode ?? 'Ingress';
  if (mode === 'Disabled') {
    const message = "`spec.routing.mode` is 'Disabled': routes are made by somebody else.";
    return { reason: 'RoutedByOthers', message };
  }
  const wanted = renderRoutes(of).map((route) => ({ route, live: findCurrent(route, observed) }));
  const open = wanted.flatMap(({ route, live }) => {
    const verdict =
      live === undefined ? (unwritten ?? notWritten(route)) : judge(live, { of, observed });
    return verdict ?? [];
  });
  const found = worst(open);
  if (found === undefined) {
    const hosts = wanted.flatMap(({ live }) => (live === undefined ? [] : hostsOfRoute(live)));
    return { reason: 'Routed', message: `Every host is routed: ${hosts.join(', ')}.` };
  }
  const alike = open.filter(({ reason }) => reason === found.reason);
  const messages = new Set(alike.map(({ message }) => message));
  return { reason: found.reason, message: [...messages].join(' ') };
}

/** What was said of a route before it was as it is declared now is no answer. */
function findCurrent(route: RenderedObject, { routes }: Facts['observed']) {
  const mode = route.kind === 'Ingress' ? 'Ingress' : 'Gateway';
  const live = findRoute(routes, { mode, name: route.metadata.name });
  return live?.object.metadata.annotations?.[APPLIED] === digest(route) ? live : undefined;
}

function notWritten({ metadata: { name }, kind }: RenderedObject): Verdict {
  return { reason: 'NotApplied', message: `${kind} ${name} is being written.` };
}

/** Nothing where somebody serves it. */
function judge(live: KnownRoute, { of, observed }: Facts): Verdict | undefined {
  const { mode } = live;
  const admission = admissionOf(live, of.spec.routing?.gatewayRef);
  if (admission.state === 'admitted') return undefined;
  const { name } = live.object.metadata;
  const called = `${kinds[mode]} ${name} (${hostsOfRoute(live).join(', ')})`;
  const other = mode === 'Ingress' ? 'Gateway' : 'Ingress';
  const isSwitching = findRoute(observed.routes, { mode: other, name }) !== undefined;
  const kept = isSwitching ? ` ${kinds[other]} ${name} ${STAYS[mode]}` : '';
  if (admission.state === 'refused') {
    const why = admission.why.replace(/[:.\s]*$/, '');
    const message = `${called} is refused by its Gateway, ${why}.${kept}`;
    return { reason: 'RouteRefused', message };
  }
  const words = waitingWords({ mode, namespace: of.namespace, spec: of.spec });
  // There are controllers that never write one.
  const reason = mode === 'Ingress' ? 'NoAddress' : 'NotAdmitted';
  return { reason, message: `${called} ${words.replace(/[^?]$/, '$&.')}${kept}` };
}

const kinds: Readonly<Record<RouteMode, string>> = { Ingress: 'Ingress', Gateway: 'HTTPRoute' };

/** Said of the route of the other kind. */
const STAYS: Readonly<Record<RouteMode, string>> = {
  Ingress:
    'stays until it has one: delete it yourself where the ingress controller gives no addresses.',
  Gateway: 'stays until it is accepted.',
};
