/** The single objects that helm and kubectl create from the chart and the manifests. */
import { execFileSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { projectRoot } from '../house/source-files.ts';
import { FEW_COLLECTIONS, findKubeTool } from '../support/kube-tools.ts';

export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects of many kinds; the tests check their shapes.
  [field: string]: any;
};

export const CHART = 'charts/tintype';

export function run(tool: string, args: readonly string[], input?: string): string {
  return execFileSync(findKubeTool(tool), args, {
    cwd: projectRoot,
    encoding: 'utf8',
    env: { ...process.env, ...FEW_COLLECTIONS },
    input,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

export type Values = Record<string, unknown>;

/** Several tests look at the same values, and each template is a process. */
const rendered = new Map<string, string>();

export function helmText(values: Values = {}): string {
  const args = ['template', 'tintype', CHART, '--namespace', 'tintype-system', '--values', '-'];
  const input = JSON.stringify(values);
  const text = rendered.get(input) ?? run('helm', args, input);
  rendered.set(input, text);
  return text;
}

export function helm(values: Values = {}): KubeObject[] {
  return parseAll(helmText(values));
}

export function kustomize(folder: string): KubeObject[] {
  return parseAll(run('kubectl', ['kustomize', `config/${folder}`]));
}

export function parseAll(text: string): KubeObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);
}

/** The sets of values with which the charts are tested. */
export const valueSets: Record<string, Values> = {
  defaults: {},
  'two watched namespaces': {
    watchNamespaces: ['team-a', 'team-b'],
    runtimeNamespaces: ['images'],
    deliveryNamespace: 'edge',
  },
  'everything on': {
    nameOverride: 'pictures',
    image: {
      repository: 'registry.example.com/tintype',
      digest: `sha256:${'a'.repeat(64)}`,
      pullPolicy: 'Always',
      pullSecrets: [{ name: 'pull' }],
    },
    crds: { keep: false },
    secretName: 'database',
    caConfigMapRef: { name: 'authorities', key: 'root.pem' },
    operator: {
      replicas: 3,
      logLevel: 'debug',
      resources: { limits: { memory: '1Gi' } },
      heapMegabytes: 640,
      env: [{ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://collector:4318' }],
      podAnnotations: { 'example.com/team': 'images' },
      tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
      affinity: { nodeAffinity: {} },
      priorityClassName: 'system-cluster-critical',
    },
    serviceAccount: {
      annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/tintype' },
    },
    metrics: {
      port: 9090,
      podMonitor: { enabled: true },
      rules: { enabled: true },
      dashboard: { enabled: true },
    },
  },
  'everything off': {
    crds: { enabled: false },
    rbac: { aggregate: false },
    admissionPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
    networkPolicy: { enabled: false },
    operator: { replicas: 0 },
  },
};
