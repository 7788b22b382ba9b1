/** Each pod reaches what it needs, and is reached by whom it serves. Names cannot stand in a NetworkPolicy: ports do. */
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

type Party = 'Database' | 'AMQP' | 'Storage' | 'Clients' | 'Metrics';
type Rule = { from?: object[]; to?: object[]; ports: object[] };

const tcp = (port: number) => ({ protocol: 'TCP', port });

/** They call what tenants and staff name: identity providers, webhooks, CDNs. */
const OUTGOING: readonly Process[] = ['api', 'dispatcher', 'job'];

/** Without rules nobody gets in; an empty list of them would be a change each time that it is applied. */
function ingressOf(of: Installation, process: Process): { ingress?: Rule[] } {
  if (process === 'migrate' || process === 'job') return {};
  const metrics = named('from', peersOf(of, 'Metrics'), [tcp(ports.metrics)]);
  if (!isServer(process)) return { ingress: [metrics] };
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
    ...urlsOf(of, process).map((url) => ({ ports: [tcp(portOf(url, 443))] })),
  ];
  return OUTGOING.includes(process) ? [...rules, { ports: [{ protocol: 'TCP' }] }] : rules;
}

/** Addresses of the spec that a process calls. */
function urlsOf({ spec }: Installation, process: Process): string[] {
  const scanner = process === 'worker-ingest' ? spec.scanner?.url : undefined;
  return [spec.otlpEndpoint, scanner].filter((url) => url !== undefined);
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
