import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clusterKinds } from '../../../operator/cluster-kinds.ts';
import { components, type Installation } from '../../../operator/image-service/installation.ts';
import { poolsOf } from '../../../operator/image-service/render/autoscaling.ts';
import type { RenderedObject } from '../../../operator/image-service/render/object.ts';
import { allObjects, renderInstallation } from '../../../operator/image-service/render/render.ts';
import type { ImageServiceSpec } from '../../../operator/image-service/schema.ts';
import { permissions } from '../../../operator/permissions.ts';
import {
  API_END_MS_MAX,
  DELIVERY_END_MS_MAX,
  END_MS_MAX,
  WORKER_END_MS_MAX,
} from '../../../runtime/actions/run-deployment.ts';
import { isFrequent, schedules } from '../../../runtime/core/schedules.ts';
import { projectRoot } from '../../house/source-files.ts';
import { full, installation, least } from './samples.ts';

const NS = { namespace: 'tintype' };
const gateway = { mode: 'Gateway', gatewayRef: { name: 'edge', namespace: 'infra' } } as const;

const installations: [string, Installation][] = [
  ['the least', installation(least)],
  ['everything', installation(full, { keda: 'present' })],
  ['a Gateway', installation({ ...least, routing: gateway })],
];

function objectsOf(of: Installation): RenderedObject[] {
  return allObjects(renderInstallation(of));
}

// biome-ignore lint/suspicious/noExplicitAny: rendered objects are read here as users read YAML
type Yaml = any;

function find(of: Installation, kind: string, suffix: string): Yaml {
  return objectsOf(of).find(
    (each) => each.kind === kind && each.metadata.name === `main-${suffix}`,
  );
}

function kinds(of: Installation, kind: string): Yaml[] {
  return objectsOf(of).filter((each) => each.kind === kind);
}

/** The pod templates of all objects, each with the name of its object. */
function podsOf(of: Installation): [string, Yaml][] {
  return objectsOf(of).flatMap((object: Yaml) => {
    const template = object.spec?.jobTemplate?.spec.template ?? object.spec?.template;
    return template === undefined ? [] : [[object.metadata.name, template]];
  });
}

/** The restricted profile of the Pod Security Standards, and what we require beyond it. */
const restricted: Record<string, (pod: Yaml, container: Yaml) => boolean> = {
  'is not root': (pod) => pod.securityContext.runAsNonRoot && pod.securityContext.runAsUser > 0,
  'has the seccomp profile of the runtime': (pod) =>
    pod.securityContext.seccompProfile.type === 'RuntimeDefault',
  'cannot gain privileges': (_pod, it) => it.securityContext.allowPrivilegeEscalation === false,
  'has no capability': (_pod, it) => it.securityContext.capabilities.drop.join() === 'ALL',
  'cannot write its image': (_pod, it) => it.securityContext.readOnlyRootFilesystem === true,
  'shares nothing with its host': (pod) => !pod.hostNetwork && !pod.hostPID && !pod.hostIPC,
  'has harmless volumes only': (pod) =>
    pod.volumes.every((volume: Yaml) => volume.emptyDir ?? volume.configMap),
  'has a bound on everything that it may fill': (pod) =>
    pod.volumes.every((volume: Yaml) => !volume.emptyDir || volume.emptyDir.sizeLimit),
  'has no token': (pod) => pod.automountServiceAccountToken === false,
  'says what it needs, and the most memory': (_pod, it) =>
    it.resources.requests.cpu && it.resources.requests.memory && it.resources.limits.memory,
  'takes no variables from Services of any name': (pod) => pod.enableServiceLinks === false,
};

const ENDS = [
  ['api', API_END_MS_MAX],
  ['worker', WORKER_END_MS_MAX],
  ['delivery', DELIVERY_END_MS_MAX],
] as const;

describe.each(installations)('an installation with %s', (_name, of) => {
  it.each(Object.entries(restricted))('has pods, each of which %s', (_rule, holds) => {
    const pods = podsOf(of);
    expect(pods.length).toBeGreaterThan(components.length + 4);
    const violating = pods.filter(([, { spec }]) => !holds(spec, spec.containers[0]));
    expect(violating.map(([name]) => name)).toEqual([]);
  });

  it('owns every object and gives each a unique name', () => {
    const objects = objectsOf(of);
    for (const { metadata } of objects) {
      expect(metadata).toMatchObject(NS);
      expect(metadata.ownerReferences).toMatchObject([{ kind: 'ImageService', uid: of.uid }]);
      expect(metadata.labels['app.kubernetes.io/instance']).toBe('main');
    }
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('consists of objects that the operator may write in the namespace of an ImageService', () => {
    const mayWrite = (apiVersion: string, plural: string) =>
      permissions.runtime.some(
        ({ apiGroup, resources, verbs }) =>
          apiGroup === (apiVersion.includes('/') ? apiVersion.split('/')[0] : '') &&
          resources.some((each) => each === plural) &&
          ['create', 'patch', 'delete'].every((verb) => verbs.some((each) => each === verb)),
      );
    const pluralOf = (kind: string) => kind.toLowerCase().replace(/y$/, 'ie').concat('s');
    const refused = objectsOf(of).filter(
      ({ apiVersion, kind }) =>
        !mayWrite(apiVersion, kind === 'Ingress' ? 'ingresses' : pluralOf(kind)),
    );
    expect(refused.map(({ kind }) => kind)).toEqual([]);
  });

  it('labels the pods of a Deployment with its revision, and does not select by it', () => {
    for (const { metadata, spec } of kinds(of, 'Deployment')) {
      const label = spec.template.metadata.labels['tintype.dev/revision'];
      expect(label).toBe(metadata.annotations['tintype.dev/revision']);
      expect(spec.selector.matchLabels).not.toHaveProperty('tintype.dev/revision');
    }
  });

  it('selects pods by labels that they have, in Deployments and PodDisruptionBudgets alike', () => {
    const pods = new Map(podsOf(of));
    for (const { metadata, spec } of kinds(of, 'Deployment')) {
      const labels = pods.get(metadata.name).metadata.labels;
      expect(labels).toMatchObject(spec.selector.matchLabels);
      const [budget] = kinds(of, 'PodDisruptionBudget').filter(
        (each) => each.metadata.name === metadata.name,
      );
      expect(budget.spec.selector).toEqual(spec.selector);
    }
  });

  it('gives every pod a longer grace period than its process takes to end', () => {
    for (const [name, { spec }] of podsOf(of)) {
      const pause = spec.containers[0].lifecycle?.preStop.sleep.seconds ?? 0;
      const left = spec.terminationGracePeriodSeconds - pause;
      const [end_ms_max = END_MS_MAX] = ENDS.filter(([part]) => name.includes(part)).map(
        ([, ms]) => ms,
      );
      expect(left * 1000, name).toBeGreaterThan(end_ms_max);
    }
  });

  it('delays the end of API and delivery pods by 15 s, and the documentation states the grace periods', () => {
    const pods = new Map(podsOf(of));
    const page = readFileSync(join(projectRoot, 'docs/deployment.md'), 'utf8');
    const graces = ['worker-render', 'api', 'delivery'].map(
      (part) => pods.get(`main-${part}`).spec.terminationGracePeriodSeconds,
    );
    expect(page).toContain(
      `pods of workers a \`terminationGracePeriodSeconds\` of ${graces[0]}, and those of the API ${graces[1]} and of delivery ${graces[2]}`,
    );
    for (const part of ['api', 'delivery']) {
      const [{ lifecycle }] = pods.get(`main-${part}`).spec.containers;
      expect(lifecycle.preStop.sleep.seconds).toBe(15);
    }
    expect(page).toContain('of the latter two 15 go to a `preStop` that sleeps');
  });

  it('leaves the replicas of workers to scalers, and keeps all pods available during a rollout', () => {
    for (const { metadata, spec } of kinds(of, 'Deployment')) {
      expect('replicas' in spec, metadata.name).toBe(!metadata.name.includes('worker'));
      expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    }
  });

  it('has a CronJob for each job that the dispatcher does not run', () => {
    const wanted = Object.entries(schedules).filter(([, schedule]) => !isFrequent(schedule));
    expect(kinds(of, 'CronJob').map(({ metadata }) => metadata.name)).toEqual(
      wanted.map(([name]) => `main-${name}`),
    );
    for (const { metadata, spec } of kinds(of, 'CronJob')) {
      const [, job] = wanted.find(([name]) => metadata.name === `main-${name}`) ?? [];
      expect(spec).toMatchObject({ concurrencyPolicy: 'Forbid', timeZone: 'Etc/UTC' });
      expect(spec.schedule).toBe(job?.schedule);
      expect(spec.jobTemplate.spec.activeDeadlineSeconds).toBeGreaterThan(
        job?.deadline_seconds ?? Number.POSITIVE_INFINITY,
      );
    }
  });
});

/** The addresses of pods, Services and nodes, and of a cloud's metadata service. */
const PRIVATE = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
];

describe('the network policies', () => {
  const endpoints = { database: 6432, amqp: 5671, storage: 9000 };
  const of = installation(least, { endpoints });
  const portsOut = (suffix: string, from = of) =>
    find(from, 'NetworkPolicy', suffix).spec.egress.flatMap((rule: Yaml) =>
      rule.ports.map(({ port }: { port?: number }) => port ?? 'any'),
    );

  it('limit workers, delivery and CronJobs to DNS, database, broker and storage', () => {
    const cdn = { kind: 'HTTPPurge' as const, urls: ['http://cache-0:6081'] };
    const of = installation({ ...least, cdn }, { endpoints });
    for (const suffix of ['worker-ingest', 'worker-render', 'delivery', 'job']) {
      expect(portsOut(suffix, of)).toEqual([53, 53, 6432, 5671, 9000]);
    }
    expect(portsOut('migrate')).toEqual([53, 53, 6432]);
  });

  it('let the API and the dispatcher reach public addresses, and private ones only at declared ports', () => {
    const spec: ImageServiceSpec = {
      ...least,
      identity: { issuer: 'https://id.example', jwksURL: 'http://keys.identity.svc:8082/keys' },
      cdn: { kind: 'HTTPPurge', urls: ['http://cache-0:6081', 'http://cache-1:6081'] },
      deliveryScheme: 'HTTP',
      deliveryPublicPort: 8084,
      baseURL: 'http://api.example',
    };
    const endpoints = { database: 6432, amqp: 5671, storage: 9000, payments: 8083 };
    const rulesOf = (suffix: string): Yaml[] =>
      find(installation(spec, { endpoints }), 'NetworkPolicy', suffix).spec.egress.slice(4);
    const inside = (...ports: number[]) =>
      ports.map((port) => ({ ports: [{ protocol: 'TCP', port }] }));
    for (const [suffix, ports] of [
      ['api', [8082, 8083]],
      ['dispatcher', [80, 8084, 6081]],
    ] as const) {
      const rules = rulesOf(suffix);
      expect(rules.slice(0, -1)).toEqual(inside(...ports));
      expect(rules.at(-1)).toMatchObject({ ports: [{ protocol: 'TCP' }] });
      expect(rules.at(-1).to).toEqual([
        { ipBlock: { cidr: '0.0.0.0/0', except: expect.arrayContaining(PRIVATE) } },
        { ipBlock: { cidr: '2000::/3' } },
      ]);
    }
  });

  it('let callers in only to the API and delivery', () => {
    const portsIn = (suffix: string) =>
      (find(of, 'NetworkPolicy', suffix).spec.ingress ?? []).flatMap((rule: Yaml) =>
        rule.ports.map(({ port }: { port: number }) => port),
      );
    expect(portsIn('api')).toEqual([8080, 9464]);
    expect(portsIn('delivery')).toEqual([8081, 9464]);
    expect(portsIn('worker-render')).toEqual([9464]);
    expect(portsIn('migrate')).toEqual([]);
  });

  it('keep pods from a cloud’s credentials endpoint unless the resource names it as a peer', () => {
    const agent = '169.254.170.23/32';
    const rule = {
      to: [{ ipBlock: { cidr: agent } }],
      ports: [
        { protocol: 'TCP', port: 80 },
        { protocol: 'TCP', port: 443 },
      ],
    };
    const networkPolicy = { peers: [{ party: 'Credentials' as const, cidr: agent }] };
    const withPolicy = installation({ ...least, networkPolicy });
    for (const suffix of [...components, 'job']) {
      expect(find(withPolicy, 'NetworkPolicy', suffix).spec.egress).toContainEqual(rule);
      expect(JSON.stringify(find(of, 'NetworkPolicy', suffix).spec.egress)).not.toContain(agent);
    }
    expect(find(withPolicy, 'NetworkPolicy', 'migrate').spec.egress).not.toContainEqual(rule);
  });

  it('open a port to every address if no peer is declared, as documented', () => {
    const open = (suffix: string, port: number, spec: ImageServiceSpec = least) => {
      const endpoints = { database: 6432, amqp: 5671, storage: 80 };
      const { egress } = find(installation(spec, { endpoints }), 'NetworkPolicy', suffix).spec;
      return egress.some((rule: Yaml) => rule.to === undefined && rule.ports[0].port === port);
    };
    expect(open('dispatcher', 443)).toBe(true);
    expect(open('worker-render', 443)).toBe(false);
    expect(open('worker-render', 80)).toBe(true);
    const peers = [{ party: 'Storage' as const, cidr: '10.1.0.0/16' }];
    expect(open('worker-render', 80, { ...least, networkPolicy: { peers } })).toBe(false);
    const page = readFileSync(join(projectRoot, 'docs/image-service.md'), 'utf8');
    expect(page).toContain('a dispatcher whose `baseURL` is https may reach port 443 anywhere');
    expect(page).toContain('reaches port 80 of `169.254.169.254` too');
  });

  it('limit egress to the peers that the resource declares', () => {
    const [, database, broker, store] = find(installation(full), 'NetworkPolicy', 'worker-ingest')
      .spec.egress;
    const data = { matchLabels: { 'kubernetes.io/metadata.name': 'data' } };
    expect(database.to).toEqual([{ namespaceSelector: data }]);
    expect(broker.to).toEqual([
      {
        namespaceSelector: data,
        podSelector: { matchLabels: { 'app.kubernetes.io/name': 'rabbitmq' } },
      },
    ]);
    expect(store.to).toEqual([{ ipBlock: { cidr: '10.1.0.0/16' } }]);
  });

  it('use the port of the pods behind a Service if the resource declares it', () => {
    const networkPolicy: ImageServiceSpec['networkPolicy'] = {
      peers: [
        { party: 'Storage', namespace: 'minio', port: 9000 },
        { party: 'Database', namespace: 'data', port: 6432 },
        { party: 'Storage', cidr: '10.1.0.0/16' },
        { party: 'Storage', namespace: 'seaweed', port: 9000 },
        { party: 'Credentials', cidr: '169.254.169.252/32', port: 988 },
      ],
    };
    const endpoints = { database: 5432, amqp: 5672, storage: 80 };
    const withPolicy = installation({ ...least, networkPolicy }, { endpoints });
    const inside = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });
    const at = (port: number) => [{ protocol: 'TCP', port }];
    const [names, database, ...others] = find(withPolicy, 'NetworkPolicy', 'worker-render').spec
      .egress;
    expect(database).toEqual({ to: [inside('data')], ports: at(6432) });
    expect(others).toEqual([
      { ports: at(5672) },
      { to: [inside('minio'), inside('seaweed')], ports: at(9000) },
      { to: [{ ipBlock: { cidr: '10.1.0.0/16' } }], ports: at(80) },
      { to: [{ ipBlock: { cidr: '169.254.169.252/32' } }], ports: at(988) },
    ]);
    expect(find(withPolicy, 'NetworkPolicy', 'migrate').spec.egress).toEqual([names, database]);
  });

  it('are not rendered in the mode Disabled', () => {
    const open = installation({ ...least, networkPolicy: { mode: 'Disabled' } });
    expect(kinds(open, 'NetworkPolicy')).toEqual([]);
  });
});

describe('the routes', () => {
  it('lead the API and upload hosts to the API, and all project hosts to delivery', () => {
    const of = installation(full);
    const { spec, metadata } = find(of, 'Ingress', 'api');
    expect(spec.rules.map(({ host }: Yaml) => host)).toEqual([
      'api.example.com',
      'upload.example.com',
    ]);
    expect(spec.tls).toEqual([
      { hosts: ['api.example.com', 'upload.example.com'], secretName: 'api-tls' },
    ]);
    expect(metadata.annotations).toEqual({ 'cert-manager.io/cluster-issuer': 'letsencrypt' });
    expect(spec.ingressClassName).toBe('contour');
    const delivery = find(of, 'Ingress', 'delivery').spec.rules;
    expect(delivery.map(({ host }: Yaml) => host)).toEqual(['*.img.example.com']);
    expect(delivery[0].http.paths[0].backend.service.name).toBe('main-delivery');
  });

  it('are HTTPRoutes of a Gateway, or none, as the resource declares', () => {
    const routed = installation({ ...least, routing: gateway });
    expect(kinds(routed, 'Ingress')).toEqual([]);
    expect(find(routed, 'HTTPRoute', 'delivery').spec).toEqual({
      parentRefs: [{ name: 'edge', namespace: 'infra' }],
      hostnames: ['*.img.example.com'],
      rules: [{ backendRefs: [{ name: 'main-delivery', port: 80 }] }],
    });
    const unrouted = objectsOf(installation({ ...least, routing: { mode: 'Disabled' } }));
    expect(unrouted.filter(({ kind }) => kind === 'Ingress' || kind === 'HTTPRoute')).toEqual([]);
  });
});

describe('the number of workers', () => {
  const scaled = (of: Installation) => kinds(of, 'ScaledObject').length;

  it('is scaled by KEDA if it is present, unless another mode is declared', () => {
    expect(scaled(installation(least, { keda: 'present' }))).toBe(2);
    expect(scaled(installation(least))).toBe(0);
    for (const mode of ['BuiltIn', 'Disabled'] as const) {
      const of = installation({ ...least, autoscaling: { mode } }, { keda: 'present' });
      expect(scaled(of)).toBe(0);
    }
  });

  it('follows the queues that the workers read, and falls back to one if the broker does not answer', () => {
    const of = installation(full, { keda: 'present' });
    const ingest = find(of, 'ScaledObject', 'worker-ingest').spec;
    expect(ingest).toMatchObject({
      scaleTargetRef: { name: 'main-worker-ingest' },
      minReplicaCount: 0,
      maxReplicaCount: 8,
      fallback: { replicas: 1 },
    });
    expect(ingest.triggers[0].metadata).toMatchObject({
      protocol: 'http',
      queueName: 'tintype.ingest.doorbells',
      mode: 'QueueLength',
      value: '7',
      excludeUnacknowledged: 'false',
    });
    const render = find(of, 'ScaledObject', 'worker-render').spec.triggers;
    expect(
      render.map((each: { metadata: { queueName: string } }) => each.metadata.queueName),
    ).toEqual(['tintype.render.calls', 'tintype.render.doorbells']);
    expect(find(of, 'TriggerAuthentication', 'amqp').spec.secretTargetRef).toEqual([
      { parameter: 'host', name: 'mq', key: 'management' },
    ]);
  });
});

describe('the stabilization window of scaling', () => {
  const windowOf = (of: Installation) =>
    find(of, 'ScaledObject', 'worker-ingest').spec.advanced.horizontalPodAutoscalerConfig.behavior
      .scaleDown.stabilizationWindowSeconds;

  it('is five minutes or as declared, both for KEDA and for the built-in scaler', () => {
    const declared = { ...least, autoscaling: { stabilizationSeconds: 20 } };
    for (const [spec, seconds] of [[least, 300] as const, [declared, 20] as const]) {
      const of = installation(spec, { keda: 'present' });
      expect(windowOf(of)).toBe(seconds);
      expect(poolsOf(of).map(({ stable_seconds }) => stable_seconds)).toEqual([seconds, seconds]);
    }
  });
});

describe('a pod', () => {
  it('is replaced when a Secret or file changes, but not for a new schema version or KEDA', () => {
    const templates = (more: Partial<Installation>) =>
      kinds(installation(least, more), 'Deployment').map(({ spec }) => spec.template);
    expect(templates({})).toEqual(templates({ schema_version: '9999', keda: 'present' }));
    expect(templates({})).not.toEqual(templates({ secrets_digest: 'ffff' }));
    expect(templates({})).not.toEqual(templates({ files_digest: 'ffff' }));
  });

  it('is replaced when the annotations of its service account change', () => {
    const all = [null, undefined, 'a', 'b'].map((value) => {
      const annotations = value && [{ name: 'eks.amazonaws.com/role-arn', value }];
      const spec =
        value === null ? least : { ...least, serviceAccountAnnotations: annotations || [] };
      return podsOf(installation(spec)).map(([, { metadata }]) => metadata.annotations);
    });
    const [none, empty, one, other] = all;
    expect(empty).toEqual(none);
    none?.forEach((_, pod) => {
      expect(one?.[pod]).not.toEqual(none[pod]);
      expect(one?.[pod]).not.toEqual(other?.[pod]);
    });
  });

  it('is kept when the annotations of its service account are reordered', () => {
    const annotations = ['b', 'a', 'c'].map((name) => ({
      name: `cloud.example/${name}`,
      value: name,
    }));
    const of = (serviceAccountAnnotations: typeof annotations) =>
      installation({ ...least, serviceAccountAnnotations });
    expect(podsOf(of(annotations.toReversed()))).toEqual(podsOf(of(annotations)));
  });

  it('has amounts as the API server prints them, and requests within limits', () => {
    const resources = (suffix: string) =>
      find(installation(full), 'Deployment', suffix).spec.template.spec.containers[0].resources;
    expect(resources('worker-ingest')).toEqual({
      requests: { cpu: '1', memory: '1Gi' },
      limits: { cpu: '4', memory: '6Gi' },
    });
    expect(resources('delivery').requests.cpu).toBe('1500m');
    const much = installation({ ...least, api: { resources: { requests: { memory: '2Gi' } } } });
    expect(find(much, 'Deployment', 'api').spec.template.spec.containers[0].resources).toEqual({
      requests: { cpu: '100m', memory: '2Gi' },
      limits: { memory: '2Gi' },
    });
    expect(resources('dispatcher')).toEqual({
      requests: { cpu: '20m', memory: '128Mi' },
      limits: { cpu: '20m', memory: '128Mi' },
    });
  });

  it('has probes that tolerate outages of what it can serve without', () => {
    const probes = (suffix: string) =>
      find(installation(least), 'Deployment', suffix).spec.template.spec.containers[0];
    expect(probes('delivery').readinessProbe.tcpSocket).toEqual({ port: 'http' });
    // Excluded by a query, which images of earlier versions ignore.
    const path = '/readyz?exclude=ingest&exclude=content';
    expect(probes('api').readinessProbe.httpGet).toEqual({ path, port: 'metrics' });
    for (const component of components) {
      const { httpGet, periodSeconds, failureThreshold } = probes(component).startupProbe;
      expect(httpGet.path).toBe('/readyz');
      // A process that waits for a server is not restarted for at least 30 minutes.
      expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(1800);
      expect(probes(component).livenessProbe.httpGet.path).toBe('/livez');
    }
  });
});

it('CronJob names fit their limit even under the longest name of an ImageService', () => {
  const [rule] = clusterKinds[0].rules;
  const most = Number(/at most (\d+)/.exec(rule.message)?.[1]);
  const named = objectsOf({ ...installation(least), name: 'm'.repeat(most) });
  const lengths = named
    .filter(({ kind }) => kind === 'CronJob')
    .map(({ metadata }) => metadata.name.length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(52);
});

it('empty values are left out, as the API server leaves them out', () => {
  const of = installation({
    ...least,
    extraEnv: [{ name: 'TINTYPE_PROVIDER_A_PLANS', value: '' }],
    tolerations: [{ key: 'images', operator: 'Equal', value: '', effect: 'NoSchedule' }],
  });
  const { spec } = find(of, 'Deployment', 'api').spec.template;
  expect(spec.tolerations).toEqual([{ key: 'images', operator: 'Equal', effect: 'NoSchedule' }]);
  expect(spec.containers[0].env).toContainEqual({ name: 'TINTYPE_PROVIDER_A_PLANS' });
});

it('the operator may ask workers for their load even if another peer is declared for metrics', () => {
  const peers = [{ party: 'Metrics' as const, namespace: 'monitoring' }];
  const of = installation({ ...least, networkPolicy: { peers } });
  const { ingress } = find(of, 'NetworkPolicy', 'worker-ingest').spec;
  const labels = {
    'app.kubernetes.io/name': 'tintype',
    'app.kubernetes.io/component': 'operator',
  };
  const from = [{ namespaceSelector: {}, podSelector: { matchLabels: labels } }];
  expect(ingress).toContainEqual({ from, ports: [{ protocol: 'TCP', port: 9464 }] });
});
