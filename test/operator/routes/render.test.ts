import { describe, expect, it } from 'vitest';
import type { ImageServiceSpec } from '../../../operator/image-service/schema.ts';
import { findEdge, rootDomainOf } from '../../../operator/routes/edge.ts';
import { type Routed, renderRoutes } from '../../../operator/routes/render.ts';
import { least } from '../image-service/samples.ts';
import { edgeOf, gateway, readyEdge, routed } from './samples.ts';

const own = { ...routed, has_own_default: 'yes' } as const;
const secured = { tls: { deliverySecretName: 'wildcard' } };

function render(spec: Partial<ImageServiceSpec>, of: Routed = routed) {
  return renderRoutes(readyEdge(spec), of, [])[0];
}

// biome-ignore lint/suspicious/noExplicitAny: rendered objects are read here as users read YAML
function specOf(spec: Partial<ImageServiceSpec>, of: Routed = routed): any {
  return render(spec, of)?.spec;
}

describe('the route of a project', () => {
  it('is an Ingress of the declared class to the delivery Service', () => {
    const service = { name: 'main-delivery', port: { name: 'http' } };
    expect(specOf({ ingressClassName: 'contour' })).toEqual({
      ingressClassName: 'contour',
      rules: [
        {
          host: 'img.shop.example',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service } }] },
        },
      ],
    });
  });

  it('is owned by the ImageService, but not labeled as one of its objects', () => {
    const { metadata } = render({}) ?? {};
    expect(metadata?.ownerReferences).toEqual([
      { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService', name: 'main', uid: 'u-1' },
    ]);
    expect(metadata?.labels).toEqual({
      'app.kubernetes.io/name': 'tintype',
      'app.kubernetes.io/component': 'project-route',
      'app.kubernetes.io/managed-by': 'tintype-operator',
      'tintype.dev/project': 'prj_1',
    });
  });

  it.each<[string, Partial<ImageServiceSpec>, Routed, object[] | undefined]>([
    ['no TLS if none is declared', {}, routed, undefined],
    [
      'a Secret of their own for custom domains',
      secured,
      routed,
      [{ hosts: ['img.shop.example'], secretName: 'main-project-shop-tls' }],
    ],
    [
      'the wildcard’s Secret for its default host',
      secured,
      own,
      [
        { hosts: ['shop.img.example.com'], secretName: 'wildcard' },
        { hosts: ['img.shop.example'], secretName: 'main-project-shop-tls' },
      ],
    ],
    [
      'a Secret per project without a wildcard Secret, if declared so',
      { tls: { customDomains: 'SecretPerProject' } },
      routed,
      [{ hosts: ['img.shop.example'], secretName: 'main-project-shop-tls' }],
    ],
    [
      'no Secret for custom domains if they are disabled',
      { tls: { deliverySecretName: 'wildcard', customDomains: 'Disabled' } },
      routed,
      undefined,
    ],
  ])('has %s', (_name, spec, of, tls) => {
    expect(specOf(spec, of).tls).toEqual(tls);
  });

  it('passes annotations on, those of cert-manager only with custom domains', () => {
    const deliveryAnnotations = [
      { name: 'cert-manager.io/cluster-issuer', value: 'letsencrypt' },
      { name: 'example.com/timeout', value: '30s' },
    ];
    const names = (of: Routed) =>
      Object.keys(render({ routing: { deliveryAnnotations } }, of)?.metadata.annotations ?? {});
    expect(names(routed)).toContain('cert-manager.io/cluster-issuer');
    expect(names({ ...own, custom_domains: [] })).toEqual([
      'example.com/timeout',
      'tintype.dev/applied',
    ]);
  });

  it('is an HTTPRoute at the declared Gateway', () => {
    expect(specOf({ routing: gateway })).toEqual({
      parentRefs: [{ name: 'edge' }],
      hostnames: ['img.shop.example'],
      rules: [{ backendRefs: [{ name: 'main-delivery', port: 80 }] }],
    });
  });

  it('is split into several HTTPRoutes for more hosts than one may have', () => {
    const custom_domains = Array.from({ length: 32 }, (_, index) => `i${index}.shop.example`);
    const routes = renderRoutes(readyEdge({ routing: gateway }), { ...own, custom_domains }, []);
    expect(routes.map(({ metadata, hosts }) => [metadata.name, hosts.length])).toEqual([
      ['main-project-shop', 16],
      ['main-project-shop.2', 16],
      ['main-project-shop.3', 1],
    ]);
    expect(routes.flatMap(({ hosts }) => hosts)).toEqual([
      'shop.img.example.com',
      ...custom_domains,
    ]);
    for (const { spec, hosts } of routes) expect(spec).toMatchObject({ hostnames: hosts });
  });

  it('has neither a rule nor a certificate for a host of the API', () => {
    const uploadBaseURL = 'https://img.shop.example';
    const annotation = { name: 'cert-manager.io/issuer', value: 'public' };
    const spec = { ...secured, uploadBaseURL, routing: { deliveryAnnotations: [annotation] } };
    const custom_domains = ['img.shop.example', 'cdn.shop.example'];
    const { tls, rules } = specOf(spec, { ...routed, custom_domains });
    expect(tls).toEqual([{ hosts: ['cdn.shop.example'], secretName: 'main-project-shop-tls' }]);
    expect(rules).toEqual([expect.objectContaining({ host: 'cdn.shop.example' })]);
    expect(render(spec)).toBeUndefined();
    const alone = render(spec, own);
    expect(alone?.hosts).toEqual(['shop.img.example.com']);
    expect(alone?.metadata.annotations).not.toHaveProperty(annotation.name);
  });

  it('is left out if the wildcard is all that the project needs', () => {
    expect(render({}, { ...routed, custom_domains: [] })).toBeUndefined();
  });
});

describe('the ImageService that hosts lead to', () => {
  const object = (name: string, creationTimestamp: string) => ({
    metadata: { name, namespace: 'images', uid: name, resourceVersion: '1', creationTimestamp },
    spec: least,
  });

  it('is the oldest in the delivery namespace', () => {
    const found = findEdge(
      [object('second', '2026-02-02T00:00:00Z'), object('first', '2026-01-01T00:00:00Z')],
      'images',
    );
    expect(found).toMatchObject({ state: 'ready', edge: { owner: { name: 'first' } } });
  });

  it('is the one that has the database, even if it is younger', () => {
    const younger = object('second', '2026-02-02T00:00:00Z');
    const status = { databaseID: 'database-1' };
    const found = findEdge(
      [object('first', '2026-01-01T00:00:00Z'), { ...younger, status }],
      'images',
    );
    expect(found).toMatchObject({ state: 'ready', edge: { owner: { name: 'second' } } });
  });

  it('is reported as absent, with the namespace', () => {
    expect(findEdge([], 'images')).toEqual({
      state: 'absent',
      why: "there is no ImageService in the namespace 'images'",
    });
  });

  it('is invalid if its spec cannot be read, while its delivery root domain still counts', () => {
    const found = edgeOf({ baseURL: 'no URL' });
    expect(found).toMatchObject({ state: 'invalid' });
    expect(rootDomainOf(found)).toBe(least.deliveryRootDomain);
    expect(rootDomainOf(edgeOf({ deliveryRootDomain: 'no domain' }))).toBeUndefined();
  });
});
