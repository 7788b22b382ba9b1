/**
 * The ImageService resource: one installation of the runtime. Unset fields get their defaults during rendering, not in
 * the cluster, so that GitOps tools find there exactly what is in Git.
 */
import { z } from 'zod';
import { alsoChecked, choice, distinct, group, integer, named, objectName } from '../fields.ts';
import { allocated, statusFields } from '../status-fields.ts';
import { extraEnv } from './extra-env.ts';
import {
  affinity,
  annotations,
  containerImage,
  dataKey,
  domain,
  fileIn,
  labels,
  origins,
  proxies,
  replicas,
  tolerations,
  webAddress,
  webOrigin,
} from './fields.ts';
import { resources, storageSize } from './resource-fields.ts';
import { autoscaling, networkPolicy, routing, tls } from './schema-edges.ts';
import { cdn, identity, scanner, staff, storage, usualBuckets } from './schema-parties.ts';

function urlSecret(holds: string) {
  return {
    name: objectName('the name of a Secret').describe('Its name, in the same namespace.'),
    key: dataKey.describe(`The key that holds ${holds}; default url.`).optional(),
  };
}

const REPLICAS_MAX = 100;
const WORKERS_MAX = 500;

function server(what: string, usual: number) {
  return {
    replicas: replicas(REPLICAS_MAX)
      .describe(`How many pods ${what}; default ${usual}.`)
      .optional(),
    resources: resources.optional(),
  };
}

function pool({ queueLength, slots }: { queueLength: number; slots: string }) {
  return group('{ min, max, slots, queueLengthPerReplica, resources }', {
    min: replicas(WORKERS_MAX).describe('The minimum number of pods; default 1.').optional(),
    max: integer(`a whole number, 1 to ${WORKERS_MAX}`, { min: 1, max: WORKERS_MAX })
      .describe('The maximum number of pods; default 4, or min if that is higher.')
      .optional(),
    slots: integer('a whole number, 1 to 64', { min: 1, max: 64 }).describe(slots).optional(),
    queueLengthPerReplica: integer('a whole number, 1 to 10000', { min: 1, max: 10_000 })
      .describe(`How many jobs may wait per pod before another pod starts; default ${queueLength}.`)
      .optional(),
    resources: resources.optional(),
  })
    .refine((it) => it.min === undefined || it.max === undefined || it.min <= it.max, {
      error: 'a max that is not below min',
    })
    .meta({
      'x-kubernetes-validations': [
        {
          rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
          message: '`max` must not be below `min`',
        },
      ],
    });
}

const workers = group('{ ingest, render }', {
  ingest: pool({
    queueLength: 10,
    slots:
      'How many uploads one pod processes at a time; default 2. With 1, an upload that hangs blocks the others.',
  })
    .describe('The pods that process uploads.')
    .optional(),
  render: pool({
    queueLength: 4,
    slots: 'How many images one pod renders at a time; default 2.',
  })
    .describe('The pods that render images.')
    .optional(),
});

const pullSecret = group('{ name }', {
  name: objectName('the name of a Secret').describe('Its name, in the same namespace.'),
});

export const imageServiceSpec = group('the fields of an ImageService', {
  image: containerImage.describe(
    'The container image of the runtime, the same for all of its processes.',
  ),
  imagePullPolicy: choice(['Always', 'IfNotPresent', 'Never'])
    .describe('When the image is pulled; default IfNotPresent.')
    .optional(),
  imagePullSecretRefs: named(pullSecret, { expected: 'a list of at most 8 names', max: 8 })
    .describe('Secrets for pulling the image.')
    .optional(),
  baseURL: webOrigin.describe('The URL of the API, without a path.'),
  uploadBaseURL: webOrigin
    .describe('The URL for uploads through the service; default baseURL.')
    .optional(),
  deliveryRootDomain: alsoChecked(domain, {
    rule: 'self == oldSelf',
    message: '`spec.deliveryRootDomain` is immutable: every URL that was handed out names it',
  }).describe(
    'Images of a project are served from <project>.<this domain>. It cannot be changed later.',
  ),
  deliveryScheme: choice(['HTTPS', 'HTTP'])
    .describe('The scheme of delivery URLs; default HTTPS.')
    .optional(),
  deliveryPublicPort: integer('a port, 1 to 65535', { min: 1, max: 65_535 })
    .describe('The port in delivery URLs; default that of the scheme.')
    .optional(),
  databaseSecretRef: group('{ name, key }', urlSecret('a postgres:// URL')).describe(
    'The Secret with the URL of PostgreSQL.',
  ),
  amqpSecretRef: group('{ name, key, managementKey }', {
    ...urlSecret('an amqp:// or amqps:// URL'),
    managementKey: dataKey
      .describe(
        'The key that holds the http(s):// URL of the management API. With it, KEDA also counts the jobs in progress.',
      )
      .optional(),
  }).describe('The Secret with the URL of RabbitMQ.'),
  storage: storage.optional(),
  storageSecretRef: group('{ name }', { name: pullSecret.shape.name })
    .describe(
      'The Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. It may also hold what storage does not set, under the names of the variables. Unset: the credentials come from the service account.',
    )
    .optional(),
  keysSecretRef: group('{ name }', { name: pullSecret.shape.name }).describe(
    'The Secret with the keys of the installation, each under the name of its variable: TINTYPE_KEY_ENCRYPTION_KEYS, TINTYPE_TOKEN_KEYS, TINTYPE_REQUEST_SIGNING_SECRET, TINTYPE_STORAGE_EVENT_SECRET.',
  ),
  identity,
  api: group('{ replicas, resources }', server('serve the API', 2))
    .describe('The processes of the API.')
    .optional(),
  delivery: group('{ replicas, resources, spoolSize }', {
    ...server('deliver images', 2),
    spoolSize: storageSize
      .describe('Disk space for usage that is not in the database yet; default 1Gi.')
      .optional(),
  })
    .describe('The processes that deliver images.')
    .optional(),
  dispatcher: group('{ replicas, resources }', server('run the frequent jobs', 1))
    .describe('The processes that send purges and run the frequent jobs.')
    .optional(),
  workers: workers.describe('The processes that process uploads and render images.').optional(),
  autoscaling: autoscaling.optional(),
  jobs: group('{ state }', {
    state: choice(['Active', 'Suspended'])
      .describe(
        'Suspended: scheduled jobs do not start, and usage is not charged meanwhile. Default Active.',
      )
      .optional(),
  })
    .describe('The scheduled jobs.')
    .optional(),
  ingressClassName: objectName('the name of an IngressClass')
    .describe('The class of the Ingress objects; default that of the cluster.')
    .optional(),
  tls: tls.optional(),
  routing: routing.optional(),
  networkPolicy: networkPolicy.optional(),
  staff: staff.optional(),
  cdn: cdn.optional(),
  scanner: scanner.optional(),
  dashboardOrigins: origins.describe('Origins of pages that may call the API.').optional(),
  marketingOrigins: origins.describe('Origins of pages that may request access.').optional(),
  trustedProxies: distinct(proxies, { expected: 'a list of at most 64 address ranges', max: 64 })
    .describe(
      'Proxies whose X-Forwarded-For is trusted, such as the pods of the ingress controller; default none.',
    )
    .optional(),
  otlpEndpoint: webAddress.describe('The collector that traces are sent to.').optional(),
  logLevel: choice(['Debug', 'Info', 'Warn', 'Error'])
    .describe('The lowest level that is logged; default Info.')
    .optional(),
  plansConfigMapRef: fileIn('ConfigMap')
    .describe('The plans, which replace the built-in ones.')
    .optional(),
  caConfigMapRef: fileIn('ConfigMap')
    .describe('PEM certificates of authorities to trust in addition to the default ones.')
    .optional(),
  extraEnv: extraEnv.describe('Configuration variables that no other field sets.').optional(),
  nodeSelector: labels.describe('Labels of the nodes that pods may run on.').optional(),
  tolerations: tolerations.describe('Taints that pods tolerate.').optional(),
  affinity: affinity.describe('Affinity of all pods, as in a pod spec.').optional(),
  topologySpread: choice(['Preferred', 'Required', 'Disabled'])
    .describe('Whether the pods of a component are spread over zones and nodes; default Preferred.')
    .optional(),
  priorityClassName: objectName('the name of a PriorityClass')
    .describe('The priority of all pods.')
    .optional(),
  podAnnotations: annotations
    .describe('Annotations of all pods; tintype.dev/ ones belong to the operator.')
    .optional(),
  podLabels: labels
    .describe('Additional labels of all pods; they do not replace the operator’s own.')
    .optional(),
  serviceAccountAnnotations: annotations
    .describe(
      'Annotations of the service account, for clouds that grant it credentials through them.',
    )
    .optional(),
}).meta({
  'x-kubernetes-validations': Object.entries(usualBuckets).map(([bucket, usual]) => {
    const isSet = (of: string) => `(has(${of}.storage) && has(${of}.storage.${bucket}))`;
    const added = `self.storage.${bucket} == '${usual}'`;
    // The Secret may hold another name for a bucket whose field was removed.
    const removed = `!has(self.storageSecretRef) && oldSelf.storage.${bucket} == '${usual}'`;
    return {
      rule: `${isSet('self')} ? (${isSet('oldSelf')} ? self.storage.${bucket} == oldSelf.storage.${bucket} : ${added}) : (!${isSet('oldSelf')} || (${removed}))`,
      message: `\`spec.storage.${bucket}\` is immutable (not set: ${usual}): the content of the bucket would be lost`,
    };
  }),
});

export type ImageServiceSpec = z.infer<typeof imageServiceSpec>;

const component = z.object({
  name: z.string().min(1).max(63).describe('The name of the component.'),
  image: z.string().max(512).describe('The image that it is set to run.').optional(),
  desired: z.int().min(0).max(1_000_000).describe('The desired number of pods.'),
  ready: z.int().min(0).max(1_000_000).describe('The number of ready pods.'),
});

export const imageServiceStatus = z.object({
  ...statusFields,
  image: z
    .string()
    .max(512)
    .describe('The image that all components ran when they were last all ready.')
    .optional(),
  migrationJob: allocated('The Job that migrated the database to this version.'),
  databaseID: allocated('The database that this ImageService uses, and no other one does.'),
  components: z
    .array(component)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .describe('The number of pods of each component.')
    .optional(),
});
