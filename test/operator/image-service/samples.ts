/** ImageServices for tests of rendering, a minimal and a complete one, and their routes. */
import type { Installation } from '../../../operator/image-service/installation.ts';
import { APPLIED, digest } from '../../../operator/image-service/render/object.ts';
import { renderRoutes } from '../../../operator/image-service/render/routes.ts';
import { type ImageServiceSpec, imageServiceSpec } from '../../../operator/image-service/schema.ts';
import type { KnownRoute, RouteStatus } from '../../../operator/routes/live-route.ts';

export const least = {
  image: 'registry.example.com/tintype:1.2.3',
  baseURL: 'https://api.example.com',
  deliveryRootDomain: 'img.example.com',
  databaseSecretRef: { name: 'db' },
  amqpSecretRef: { name: 'mq' },
  storageSecretRef: { name: 's3' },
  keysSecretRef: { name: 'keys' },
  identity: { issuer: 'https://id.example.com' },
} as const satisfies ImageServiceSpec;

const pool = {
  min: 0,
  max: 8,
  slots: 3,
  queueLengthPerReplica: 7,
  resources: {
    requests: { cpu: '1000m', memory: '1024Mi' },
    limits: { cpu: '4', memory: '6144Mi' },
  },
};

/** Sets all fields, and none that contradicts another. */
export const full = {
  ...least,
  image: `registry.example.com/tintype@sha256:${'a'.repeat(64)}`,
  imagePullPolicy: 'Always',
  imagePullSecretRefs: [{ name: 'pull' }],
  uploadBaseURL: 'https://upload.example.com',
  deliveryScheme: 'HTTP',
  deliveryPublicPort: 8443,
  databaseSecretRef: { name: 'main-app', key: 'uri' },
  amqpSecretRef: { name: 'mq', key: 'connection_string', managementKey: 'management' },
  storage: {
    endpoint: 'http://s3.storage.svc:9000',
    publicEndpoint: 'https://s3.example.com',
    region: 'eu-central-1',
    addressing: 'Path',
    ingestBucket: 'in-bucket',
    contentBucket: 'content-bucket',
  },
  identity: {
    issuer: 'https://id.example.com/realm/',
    jwksURL: 'https://id.example.com/realm/certs',
    audience: 'tintype',
  },
  api: { replicas: 3, resources: { limits: { memory: '1Gi' } } },
  delivery: { replicas: 4, spoolSize: '2048Mi', resources: { requests: { cpu: '1500m' } } },
  dispatcher: { replicas: 2, resources: { limits: { cpu: '20m', memory: '128Mi' } } },
  workers: { ingest: pool, render: pool },
  autoscaling: { mode: 'KEDA', stabilizationSeconds: 60 },
  jobs: { state: 'Suspended' },
  ingressClassName: 'contour',
  tls: { apiSecretName: 'api-tls', deliverySecretName: 'delivery-tls' },
  routing: {
    mode: 'Ingress',
    apiAnnotations: [{ name: 'cert-manager.io/cluster-issuer', value: 'letsencrypt' }],
    deliveryAnnotations: [{ name: 'example.com/timeout', value: '30s' }],
  },
  networkPolicy: {
    mode: 'Enabled',
    peers: [
      { party: 'Database', namespace: 'data' },
      {
        party: 'AMQP',
        namespace: 'data',
        podLabels: [{ name: 'app.kubernetes.io/name', value: 'rabbitmq' }],
      },
      { party: 'Storage', cidr: '10.1.0.0/16' },
      { party: 'Credentials', cidr: '169.254.170.23/32' },
      { party: 'Clients', namespace: 'ingress' },
      { party: 'Metrics', podLabels: [{ name: 'app', value: 'prometheus' }] },
    ],
  },
  staff: { api: 'Enabled', subjects: ['user_1', 'user_2'] },
  cdn: {
    kind: 'HTTPPurge',
    urls: ['http://varnish:6081'],
    method: 'BAN',
    zone: 'z',
    callsPerMinute: 60,
  },
  scanner: { kind: 'HTTP', url: 'http://scanner:9000/scan', thresholds: ['nudity=0.85'] },
  dashboardOrigins: ['https://app.example.com'],
  marketingOrigins: ['https://www.example.com'],
  trustedProxies: ['10.0.0.0/8'],
  otlpEndpoint: 'http://otel:4318',
  logLevel: 'Debug',
  plansConfigMapRef: { name: 'plans', key: 'plans.yaml' },
  caConfigMapRef: { name: 'ca', key: 'ca.crt' },
  extraEnv: [
    { name: 'TINTYPE_RATE_WRITES', value: '9000' },
    { name: 'OTEL_EXPORTER_OTLP_HEADERS', secretKeyRef: { name: 'otel', key: 'headers' } },
  ],
  nodeSelector: [{ name: 'disk', value: 'ssd' }],
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'images', effect: 'NoSchedule' }],
  affinity: { podAntiAffinity: {} },
  topologySpread: 'Required',
  priorityClassName: 'system-cluster-critical',
  podAnnotations: [{ name: 'example.com/a', value: 'b' }],
  podLabels: [{ name: 'team', value: 'images' }],
  serviceAccountAnnotations: [
    { name: 'eks.amazonaws.com/role-arn', value: 'arn:aws:iam::1:role/x' },
  ],
} as const satisfies ImageServiceSpec;

export function installation(
  spec: ImageServiceSpec,
  more: Partial<Installation> = {},
): Installation {
  return {
    name: 'main',
    namespace: 'tintype',
    uid: '0a6d7c1e-7d26-4b7c-9d3c-3a9a7f8f1c11',
    spec: imageServiceSpec.parse(spec),
    schema_version: '0026',
    database_id: '1/2',
    secrets_digest: '0123456789abcdef',
    files_digest: undefined,
    endpoints: { database: 5432, amqp: 5672, storage: 9000 },
    keda: 'absent',
    ...more,
  };
}

export const withAddress = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };

/** The installation's own routes as they are in the cluster after they were written. */
export function routesOf(of: Installation, status: RouteStatus = {}): KnownRoute[] {
  return renderRoutes(of).map((route) => {
    const annotations = { ...route.metadata.annotations, [APPLIED]: digest(route) };
    const metadata = { ...route.metadata, annotations, uid: 'of a route', resourceVersion: '1' };
    const mode = route.kind === 'Ingress' ? 'Ingress' : 'Gateway';
    return { mode, object: { ...route, metadata, status } };
  });
}
