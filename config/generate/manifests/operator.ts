/**
 * The operator as it runs in a cluster: restricted, two replicas, with probes, and only the network access that it
 * needs.
 */
import { environment } from './environment.ts';
import type { Manifest } from './manifest.ts';
import { labels, metadata, type Place, selectorLabels } from './place.ts';
import { privateCa } from './private-ca.ts';

export const operatorManifests: readonly Manifest[] = [
  { folder: 'manager', file: 'service-account', make: serviceAccount },
  { folder: 'manager', file: 'deployment', make: deployment },
  {
    folder: 'manager',
    file: 'pod-disruption-budget',
    when: '.Values.podDisruptionBudget.enabled',
    make: podDisruptionBudget,
  },
  {
    folder: 'network-policy',
    file: 'network-policy',
    when: '.Values.networkPolicy.enabled',
    make: networkPolicy,
  },
];

export function operatorName({ fullname }: Place): string {
  return `${fullname}-operator`;
}

function serviceAccount(place: Place): object {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: {
      ...metadata(place, operatorName(place)),
      annotations: place.tree('serviceAccount.annotations'),
    },
    // The pod requests its token itself.
    automountServiceAccountToken: false,
  };
}

function deployment(place: Place): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(place, operatorName(place)),
    spec: {
      replicas: place.scalar('operator.replicas'),
      selector: { matchLabels: selectorLabels(place) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: {
          labels: labels(place),
          annotations: place.tree('operator.podAnnotations'),
        },
        spec: podSpec(place),
      },
    },
  };
}

function podSpec(place: Place): object {
  return {
    serviceAccountName: operatorName(place),
    automountServiceAccountToken: true,
    // Services of an ImageService called tintype would otherwise set TINTYPE_API_PORT and similar
    // variables.
    enableServiceLinks: false,
    imagePullSecrets: place.tree('image.pullSecrets'),
    priorityClassName: place.text('operator.priorityClassName'),
    // On SIGTERM the operator releases the Lease, which takes less than this.
    terminationGracePeriodSeconds: 30,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    nodeSelector: place.tree('operator.nodeSelector'),
    tolerations: place.tree('operator.tolerations'),
    affinity: place.tree('operator.affinity'),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: selectorLabels(place) },
      },
    ],
    containers: [container(place)],
    volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }, ...privateCa(place).volume],
  };
}

function container(place: Place): object {
  return {
    name: 'operator',
    image: place.image,
    imagePullPolicy: place.scalar('image.pullPolicy'),
    args: ['operator'],
    env: environment(place),
    envFrom: [{ secretRef: { name: place.text('secretName') } }],
    ports: [{ name: 'metrics', containerPort: place.scalar('metrics.port'), protocol: 'TCP' }],
    startupProbe: probe('/livez', { periodSeconds: 2, failureThreshold: 30 }),
    livenessProbe: probe('/livez', { periodSeconds: 20, failureThreshold: 3 }),
    readinessProbe: probe('/readyz', { periodSeconds: 10, failureThreshold: 3 }),
    resources: place.tree('operator.resources'),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }, ...privateCa(place).mount],
  };
}

function probe(path: string, timing: object): object {
  return { httpGet: { path, port: 'metrics' }, timeoutSeconds: 5, ...timing };
}

function podDisruptionBudget(place: Place): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadata(place, operatorName(place)),
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selectorLabels(place) },
    },
  };
}

function networkPolicy(place: Place): object {
  const dns = ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 }));
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadata(place, operatorName(place)),
    spec: {
      podSelector: { matchLabels: selectorLabels(place) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ ports: [{ protocol: 'TCP', port: 'metrics' }] }],
      egress: [
        { ports: dns },
        {
          ports: place.each('networkPolicy.egressPorts', (port) => ({ protocol: 'TCP', port })),
        },
      ],
    },
  };
}
