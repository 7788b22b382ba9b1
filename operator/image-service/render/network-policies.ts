/** Each pod reaches what it needs, and is reached by whom it serves. Names cannot stand in a NetworkPolicy: ports do. */
import { deliveryUrl } from '../delivery-url.ts';
import { components, type Installation, type Process } from '../installation.ts';
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

type Party = 'Database' | 'AMQP' | 'Storage' | 'Credentials' | 'Clients' | 'Metrics';
type Rule = { from?: object[]; to?: object[]; ports: object[] };

const tcp = (port: number) => ({ protocol: 'TCP', port });

/** They call what is anywhere: identity and payment providers, webhooks, CDNs. */
const OUTGOING: readonly Process[] = ['api', 'dispatcher', 'job'];

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
  const collectors = peersOf(of, 'Metrics');
  const metrics = named('from', collectors, [tcp(ports.metrics)]);
  if (!isServer(process)) {
    const asked =
      collectors.length === 0 ? [] : [{ from: [OPERATOR], ports: [tcp(ports.metrics)] }];
    return { ingress: [metrics, ...asked] };
  }
  return { ingress: [named('from', peersOf(of, 'Clients'), [tcp(ports[process])]), metrics] };
}

function egressOf(of: Installation, process: Process): Rule[] {
  const { endpoints } = of;
  const names = { ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] };
  const database = named('to', peersOf(of, 'Database'), [tcp(endpoints.database)]);
  if (process === 'migrate') return [names, database];
  const rules = [
    names,
    database,
    named('to', peersOf(of, 'AMQP'), [tcp(endpoints.amqp)]),
    named('to', peersOf(of, 'Storage'), [tcp(endpoints.storage)]),
    ...credentialsOf(of),
    ...calledPorts(of, process).map((port) => ({ ports: [tcp(port)] })),
  ];
  return OUTGOING.includes(process) ? [...rules, TO_THE_PUBLIC] : rules;
}

/** Who has the role of the whole node as well is reached by nobody who was not told so. */
function credentialsOf(of: Installation): Rule[] {
  const peers = peersOf(of, 'Credentials');
  return peers.length === 0 ? [] : [{ to: peers, ports: [tcp(80), tcp(443)] }];
}

/** Of the addresses of the spec that a process calls, each once: they may be inside. */
function calledPorts({ spec, endpoints }: Installation, process: Process): number[] {
  const { otlpEndpoint, scanner, identity, cdn, baseURL } = spec;
  const purged = cdn?.urls ?? [];
  const called: Partial<Record<Process, readonly (string | undefined)[]>> = {
    api: [identity.jwksURL ?? identity.issuer],
    // It looks whether the service can be reached as the public reaches it, and scans.
    dispatcher: [baseURL, deliveryUrl(spec, spec.deliveryRootDomain), ...purged, scanner?.url],
    job: purged,
  };
  const urls = [otlpEndpoint, ...(called[process] ?? [])].filter((url) => url !== undefined);
  const { payments } = endpoints;
  const paid = process === 'api' && payments !== undefined ? [payments] : [];
  return [...new Set([...urls.map((url) => portOf(url, 443)), ...paid])];
}

function named(direction: 'from' | 'to', peers: object[], allowed: object[]): Rule {
  // An empty list would allow nobody; none at all allows everybody.
  return peers.length === 0 ? { ports: allowed } : { [direction]: peers, ports: allowed };
}

type Peer = NonNullable<NonNullable<Installation['spec']['networkPolicy']>['peers']>[number];

function peersOf({ spec }: Installation, party: Party): object[] {
  return (spec.networkPolicy?.peers ?? []).filter((peer) => peer.party === party).map(printPeer);
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
