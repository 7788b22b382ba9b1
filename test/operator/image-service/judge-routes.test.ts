// Spec: Project (the API and delivery are reached at the hosts that the ImageService declares).
import { expect, it } from 'vitest';
import { conditionsOf } from '../../../operator/image-service/conditions.ts';
import type { Installation } from '../../../operator/image-service/installation.ts';
import { judgeRoutes } from '../../../operator/image-service/judge-routes.ts';
import type { KnownRoute } from '../../../operator/routes/live-route.ts';
import { installation, least, routesOf, withAddress } from './samples.ts';

const gatewayRef = { name: 'edge', namespace: 'infra' };
const ingress = installation(least);
const gateway = installation({ ...least, routing: { mode: 'Gateway', gatewayRef } });
const bare = installation({ ...least, ingressClassName: 'contour' });

const said = (status: string, more: object = {}, parentRef = gatewayRef) => ({
  parents: [{ parentRef, conditions: [{ type: 'Accepted', status, ...more }] }],
});
const accepted = said('True');
const refused = said('False', { reason: 'NotAllowedByListeners', message: 'no such namespace.' });

const [ingressApi, ingressDelivery] = routesOf(ingress, withAddress);
const [api, delivery] = routesOf(gateway, accepted);
const [refusedApi] = routesOf(gateway, refused);
if (!(ingressApi && ingressDelivery && api && delivery && refusedApi))
  throw new Error('two routes');

/** The verdict, and the statuses of the conditions that follow from it alone. */
function reported(of: Installation, routes: readonly KnownRoute[]) {
  const verdict = judgeRoutes({ of, observed: { routes } });
  const conditions = conditionsOf([{ type: 'Routed', ...verdict }]);
  const statusOf = (type: string) => conditions.find((each) => each.type === type)?.status;
  return { ...verdict, states: ['Routed', 'Ready', 'Stalled'].map(statusOf) };
}

const rows: [string, Installation, readonly KnownRoute[], object][] = [
  [
    'every Ingress has an address',
    ingress,
    [ingressApi, ingressDelivery],
    {
      states: ['True', 'True', 'False'],
      reason: 'Routed',
      message: 'Every host is routed: api.example.com, *.img.example.com.',
    },
  ],
  [
    'no Ingress has one: Ready does not wait',
    bare,
    routesOf(bare),
    {
      states: ['Unknown', 'True', 'False'],
      reason: 'NoAddress',
      message:
        "Ingress main-api (api.example.com) has no address yet: does the ingress controller of the class 'contour' run? Ingress main-delivery (*.img.example.com) has no address yet: does the ingress controller of the class 'contour' run?",
    },
  ],
  [
    'an Ingress has none, and the HTTPRoute before it stays',
    ingress,
    [ingressDelivery, ...routesOf(ingress).slice(0, 1), api],
    {
      states: ['Unknown', 'True', 'False'],
      reason: 'NoAddress',
      message:
        'Ingress main-api (api.example.com) has no address yet: is there an ingress controller with a default class? If not, set `spec.ingressClassName`. HTTPRoute main-api stays until it has one: delete it yourself if the ingress controller never sets an address.',
    },
  ],
  [
    'the Gateway accepted all',
    gateway,
    [api, delivery],
    { states: ['True', 'True', 'False'], reason: 'Routed' },
  ],
  [
    'no Gateway says anything, and the Ingress before it stays',
    gateway,
    [...routesOf(gateway).slice(0, 1), delivery, ingressApi],
    {
      states: ['False', 'False', 'False'],
      reason: 'NotAdmitted',
      message:
        "HTTPRoute main-api (api.example.com) is not accepted by its Gateway yet: is there a Gateway 'infra/edge', and does its controller run? Ingress main-api stays until it is accepted.",
    },
  ],
  [
    'another Gateway accepted it',
    gateway,
    [...routesOf(gateway, said('True', {}, { name: 'edge', namespace: 'other' })), ingressApi],
    { states: ['False', 'False', 'False'], reason: 'NotAdmitted' },
  ],
  [
    'the Gateway refuses one, in its words',
    gateway,
    [refusedApi, ...routesOf(gateway).slice(1), ingressApi],
    {
      states: ['False', 'False', 'True'],
      reason: 'RouteRefused',
      message:
        'HTTPRoute main-api (api.example.com) is refused by its Gateway, NotAllowedByListeners: no such namespace. Ingress main-api stays until it is accepted.',
    },
  ],
  [
    'the Gateway has not looked at it',
    gateway,
    [...routesOf(gateway, said('False', { reason: 'Pending' }))],
    { states: ['False', 'False', 'False'], reason: 'NotAdmitted' },
  ],
  [
    'what was admitted is not what is declared now',
    installation({ ...least, baseURL: 'https://other.example' }),
    [ingressApi, ingressDelivery],
    { states: ['False', 'False', 'False'], reason: 'NotApplied' },
  ],
  [
    'somebody else makes them',
    installation({ ...least, routing: { mode: 'Disabled' } }),
    [],
    { states: ['Unknown', 'True', 'False'], reason: 'RoutedByOthers' },
  ],
];

it.each(rows)('judgeRoutes returns status and reason when %s', (_, of, routes, expected) => {
  expect(reported(of, routes)).toMatchObject(expected);
});

it('only missing routes get the reason why nothing is written', () => {
  const unwritten = { reason: 'Blocked', message: 'Waits until this is mended.' } as const;
  const judge = (routes: KnownRoute[]) =>
    judgeRoutes({ of: ingress, observed: { routes } }, unwritten);
  expect(judge([ingressApi])).toEqual(unwritten);
  expect(judge([ingressApi, ingressDelivery]).reason).toBe('Routed');
});
