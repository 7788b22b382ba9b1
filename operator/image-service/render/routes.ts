/**
 * How requests enter: the hosts of the API and of uploads lead to the API, every host below the delivery root domain to
 * delivery. Rendered as Ingress objects, or as HTTPRoutes of a Gateway.
 */
import { type Installation, routingOf } from '../installation.ts';
import { ownHosts } from '../own-hosts.ts';
import { type RenderedObject, renderObject, toMap, unsetFields } from './object.ts';
import { SERVICE_PORT } from './services.ts';

export function renderRoutes(of: Installation): RenderedObject[] {
  const mode = routingOf(of.spec);
  if (mode === 'Disabled') return [];
  const render = mode === 'Gateway' ? renderHttpRoute : renderIngress;
  return routesOf(of).map((route) => render(of, route));
}

type Route = {
  component: 'api' | 'delivery';
  hosts: string[];
  tls: string | undefined;
  annotations: Record<string, string>;
};

function routesOf({ spec }: Installation): Route[] {
  return [
    {
      component: 'api',
      hosts: [...ownHosts(spec).keys()],
      tls: spec.tls?.apiSecretName,
      annotations: toMap(spec.routing?.apiAnnotations),
    },
    {
      component: 'delivery',
      hosts: [`*.${spec.deliveryRootDomain}`],
      tls: spec.tls?.deliverySecretName,
      annotations: toMap(spec.routing?.deliveryAnnotations),
    },
  ];
}

function renderIngress(of: Installation, { component, hosts, tls, annotations }: Route) {
  const service = { name: `${of.name}-${component}`, port: { name: 'http' } };
  const paths = [{ path: '/', pathType: 'Prefix', backend: { service } }];
  const { ingressClassName } = of.spec;
  return renderObject(
    of,
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      suffix: component,
      component,
      annotations,
    },
    {
      spec: {
        ...(ingressClassName === undefined ? {} : { ingressClassName }),
        ...(tls === undefined ? {} : { tls: [{ hosts, secretName: tls }] }),
        rules: hosts.map((host) => ({ host, http: { paths } })),
        ...unsetFields('defaultBackend'),
      },
    },
  );
}

function renderHttpRoute(of: Installation, { component, hosts, annotations }: Route) {
  return renderObject(
    of,
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      suffix: component,
      component,
      annotations,
    },
    {
      spec: {
        parentRefs: [of.spec.routing?.gatewayRef],
        hostnames: hosts,
        rules: [{ backendRefs: [{ name: `${of.name}-${component}`, port: SERVICE_PORT }] }],
      },
    },
  );
}
