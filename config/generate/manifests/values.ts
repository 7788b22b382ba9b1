/**
 * The values of the chart: values.yaml, values.schema.json and the table of the README are made of this table, and the
 * manifests of kustomize take the defaults.
 */
import { z } from 'zod';
import { OBJECT_NAME_PATTERN } from '../../../operator/fields.ts';
import { REPOSITORY } from '../../../operator/image-service/fields.ts';

/**
 * `later`: a chart before this one did not have it. `helm upgrade --reuse-values` takes the defaults of that one, so
 * templates do without it.
 */
export type Value = { type: z.ZodType; default: unknown; description: string; later?: true };

const text = (pattern: RegExp) => z.string().regex(pattern);
const LABEL = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$/;
const name = text(LABEL);
const objectName = text(OBJECT_NAME_PATTERN).max(253);
const namespace = text(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
/** Each has a Role, which there can be but one of. */
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

/** By their paths, in the order in which they are written. */
export const values = {
  nameOverride: {
    type: name,
    default: '',
    description: 'In place of the release name, before the names of all objects.',
  },
  'image.repository': {
    type: text(new RegExp(`^${REPOSITORY}$`)).max(255),
    default: 'tintype',
    description: 'Where the image is pulled from, without its tag.',
  },
  'image.tag': {
    type: text(/^[A-Za-z0-9_.-]{0,128}$/),
    default: '',
    description: 'The tag; empty: the version of the chart’s application.',
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
    description: 'Secrets to pull with, as `- name: …`.',
  },
  'crds.enabled': {
    type: z.boolean(),
    default: true,
    description: 'Install and upgrade the custom resource definitions.',
  },
  'crds.keep': {
    type: z.boolean(),
    default: true,
    description: 'Leave them, and all resources of theirs, where the release is uninstalled.',
  },
  secretName: {
    type: objectName,
    default: 'tintype',
    description:
      'The Secret with `TINTYPE_DATABASE_URL` and `TINTYPE_KEY_ENCRYPTION_KEYS` (and storage, where presets declare an image), in the namespace of the release. The chart does not make it.',
  },
  'caConfigMapRef.name': {
    type: z.union([z.literal(''), objectName]),
    default: '',
    later: true,
    description:
      'A ConfigMap in the namespace of the release with certificates (PEM) of authorities that the operator trusts beside the usual ones, as for `sslmode=verify-full` of its database; empty: none.',
  },
  'caConfigMapRef.key': {
    type: text(/^[-._a-zA-Z0-9]{1,253}$/),
    default: 'ca.crt',
    later: true,
    description: 'Its key that holds them.',
  },
  watchNamespaces: {
    type: namespaces,
    default: [],
    description:
      'Namespaces whose resources are reconciled; none: the whole cluster. With a list there are Roles in these and no ClusterRole.',
  },
  deliveryNamespace: {
    type: name,
    default: '',
    description:
      'Where the routes of delivery hosts are written, and the ImageService that they lead to has to be; empty: that of the release.',
  },
  runtimeNamespaces: {
    type: namespaces,
    default: [],
    description:
      'Namespaces in which an ImageService may stand, beside that of the routes (`deliveryNamespace`, else that of the release).',
  },
  'operator.replicas': {
    type: z.int().min(0).max(10),
    default: 2,
    description: 'One writes, the others are ready to take over.',
  },
  'operator.logLevel': {
    type: z.enum(['silent', 'error', 'warn', 'info', 'debug']),
    default: 'info',
    description: 'The least that is logged.',
  },
  'operator.resources': {
    type: z.strictObject({ requests: amounts.optional(), limits: amounts.optional() }),
    default: { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '512Mi' } },
    description: 'What the operator’s pod asks for.',
  },
  'operator.heapMegabytes': {
    type: z.int().min(64).max(8192),
    default: 320,
    description: 'The heap of Node: below the limit of memory by a third or more.',
  },
  'operator.env': {
    type: z.array(variable),
    default: [],
    description:
      'Further environment variables, as a container has them: `name`, and `value` (a text) or `valueFrom`. Those that the chart sets itself are refused.',
  },
  'operator.podAnnotations': { type: texts, default: {}, description: 'Annotations of its pods.' },
  'operator.nodeSelector': {
    type: texts,
    default: { 'kubernetes.io/os': 'linux' },
    description: 'The nodes it may run on.',
  },
  'operator.tolerations': {
    type: z.array(object),
    default: [],
    description: 'Tainted nodes it may run on.',
  },
  'operator.affinity': {
    type: object,
    default: {},
    description: 'Nodes and neighbours it prefers.',
  },
  'operator.priorityClassName': {
    type: z.union([z.literal(''), objectName]),
    default: '',
    description: 'Its priority class.',
  },
  'serviceAccount.annotations': {
    type: texts,
    default: {},
    description: 'For example the role of a cloud.',
  },
  'rbac.aggregate': {
    type: z.boolean(),
    default: true,
    description:
      'Let the cluster’s own `admin`, `edit` and `view` roles hold for the custom resources. None of them may set `spec.staff`.',
  },
  'admissionPolicy.enabled': {
    type: z.boolean(),
    default: true,
    description: 'Refuse `spec.staff` to everybody without the verb `manage-staff-fields`.',
  },
  'podDisruptionBudget.enabled': {
    type: z.boolean(),
    default: true,
    description: 'Keep one operator up while nodes are drained.',
  },
  'networkPolicy.enabled': {
    type: z.boolean(),
    default: true,
    description:
      'Let the operator be reached at its probes and metrics alone, and reach only the ports below.',
  },
  'networkPolicy.egressPorts': {
    type: z.array(port).min(1),
    default: [443, 8443, 6443, 5432, 5671, 5672, 80, 8080, 9000, 9464],
    description:
      'TCP ports that the operator may reach beside DNS: API server, database, broker, storage, images of presets, probed hosts, metrics of workers. Behind a Service it is the port of the pods.',
  },
  'metrics.port': {
    type: port,
    default: 8081,
    description: 'Of `/livez`, `/readyz` and `/metrics`.',
  },
  'metrics.podMonitor.enabled': {
    type: z.boolean(),
    default: false,
    description: 'Let the Prometheus Operator collect metrics of operator and installations.',
  },
  'metrics.rules.enabled': {
    type: z.boolean(),
    default: false,
    description: 'Alerts, as a PrometheusRule.',
  },
  'metrics.rules.runbookUrl': {
    type: text(/^https?:\/\/.+/),
    default: 'https://tintype.dev/docs/runbook',
    description: 'Where the runbook pages are published.',
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
