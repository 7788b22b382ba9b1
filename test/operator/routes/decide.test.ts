import { describe, expect, it } from 'vitest';
import { decideRoute, type RouteFacts } from '../../../operator/routes/decide.ts';
import { findEdge } from '../../../operator/routes/edge.ts';
import type { KnownRoute } from '../../../operator/routes/live-route.ts';
import { routedReasons } from '../../../operator/routes/verdict.ts';
import {
  edgeOf,
  facts,
  gateway,
  liveRoute,
  liveRoutes,
  readyEdge,
  routed,
  row,
  usual,
  wildcard,
} from './samples.ts';

const absent = findEdge([], 'images');
const unseen = { ...readyEdge({}), state: 'unseen', why: 'not listed' } as const;
const atGateway = readyEdge({ routing: gateway });
const atOther = readyEdge({ routing: { ...gateway, gatewayRef: { name: 'other' } } });
const always = { ...usual, perProject: 'Always' } as const;
const domains = Array.from({ length: 20 }, (_, index) => `i${index}.shop.example`);
const many = { ...row, custom_domains: domains };
const manyRoutes = liveRoutes({ ...routed, custom_domains: domains }, { edge: atGateway });
const plain = { ...row, custom_domains: [] };
const both = { ...row, custom_domains: [...row.custom_domains, 'cdn.shop.example'] };
const waiting = { state: 'waiting' } as const;
const apiAtShop = readyEdge({ baseURL: 'https://shop.img.example.com:8443' });
const uploads = { uploadBaseURL: 'https://img.shop.example' };
const uploadsAtDomain = readyEdge(uploads);
const ownDefault = { ...routed, has_own_default: 'yes' } as const;

/** The steps in short. */
function steps(of: RouteFacts): string[] {
  return decideRoute(of).steps.map((step) => {
    const { mode } = step.route;
    return step.do === 'apply' ? `apply ${mode} ${step.to}` : `delete ${mode}`;
  });
}

function changed({ mode, object }: KnownRoute, change: object): KnownRoute {
  return { mode, object: { ...object, ...change } };
}

function withMetadata(metadata: object): KnownRoute {
  const route = liveRoute(routed);
  return changed(route, { metadata: { ...route.object.metadata, ...metadata } });
}

/** Accepted in its previous generation. */
function ofAnEarlierState(route: KnownRoute): KnownRoute {
  const accepted = { type: 'Accepted', status: 'True', observedGeneration: 1 };
  return changed(route, {
    metadata: { ...route.object.metadata, generation: 2 },
    status: { parents: [{ parentRef: gateway.gatewayRef, conditions: [accepted] }] },
  });
}

const cases: [name: string, facts: RouteFacts, steps: string[], reason: string][] = [
  ['a project without domains uses the wildcard route', facts({ project: plain }), [], 'Routed'],
  ['a new domain gets a route', facts(), ['apply Ingress new'], 'NotAdmitted'],
  ['an existing route is not changed', facts({ live: [liveRoute(routed)] }), [], 'Routed'],
  [
    'a route that no controller serves is reported',
    facts({ live: [liveRoute(routed, { state: 'waiting' })] }),
    [],
    'NotAdmitted',
  ],
  [
    'a wildcard route that no controller serves is reported',
    facts({ project: plain, wildcard: wildcard('Ingress', 'waiting') }),
    [],
    'NotAdmitted',
  ],
  [
    'a missing wildcard route is reported',
    facts({ project: plain, wildcard: undefined }),
    [],
    'NotAdmitted',
  ],
  [
    'rules of its own do not need the wildcard route',
    facts({ declared: always, wildcard: undefined, live: [liveRoute(ownDefault)] }),
    [],
    'Routed',
  ],
  [
    'rules of its own get a route even without a domain',
    facts({ project: plain, declared: always }),
    ['apply Ingress new'],
    'NotAdmitted',
  ],
  [
    'a route that is no longer needed is deleted',
    facts({ project: plain, live: [liveRoute(routed)] }),
    ['delete Ingress'],
    'Routed',
  ],
  [
    'the route of a deleted project is deleted',
    facts({ project: undefined, live: [liveRoute(routed)] }),
    ['delete Ingress'],
    'NotAccepted',
  ],
  [
    'an additional domain is written, and needs a new admission',
    facts({
      project: both,
      live: [liveRoute(routed)],
    }),
    ['apply Ingress ours'],
    'NotAdmitted',
  ],
  [
    'a changed field of a route is corrected',
    facts({ live: [changed(liveRoute(routed), { spec: { rules: [] } })] }),
    ['apply Ingress ours'],
    'Routed',
  ],
  [
    'a removed owner reference is restored',
    facts({ live: [withMetadata({ ownerReferences: [] })] }),
    ['apply Ingress ours'],
    'Routed',
  ],
  [
    'removed labels are restored',
    facts({ live: [withMetadata({ labels: {} })] }),
    ['apply Ingress ours'],
    'Routed',
  ],
  [
    'a foreign route with the same name is never overwritten',
    facts({ live: [withMetadata({ labels: {}, annotations: {}, ownerReferences: [] })] }),
    ['apply Ingress new'],
    'NotAdmitted',
  ],
  [
    'a foreign route with the same name is not deleted if the project needs none',
    facts({ project: plain, live: [withMetadata({ labels: {}, ownerReferences: [] })] }),
    [],
    'Routed',
  ],
  [
    'all routes are deleted without an ImageService',
    facts({ edge: absent, live: [liveRoute(routed)] }),
    ['delete Ingress'],
    'NoImageService',
  ],
  [
    'routes stay if the ImageService is invalid',
    facts({ edge: edgeOf({ baseURL: 'no URL' }), live: [liveRoute(routed)] }),
    [],
    'ImageServiceInvalid',
  ],
  [
    'the route of a deleted project is deleted even if the ImageService is invalid',
    facts({
      ...{ edge: edgeOf({ baseURL: 'no URL' }), live: [liveRoute(routed)] },
      project: undefined,
    }),
    ['delete Ingress'],
    'ImageServiceInvalid',
  ],
  [
    'routes are neither written nor deleted if their kind could not be listed',
    facts({ edge: unseen, live: [liveRoute(routed)] }),
    [],
    'ReadRefused',
  ],
  [
    'all routes are deleted if routing is disabled',
    facts({ edge: edgeOf({ routing: { mode: 'Disabled' } }), live: [liveRoute(routed)] }),
    ['delete Ingress'],
    'RoutedByOthers',
  ],
  [
    'a declared domain that the project was refused is reported',
    facts({ project: plain, declared: { ...usual, customDomains: ['img.shop.example'] } }),
    [],
    'NotAccepted',
  ],
  [
    'a default host that is the host of the API gets no rules of its own, and is reported',
    facts({ edge: apiAtShop, project: plain, declared: always }),
    [],
    'HostTaken',
  ],
  [
    'a default host that is the host of the API is reported even with the wildcard route',
    facts({ edge: apiAtShop, project: plain }),
    [],
    'HostTaken',
  ],
  [
    'a domain that is the host of uploads is removed from its route',
    facts({ edge: uploadsAtDomain, project: both, live: [liveRoute({ ...routed, ...both })] }),
    ['apply Ingress ours'],
    'HostTaken',
  ],
  [
    'a route that had nothing else goes, and is no reason to keep one of the other kind',
    facts({
      edge: uploadsAtDomain,
      live: [liveRoute(routed), liveRoute(routed, { edge: atGateway })],
    }),
    ['delete Ingress', 'delete Gateway'],
    'HostTaken',
  ],
  [
    'it leaves the HTTPRoute that serves until the Ingress does',
    facts({
      edge: uploadsAtDomain,
      project: both,
      live: [liveRoute({ ...routed, ...both }, { edge: atGateway })],
    }),
    ['apply Ingress new', 'apply Gateway ours'],
    'HostTaken',
  ],
  [
    'a host of the API is reported even if routing is disabled',
    facts({ edge: edgeOf({ ...uploads, routing: { mode: 'Disabled' } }) }),
    [],
    'HostTaken',
  ],
  [
    'at a Gateway the route is an HTTPRoute',
    facts({ edge: atGateway, wildcard: wildcard('Gateway') }),
    ['apply Gateway new'],
    'NotAdmitted',
  ],
  [
    'an Ingress serves until the Gateway does',
    facts({
      edge: atGateway,
      wildcard: wildcard('Gateway'),
      live: [liveRoute(routed), liveRoute(routed, { edge: atGateway, state: 'waiting' })],
    }),
    [],
    'NotAdmitted',
  ],
  [
    'an Ingress goes once the Gateway serves',
    facts({
      edge: atGateway,
      wildcard: wildcard('Gateway'),
      live: [liveRoute(routed), liveRoute(routed, { edge: atGateway })],
    }),
    ['delete Ingress'],
    'Routed',
  ],
  [
    'an HTTPRoute serves until the Ingress has an address',
    facts({ live: [liveRoute(routed, { edge: atGateway }), liveRoute(routed, waiting)] }),
    [],
    'NotAdmitted',
  ],
  [
    'an HTTPRoute goes once the Ingress has an address',
    facts({ live: [liveRoute(routed, { edge: atGateway }), liveRoute(routed)] }),
    ['delete Gateway'],
    'Routed',
  ],
  [
    'an Ingress serves while the Gateway refuses',
    facts({
      ...{ edge: atGateway, wildcard: wildcard('Gateway') },
      live: [liveRoute(routed), liveRoute(routed, { edge: atGateway, state: 'refused' })],
    }),
    [],
    'RouteRefused',
  ],
  [
    'an Ingress stays where the HTTPRoute was admitted with other hosts',
    facts({
      ...{ edge: atGateway, wildcard: wildcard('Gateway'), project: both },
      live: [liveRoute({ ...routed, ...both }), liveRoute(routed, { edge: atGateway })],
    }),
    ['apply Gateway ours'],
    'NotAdmitted',
  ],
  [
    'a domain that went to another project leaves the Ingress that serves until the Gateway does',
    facts({
      ...{ edge: atGateway, wildcard: wildcard('Gateway') },
      live: [
        liveRoute({ ...routed, ...both }),
        liveRoute(routed, { edge: atGateway, state: 'waiting' }),
      ],
    }),
    ['apply Ingress ours'],
    'NotAdmitted',
  ],
  [
    'and the HTTPRoute that serves until the Ingress does; one that has nothing else goes',
    facts({
      project: { ...many, custom_domains: domains.slice(0, 3) },
      live: [...manyRoutes, liveRoute({ ...routed, custom_domains: domains.slice(0, 3) }, waiting)],
    }),
    ['apply Gateway ours', 'delete Gateway'],
    'NotAdmitted',
  ],
  [
    'a project that is gone loses the routes of both kinds at once',
    facts({
      ...{ edge: atGateway, project: undefined },
      live: [liveRoute(routed), liveRoute(routed, { edge: atGateway, state: 'waiting' })],
    }),
    ['delete Ingress', 'delete Gateway'],
    'NotAccepted',
  ],
  [
    'more hosts than an HTTPRoute has are two of them',
    facts({ edge: atGateway, wildcard: wildcard('Gateway'), project: many }),
    ['apply Gateway new', 'apply Gateway new'],
    'NotAdmitted',
  ],
  [
    'a domain less is taken from the route that has it alone',
    facts({
      ...{ edge: atGateway, wildcard: wildcard('Gateway'), live: manyRoutes },
      project: { ...many, custom_domains: domains.slice(1) },
    }),
    ['apply Gateway ours'],
    'NotAdmitted',
  ],
  [
    'a route whose last domain went goes',
    facts({
      ...{ edge: atGateway, wildcard: wildcard('Gateway'), live: manyRoutes },
      project: { ...many, custom_domains: domains.slice(0, 16) },
    }),
    ['delete Gateway'],
    'Routed',
  ],
  [
    'an Ingress serves until every HTTPRoute does',
    facts({
      ...{ edge: atGateway, wildcard: wildcard('Gateway'), project: many },
      live: [
        liveRoute({ ...routed, custom_domains: domains }),
        ...manyRoutes.slice(0, 1),
        ...liveRoutes(
          { ...routed, custom_domains: domains },
          { edge: atGateway, state: 'waiting' },
        ).slice(1),
      ],
    }),
    [],
    'NotAdmitted',
  ],
  [
    'what a Gateway said of an earlier state is no answer',
    facts({
      ...{ edge: atGateway, wildcard: wildcard('Gateway') },
      live: [ofAnEarlierState(liveRoute(routed, { edge: atGateway }))],
    }),
    [],
    'NotAdmitted',
  ],
  [
    'what another Gateway accepted is no answer, and the Ingress that serves stays',
    facts({
      ...{ edge: atOther, wildcard: wildcard('Gateway') },
      live: [liveRoute(routed), liveRoute(routed, { edge: atOther })],
    }),
    [],
    'NotAdmitted',
  ],
  [
    'what another Gateway accepted of the route of all default hosts is none either',
    facts({
      ...{ edge: atOther, wildcard: wildcard('Gateway'), declared: usual },
      project: { ...row, custom_domains: [] },
    }),
    [],
    'NotAdmitted',
  ],
  [
    'what a Gateway refuses is told in its words',
    facts({
      edge: atGateway,
      wildcard: wildcard('Gateway'),
      live: [liveRoute(routed, { edge: atGateway, state: 'refused' })],
    }),
    [],
    'RouteRefused',
  ],
];

it('a route that is changed on admission is left as it is, and counts as serving', () => {
  const old = liveRoute(routed);
  const route = liveRoute(routed, { edge: atGateway });
  const mutated = changed(route, {
    metadata: { ...route.object.metadata, annotations: {} },
  });
  const live = [old, mutated];
  const found = facts({ edge: atGateway, live, wildcard: wildcard('Gateway') });
  expect(steps(found)).toEqual(['apply Gateway ours']);
  const mutations = {
    find: (_written: object, live: object) => (live === mutated.object ? ['.spec'] : undefined),
  };
  expect(steps({ ...found, mutations })).toEqual(['delete Ingress']);
  expect(decideRoute({ ...found, mutations }).verdict.reason).toBe('Routed');
});

describe('the decision on the routes of a project', () => {
  it.each(cases)('%s', (_name, given, done, reason) => {
    expect(steps(given)).toEqual(done);
    expect(decideRoute(given).verdict.reason).toBe(reason);
  });

  it('keeps what others added to a route', () => {
    const live = liveRoute(routed);
    const { annotations } = live.object.metadata;
    const metadata = {
      ...live.object.metadata,
      annotations: { ...annotations, 'example.com/by': 'others' },
    };
    expect(steps(facts({ live: [changed(live, { metadata })] }))).toEqual([]);
  });

  it('removes a lost domain and its certificate from an Ingress that stays, only once', () => {
    const tls = { deliverySecretName: 'delivery-tls' };
    const edge = readyEdge({ routing: gateway, tls });
    const of = { ...routed, ...both };
    const held = liveRoute(of, { edge: readyEdge({ tls }) });
    const atEdge = liveRoute(routed, { edge, state: 'waiting' });
    const given = facts({ edge, wildcard: wildcard('Gateway'), live: [held, atEdge] });
    const [step] = decideRoute(given).steps;
    if (step?.do !== 'apply') throw new Error('the Ingress is written');
    const { hosts, metadata, spec } = step.route;
    const { name, labels } = held.object.metadata;
    expect(hosts).toEqual(row.custom_domains);
    expect(metadata).toMatchObject({ name, labels });
    expect(spec).toEqual({
      tls: [{ hosts: row.custom_domains, secretName: 'main-project-shop-tls' }],
      rules: [expect.objectContaining({ host: 'img.shop.example', http: expect.anything() })],
    });
    const stored = { ...held.object.metadata, ...metadata };
    const narrowed = changed(held, { metadata: stored, spec });
    expect(steps({ ...given, live: [narrowed, atEdge] })).toEqual([]);
    // The Ingress gets its domain back: being admitted without the domain does not count.
    const back = facts({ edge: readyEdge({ tls }), project: both, live: [narrowed, atEdge] });
    expect(steps(back)).toEqual(['apply Ingress ours']);
    expect(decideRoute(back).verdict.reason).toBe('NotAdmitted');
  });

  it('removes annotations that are no longer declared', () => {
    const annotated = readyEdge({
      routing: { deliveryAnnotations: [{ name: 'example.com/timeout', value: '30s' }] },
    });
    const live = [liveRoute(routed, { edge: annotated })];
    expect(steps(facts({ live }))).toEqual(['apply Ingress ours']);
  });

  it('says what to do about a route that nobody serves', () => {
    const live = [liveRoute(routed, { state: 'waiting' })];
    expect(decideRoute(facts({ live })).verdict.message).toBe(
      "the Ingress 'images/main-project-shop' has no address yet: is there an ingress controller with a default class? If not, set `spec.ingressClassName`",
    );
    const classed = readyEdge({ ingressClassName: 'contour' });
    const there = [liveRoute(routed, { edge: classed, state: 'waiting' })];
    expect(decideRoute(facts({ edge: classed, live: there })).verdict.message).toContain(
      "does the ingress controller of the class 'contour' run?",
    );
    const gatewayRef = { name: 'edge', namespace: 'infra', sectionName: 'https' };
    const atListener = readyEdge({ routing: { ...gateway, gatewayRef } });
    const waiting = [liveRoute(routed, { edge: atListener, state: 'waiting' })];
    expect(decideRoute(facts({ edge: atListener, live: waiting })).verdict.message).toBe(
      "the HTTPRoute 'images/main-project-shop' is not accepted by its Gateway yet: is there a Gateway 'infra/edge', with the listener 'https', and does its controller run?",
    );
  });

  it('says which host belongs to the API, by which field, and what can be done', () => {
    const said = (of: RouteFacts) => decideRoute(of).verdict.message;
    expect(said(facts({ edge: apiAtShop }))).toBe(
      "'shop.img.example.com' is the host of `spec.baseURL` of the ImageService 'main', and leads to the API: declare the project under another slug, or change that field",
    );
    expect(said(facts({ edge: uploadsAtDomain }))).toBe(
      "'img.shop.example' is the host of `spec.uploadBaseURL` of the ImageService 'main', and leads to the API: remove it from the custom domains of the project, or change that field",
    );
  });

  it('leaves hosts of the API out of the delivery hosts', () => {
    const { hosts } = decideRoute(facts({ edge: uploadsAtDomain, project: both }));
    expect(hosts).toEqual(['shop.img.example.com', 'cdn.shop.example']);
  });

  it('names the first hosts and counts the rest', () => {
    const custom_domains = Array.from({ length: 32 }, (_, index) => `i${index}.shop.example`);
    const many = { ...routed, custom_domains };
    const { message } = decideRoute(
      facts({ project: { ...row, custom_domains }, live: [liveRoute(many)] }),
    ).verdict;
    expect(message).toBe(
      'shop.img.example.com, i0.shop.example, i1.shop.example, i2.shop.example and 29 more lead to delivery',
    );
  });

  it('gives every reason except those that writing and probing find', () => {
    const found = new Set(cases.map(([, , , reason]) => reason));
    const beyond = ['Answering', 'NotAnswering', 'RouteTaken', 'RouteUndone', 'GatewayAPIMissing'];
    expect([...found, ...beyond].sort()).toEqual(Object.keys(routedReasons).sort());
  });
});
