/**
 * Allows each pod to reach what it needs, and to be reached by its callers. A NetworkPolicy cannot contain host names,
 * only ports.
 */
import { deliveryUrl } from '../delivery-url.ts';
import { components, type Installation, type Process } from '../installation.ts';
import type { ImageServiceSpec } from '../schema.ts';
import { portOf } from '../secrets.ts';
import { ports } from './environment.ts';
import { type RenderedObject, renderObject, selectorOf, toMap } from './object.ts';
import { isServer } from './pod.ts';

export function renderNetworkPolicies(of: Installation): RenderedObject[] {
  if (of.spec.networkPolicy?.mode === 'Disabled') return [];
  const processes: readonly Process[] = [...components, 'migrate', 'job'];
  return processes.map((process) =>
    renderObject(
      of,
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        suffix: process,
        component: process,
      },
      {
        spec: {
          podSelector: { matchLabels: selectorOf(of, process) },
          policyTypes: ['Ingress', 'Egress'],
          ...ingressOf(of, process),
          egress: egressOf(of, process),
        },
      },
    ),
  );
}

type Peer = NonNullable<NonNullable<ImageServiceSpec['networkPolicy']>['peers']>[number];
type Party = Peer['party'];
type Rule = { from?: object[]; to?: object[]; ports: object[] };

const tcp = (port: number) => ({ protocol: 'TCP', port });

/** Processes that call external services: identity and payment providers, webhooks, CDNs. */
const OUTGOING: readonly Process[] = ['api', 'dispatcher'];

/**
 * Where a tenant's URL may lead: never to a cluster's own addresses, nor to a cloud's metadata
 * service.
 */
const TO_THE_PUBLIC: Rule = {
  to: [
    {
      ipBlock: {
        cidr: '0.0.0.0/0',
        except: [
          ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
          ...['172.16.0.0/12', '192.168.0.0/16', '168.63.129.16/32'],
        ],
      },
    },
    { ipBlock: { cidr: '2000::/3' } },
  ],
  ports: [{ protocol: 'TCP' }],
};

/**
 * The operator asks workers for their load before it removes them, and may run in any namespace.
 */
const OPERATOR = {
  namespaceSelector: {},
  podSelector: {
    matchLabels: { 'app.kubernetes.io/name': 'tintype', 'app.kubernetes.io/component': 'operator' },
  },
};

/** No `ingress` allows nobody in; an empty list would differ at each apply. */
function ingressOf(of: Installation, process: Process): { ingress?: Rule[] } {
  if (process === 'migrate' || process === 'job') return {};
  const metrics = ruleFrom(of, 'Metrics', ports.metrics);
  if (isServer(process)) return { ingress: [ruleFrom(of, 'Clients', ports[process]), metrics] };
  const asked = metrics.from === undefined ? [] : [{ ...metrics, from: [OPERATOR] }];
  return { ingress: [metrics, ...asked] };
}

function ruleFrom(of: Installation, party: Party, port: number): Rule {
  const from = peersOf(of, party).map(printPeer);
  // An empty `from` would allow nobody; without it, everybody is allowed.
  return { ...(from.length === 0 ? {} : { from }), ports: [tcp(port)] };
}

function egressOf(of: Installation, process: Process): Rule[] {
  const { endpoints } = of;
  const names = { ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] };
  const database = rulesTo(of, 'Database', [tcp(endpoints.database)]);
  if (process === 'migrate') return [names, ...database];
  const rules = [
    names,
    ...database,
    ...rulesTo(of, 'AMQP', [tcp(endpoints.amqp)]),
    ...rulesTo(of, 'Storage', [tcp(endpoints.storage)]),
    // Only to declared peers, as such an address may also hand out the credentials of the whole
    // node.
    ...rulesTo(of, 'Credentials', [tcp(80), tcp(443)]).filter(({ to }) => to !== undefined),
    ...calledPorts(of, process).map((port) => ({ ports: [tcp(port)] })),
  ];
  return OUTGOING.includes(process) ? [...rules, TO_THE_PUBLIC] : rules;
}

/** Peers that listen on another port than their URL says get a rule per port. */
function rulesTo(of: Installation, party: Party, usual: object[]): Rule[] {
  const peers = peersOf(of, party);
  if (peers.length === 0) return [{ ports: usual }];
  return [...Map.groupBy(peers, ({ port }) => port)].map(([port, some]) => ({
    to: some.map(printPeer),
    ports: port === undefined ? usual : [tcp(port)],
  }));
}

/**
 * The ports of the spec's addresses that a process calls, each once: the addresses may be inside
 * the cluster.
 */
function calledPorts({ spec, endpoints }: Installation, process: Process): number[] {
  const { otlpEndpoint, scanner, identity, cdn, baseURL } = spec;
  const called: Partial<Record<Process, readonly (string | undefined)[]>> = {
    api: [identity.jwksURL ?? identity.issuer],
    // The dispatcher probes the service by its public addresses, purges CDNs and calls the scanner.
    dispatcher: [
      ...[baseURL, deliveryUrl(spec, spec.deliveryRootDomain)],
      ...[...(cdn?.urls ?? []), scanner?.url],
    ],
  };
  const urls = [otlpEndpoint, ...(called[process] ?? [])].filter((url) => url !== undefined);
  const { payments } = endpoints;
  const paid = process === 'api' && payments !== undefined ? [payments] : [];
  return [...new Set([...urls.map((url) => portOf(url, 443)), ...paid])];
}

function peersOf({ spec }: Installation, party: Party): Peer[] {
  return (spec.networkPolicy?.peers ?? []).filter((peer) => peer.party === party);
}

function printPeer({ cidr, namespace, podLabels }: Peer): object {
  if (cidr !== undefined) return { ipBlock: { cidr } };
  return {
    ...(namespace === undefined
      ? {}
      : { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } }),
    ...(podLabels === undefined ? {} : { podSelector: { matchLabels: toMap(podLabels) } }),
  };
}
