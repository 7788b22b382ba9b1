/** The chart's values, for values.yaml, values.schema.json and the README's table; kustomize uses the defaults. */
import { z } from 'zod';
import { OBJECT_NAME_PATTERN } from '../../../operator/fields.ts';
import { REPOSITORY } from '../../../operator/image-service/fields.ts';

/** `later`: earlier charts lack it, so after `helm upgrade --reuse-values` templates get none. */
export type Value = { type: z.ZodType; default: unknown; description: string; later?: true };

const text = (pattern: RegExp) => z.string().regex(pattern);
const LABEL = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$/;
const name = text(LABEL);
const objectName = text(OBJECT_NAME_PATTERN).max(253);
const namespace = text(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
/** Unique, as each namespace gets a Role, and there can be only one. */
const namespaces = z.array(namespace).meta({ uniqueItems: true });
const quantity = z.union([
  z.string().regex(/^[0-9]+(\.[0-9]+)?(m|Ki|Mi|Gi|Ti|k|M|G|T)?$/),
  z.number(),
]);
const amounts = z.strictObject({
  cpu: quantity.optional(),
  memory: quantity.optional(),
  'ephemeral-storage': quantity.optional(),
});
const texts = z.record(z.string(), z.string());
const object = z.looseObject({});
const variable = z.strictObject({
  name: text(/^[-._a-zA-Z][-._a-zA-Z0-9]*$/),
  value: z.string().optional(),
  valueFrom: object.optional(),
});
const port = z.int().min(1).max(65_535);

/** By path, in the order of the written files. */
export const values = {
  nameOverride: {
    type: name,
    default: '',
    description: 'A prefix for the names of all objects, in place of the release name.',
  },
  'image.repository': {
    type: text(new RegExp(`^${REPOSITORY}$`)).max(255),
    default: 'tintype',
    description: 'The repository of the image, without the tag.',
  },
  'image.tag': {
    type: text(/^[A-Za-z0-9_.-]{0,128}$/),
    default: '',
    description: 'The tag; empty: the `appVersion` of the chart.',
  },
  'image.digest': {
    type: text(/^(sha256:[0-9a-f]{64})?$/),
    default: '',
    description: 'A digest (`sha256:…`) in place of the tag.',
  },
  'image.pullPolicy': {
    type: z.enum(['IfNotPresent', 'Always', 'Never']),
    default: 'IfNotPresent',
    description: 'When the image is pulled.',
  },
  'image.pullSecrets': {
    type: z.array(z.strictObject({ name: objectName })),
    default: [],
    description: 'Secrets for pulling the image, as `- name: …`.',
  },
  'crds.enabled': {
    type: z.boolean(),
    default: true,
    description: 'Install and upgrade the custom resource definitions.',
  },
  'crds.keep': {
    type: z.boolean(),
    default: true,
    description:
      'Keep the definitions, and all of their resources, when the release is uninstalled.',
  },
  secretName: {
    type: objectName,
    default: 'tintype',
    description:
      'The Secret with `TINTYPE_DATABASE_URL` and `TINTYPE_KEY_ENCRYPTION_KEYS` (and the storage, if presets declare an image), in the namespace of the release. The chart does not create it.',
  },
  'caConfigMapRef.name': {
    type: z.union([z.literal(''), objectName]),
    default: '',
    later: true,
    description:
      'A ConfigMap in the namespace of the release with PEM certificates of authorities that the operator trusts in addition to the default ones, for example for `sslmode=verify-full` of its database; empty: none.',
  },
  'caConfigMapRef.key': {
    type: text(/^[-._a-zA-Z0-9]{1,253}$/),
    default: 'ca.crt',
    later: true,
    description: 'The key of the ConfigMap that holds the certificates.',
  },
  watchNamespaces: {
    type: namespaces,
    default: [],
    description:
      'Namespaces whose resources are reconciled; empty: the whole cluster. With a list, the operator has Roles in these namespaces and no ClusterRole.',
  },
  deliveryNamespace: {
    type: name,
    default: '',
    description:
      'The namespace for the routes of delivery hosts, which must also contain the ImageService that they lead to; empty: that of the release.',
  },
  runtimeNamespaces: {
    type: namespaces,
    default: [],
    description:
      'Further namespaces that an ImageService may be in, beside that of the routes (`deliveryNamespace`, else that of the release).',
  },
  'operator.replicas': {
    type: z.int().min(0).max(10),
    default: 2,
    description: 'The number of pods: one writes, the others are ready to take over.',
  },
  'operator.logLevel': {
    type: z.enum(['silent', 'error', 'warn', 'info', 'debug']),
    default: 'info',
    description: 'The lowest level that is logged.',
  },
  'operator.resources': {
    type: z.strictObject({ requests: amounts.optional(), limits: amounts.optional() }),
    default: { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '512Mi' } },
    description: 'Resources of the operator’s pods.',
  },
  'operator.heapMegabytes': {
    type: z.int().min(64).max(8192),
    default: 320,
    description: 'The Node.js heap in megabytes: at least a third below the memory limit.',
  },
  'operator.env': {
    type: z.array(variable),
    default: [],
    description:
      'Additional environment variables, as in a container spec: `name`, and `value` (a string) or `valueFrom`. Variables that the chart sets itself are refused.',
  },
  'operator.podAnnotations': {
    type: texts,
    default: {},
    description: 'Annotations of the operator’s pods.',
  },
  'operator.nodeSelector': {
    type: texts,
    default: { 'kubernetes.io/os': 'linux' },
    description: 'The nodes that the operator may run on.',
  },
  'operator.tolerations': {
    type: z.array(object),
    default: [],
    description: 'Tolerations of the operator’s pods.',
  },
  'operator.affinity': {
    type: object,
    default: {},
    description: 'Affinity of the operator’s pods.',
  },
  'operator.priorityClassName': {
    type: z.union([z.literal(''), objectName]),
    default: '',
    description: 'The priority class of the operator’s pods.',
  },
  'serviceAccount.annotations': {
    type: texts,
    default: {},
    description: 'Annotations of the service account, for example the role of a cloud.',
  },
  'rbac.aggregate': {
    type: z.boolean(),
    default: true,
    description:
      'Extend the cluster’s own `admin`, `edit` and `view` roles to the custom resources. None of them may set `spec.staff`.',
  },
  'admissionPolicy.enabled': {
    type: z.boolean(),
    default: true,
    description: 'Refuse `spec.staff` to everyone without the verb `manage-staff-fields`.',
  },
  'podDisruptionBudget.enabled': {
    type: z.boolean(),
    default: true,
    description: 'Keep one operator pod running while nodes are drained.',
  },
  'networkPolicy.enabled': {
    type: z.boolean(),
    default: true,
    description:
      'Allow traffic to the operator only at its probes and metrics, and traffic from it only to the ports below.',
  },
  'networkPolicy.egressPorts': {
    type: z.array(port).min(1),
    default: [443, 8443, 6443, 5432, 5671, 5672, 80, 8080, 9000, 9464],
    description:
      'TCP ports that the operator may reach besides DNS: API server, database, broker, storage, images of presets, probed hosts, metrics of workers. Behind a Service, the port of the pods counts.',
  },
  'metrics.port': {
    type: port,
    default: 8081,
    description: 'The port of `/livez`, `/readyz` and `/metrics`.',
  },
  'metrics.podMonitor.enabled': {
    type: z.boolean(),
    default: false,
    description:
      'Let the Prometheus Operator collect metrics of the operator and of installations.',
  },
  'metrics.rules.enabled': {
    type: z.boolean(),
    default: false,
    description: 'Alerts, as a PrometheusRule.',
  },
  'metrics.rules.runbookUrl': {
    type: text(/^https?:\/\/.+/),
    default: 'https://tintype.dev/docs/runbook',
    description: 'The URL where the runbook pages are published.',
  },
  'metrics.dashboard.enabled': {
    type: z.boolean(),
    default: false,
    description: 'The Grafana dashboard, as a ConfigMap with the label `grafana_dashboard: "1"`.',
  },
} as const satisfies Record<string, Value>;

export type ValuePath = keyof typeof values;

export type Tree = { [name: string]: Value | Tree };

/** The table as nested objects. */
export function nest(): Tree {
  const tree: Tree = {};
  for (const [path, value] of Object.entries(values)) {
    const words = path.split('.');
    const last = words.pop() ?? '';
    let at = tree;
    for (const word of words) at = branch(at, word);
    at[last] = value;
  }
  return tree;
}

function branch(tree: Tree, word: string): Tree {
  tree[word] ??= {};
  return tree[word] as Tree;
}

export function isValue(node: Value | Tree): node is Value {
  return node['type'] instanceof z.ZodType;
}
