/** Each pod reaches what it needs, and is reached by whom it serves. Names cannot stand in a NetworkPolicy: ports do. */
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

/** They call what is anywhere: identity and payment providers, webhooks, CDNs. */
const OUTGOING: readonly Process[] = ['api', 'dispatcher'];

/** Where a tenant's URL may lead: never to a cluster's own addresses, nor to what a cloud tells its machines. */
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

/** It asks workers what they are at before it ends them, and may be in any namespace. */
const OPERATOR = {
  namespaceSelector: {},
  podSelector: {
    matchLabels: { 'app.kubernetes.io/name': 'tintype', 'app.kubernetes.io/component': 'operator' },
  },
};

/** Without rules nobody gets in; an empty list of them would be a change each time that it is applied. */
function ingressOf(of: Installation, process: Process): { ingress?: Rule[] } {
  if (process === 'migrate' || process === 'job') return {};
  const metrics = ruleFrom(of, 'Metrics', ports.metrics);
  if (isServer(process)) return { ingress: [ruleFrom(of, 'Clients', ports[process]), metrics] };
  const asked = metrics.from === undefined ? [] : [{ ...metrics, from: [OPERATOR] }];
  return { ingress: [metrics, ...asked] };
}

function ruleFrom(of: Installation, party: Party, port: number): Rule {
  const from = peersOf(of, party).map(printPeer);
  // An empty list would allow nobody; none at all allows everybody.
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
    // Who has the role of the whole node as well is reached by nobody who was not told so.
    ...rulesTo(of, 'Credentials', [tcp(80), tcp(443)]).filter(({ to }) => to !== undefined),
    ...calledPorts(of, process).map((port) => ({ ports: [tcp(port)] })),
  ];
  return OUTGOING.includes(process) ? [...rules, TO_THE_PUBLIC] : rules;
}

/** Those that listen elsewhere than their URL says have a rule each port. */
function rulesTo(of: Installation, party: Party, usual: object[]): Rule[] {
  const peers = peersOf(of, party);
  if (peers.length === 0) return [{ ports: usual }];
  return [...Map.groupBy(peers, ({ port }) => port)].map(([port, some]) => ({
    to: some.map(printPeer),
    ports: port === undefined ? usual : [tcp(port)],
  }));
}

/** Of the addresses of the spec that a process calls, each once: they may be inside. */
function calledPorts({ spec, endpoints }: Installation, process: Process): number[] {
  const { otlpEndpoint, scanner, identity, cdn, baseURL } = spec;
  const called: Partial<Record<Process, readonly (string | undefined)[]>> = {
    api: [identity.jwksURL ?? identity.issuer],
    // It looks whether the service can be reached as the public reaches it, purges and scans.
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
