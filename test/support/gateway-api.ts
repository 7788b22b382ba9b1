/** HTTPRoutes as the Gateway API has them, as far as routes use them: the fields, their defaults and their status. */
import { kubeApply, kubeOk, type PlaneAddress } from './kube-request.ts';

const reference = {
  type: 'object',
  required: ['name'],
  properties: {
    group: { type: 'string', default: 'gateway.networking.k8s.io' },
    kind: { type: 'string', default: 'Gateway' },
    name: { type: 'string' },
    namespace: { type: 'string' },
    sectionName: { type: 'string' },
  },
};

const backend = {
  type: 'object',
  required: ['name'],
  properties: {
    group: { type: 'string', default: '' },
    kind: { type: 'string', default: 'Service' },
    name: { type: 'string' },
    port: { type: 'integer' },
    weight: { type: 'integer', default: 1 },
  },
};

const rule = {
  type: 'object',
  properties: {
    backendRefs: { type: 'array', items: backend, 'x-kubernetes-list-type': 'atomic' },
    matches: {
      type: 'array',
      default: [{ path: { type: 'PathPrefix', value: '/' } }],
      items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  },
};

const list = (items: object) => ({ type: 'array', items, 'x-kubernetes-list-type': 'atomic' });

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        parentRefs: list(reference),
        hostnames: { ...list({ type: 'string' }), maxItems: 16 },
        rules: list(rule),
      },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const name = 'httproutes.gateway.networking.k8s.io';

/** The path of their definition. */
export const HTTP_ROUTES = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;

export async function installHttpRoutes(plane: PlaneAddress): Promise<void> {
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} } };
  await kubeApply(plane, HTTP_ROUTES, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    // The group is protected: the API server wants to know where its definition was approved.
    metadata: {
      name,
      annotations: {
        'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/2997',
      },
    },
    spec: {
      group: 'gateway.networking.k8s.io',
      names: {
        kind: 'HTTPRoute',
        listKind: 'HTTPRouteList',
        plural: 'httproutes',
        singular: 'httproute',
      },
      scope: 'Namespaced',
      versions: [{ ...version, schema: { openAPIV3Schema: schema } }],
    },
  });
  let isServed = false;
  while (!isServed) {
    const listed = kubeOk(plane, { path: '/apis/gateway.networking.k8s.io/v1/httproutes' });
    isServed = await listed.then(
      () => true,
      () => false,
    );
  }
}
