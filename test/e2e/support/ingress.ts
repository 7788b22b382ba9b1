/**
 * Contour and Envoy in one pod, as the ingress controller. If the cluster has its own, E2E_INGRESS_CLASS names its
 * class, and E2E_INGRESS_TARGET the target to forward to, as namespace/service/name:port.
 */
import { apply, type Forward, forward, kubectl, makeNamespace, waitFor } from './kubectl.ts';

export type IngressController = {
  class_name: string;
  http: Forward;
  /** Reopens a broken connection to the pods. */
  reconnect(): Promise<void>;
  stop(): Promise<void>;
};

const NAMESPACE = 'tintype-e2e-ingress';
const IMAGE = 'docker.io/tintype/e2e-ingress:1';
const PORT = 8080;

export async function startIngressController(): Promise<IngressController> {
  const class_name = process.env['E2E_INGRESS_CLASS'];
  if (class_name !== undefined) return useIngressController(class_name);
  await makeNamespace(NAMESPACE);
  await apply(NAMESPACE, definitions.map(definition));
  await apply(NAMESPACE, [account, binding, deployment]);
  await waitFor(NAMESPACE, 'deployment/contour', 'condition=Available');
  return connect('contour', {
    open: () => forward(NAMESPACE, 'deployment/contour', PORT),
    remove: async () => {
      await kubectl('delete', 'namespace', NAMESPACE, '--ignore-not-found');
      await kubectl('delete', 'clusterrolebinding', 'tintype-e2e-contour', '--ignore-not-found');
      const crds = definitions.map(({ plural }) => `crd/${plural}.projectcontour.io`);
      await kubectl('delete', '--ignore-not-found', ...crds);
    },
  });
}

async function useIngressController(class_name: string): Promise<IngressController> {
  const target = process.env['E2E_INGRESS_TARGET'] ?? '';
  const [namespace = '', kind = '', service = ''] = target.split('/');
  const [name, port = '80'] = service.split(':');
  return connect(class_name, {
    open: () => forward(namespace, `${kind}/${name}`, Number(port)),
    remove: async () => undefined,
  });
}

type Means = { open(): Promise<Forward>; remove(): Promise<void> };

async function connect(class_name: string, { open, remove }: Means): Promise<IngressController> {
  const controller: IngressController = {
    class_name,
    http: await open(),
    reconnect: async () => {
      await controller.http.stop();
      controller.http = await open();
    },
    stop: async () => {
      await controller.http.stop();
      await remove();
    },
  };
  return controller;
}

const definitions = [
  { kind: 'HTTPProxy', plural: 'httpproxies', version: 'v1' },
  { kind: 'TLSCertificateDelegation', plural: 'tlscertificatedelegations', version: 'v1' },
  { kind: 'ExtensionService', plural: 'extensionservices', version: 'v1alpha1' },
  { kind: 'ContourConfiguration', plural: 'contourconfigurations', version: 'v1alpha1' },
  { kind: 'ContourDeployment', plural: 'contourdeployments', version: 'v1alpha1' },
] as const;

/** Contour needs the definitions of its own kinds, although no objects of them exist. */
function definition({ kind, plural, version }: (typeof definitions)[number]): object {
  const group = 'projectcontour.io';
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [
        {
          ...{ name: version, served: true, storage: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'contour' } };

const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'tintype-e2e-contour' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', name: 'contour', namespace: NAMESPACE }],
};

const shared = { image: IMAGE, imagePullPolicy: 'Never' };
const config = [{ name: 'config', mountPath: '/config' }];
const admin = { name: 'admin', mountPath: '/admin' };

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'contour' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'contour' } },
    template: {
      metadata: { labels: { app: 'contour' } },
      spec: {
        serviceAccountName: 'contour',
        terminationGracePeriodSeconds: 1,
        volumes: ['config', 'admin'].map((name) => ({ name, emptyDir: {} })),
        initContainers: [
          {
            ...{ ...shared, name: 'bootstrap', volumeMounts: config },
            command: [
              ...['contour', 'bootstrap', '/config/envoy.json', '--xds-address=127.0.0.1'],
              ...['--xds-port=8001', '--resources-dir=/config/resources'],
            ],
          },
        ],
        containers: [
          {
            ...{ ...shared, name: 'contour' },
            command: [
              ...['contour', 'serve', '--incluster', '--insecure', '--disable-leader-election'],
              ...['--xds-address=127.0.0.1', '--xds-port=8001', '--ingress-class-name=contour'],
              ...[`--envoy-service-http-port=${PORT}`, '--envoy-service-https-port=8443'],
              '--ingress-status-address=192.0.2.10',
            ],
          },
          {
            ...{ ...shared, name: 'envoy', volumeMounts: [...config, admin] },
            command: [
              ...['envoy', '--config-path', '/config/envoy.json', '--service-cluster', 'contour'],
              ...['--service-node', 'e2e', '--concurrency', '1', '--disable-hot-restart'],
            ],
            // Envoy listens as soon as the first route exists.
          },
        ],
      },
    },
  },
};
