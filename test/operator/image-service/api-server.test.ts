import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findDifference } from '../../../operator/image-service/find-difference.ts';
import type { Installation } from '../../../operator/image-service/installation.ts';
import type { RenderedObject } from '../../../operator/image-service/render/object.ts';
import { allObjects, renderInstallation } from '../../../operator/image-service/render/render.ts';
import { type ImageServiceSpec, imageServiceSpec } from '../../../operator/image-service/schema.ts';
import { kubeApply, kubeOk, kubeRequest } from '../../support/kube-request.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { full, installation, least } from './samples.ts';

const { plane, namespace } = useControlPlane();

const plurals: Record<string, string> = {
  ServiceAccount: 'api/v1/NS/serviceaccounts',
  Service: 'api/v1/NS/services',
  Deployment: 'apis/apps/v1/NS/deployments',
  Job: 'apis/batch/v1/NS/jobs',
  CronJob: 'apis/batch/v1/NS/cronjobs',
  PodDisruptionBudget: 'apis/policy/v1/NS/poddisruptionbudgets',
  NetworkPolicy: 'apis/networking.k8s.io/v1/NS/networkpolicies',
  Ingress: 'apis/networking.k8s.io/v1/NS/ingresses',
};

function pathOf({ kind, metadata }: RenderedObject): string {
  const place = plurals[kind];
  if (place === undefined) throw new Error(`no path for ${kind}`);
  return `/${place.replace('NS', `namespaces/${metadata.namespace}`)}/${metadata.name}`;
}

/** Only built-in kinds: the API server of the tests lacks third-party custom resources. */
function builtIn(objects: readonly RenderedObject[]): RenderedObject[] {
  return objects.filter(({ kind }) => kind in plurals);
}

const samples = [
  ['the least', least],
  ['everything', full],
] as const;

describe.each(samples)('an installation that declares %s, on a real API server', (_name, spec) => {
  it('is accepted as rendered, and read back without a difference', async () => {
    const objects = builtIn(allObjects(renderInstallation(await declare(spec))));
    for (const object of objects) {
      await kubeApply(plane(), pathOf(object), object);
      const live = await kubeOk(plane(), { path: pathOf(object) });
      const label = `${object.kind} ${object.metadata.name}`;
      expect(findDifference(object, live), label).toBeUndefined();
      const again = await kubeApply(plane(), pathOf(object), object);
      expect(generationOf(again), label).toBe(1);
    }
    expect(objects.length).toBeGreaterThan(25);
  });

  it('has pods that the restricted Pod Security profile admits', async () => {
    const of = await declare(spec);
    const place = of.namespace;
    await kubeApply(plane(), `/api/v1/namespaces/${place}`, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: place, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
    await expect.poll(() => isAdmitted(place, { securityContext: {} }, 403)).toBe(true);
    const rendered = renderInstallation(of);
    const account = rendered.ground[0] as RenderedObject;
    await kubeApply(plane(), pathOf(account), account);
    const templates = [
      rendered.migration,
      ...rendered.deployments,
      ...cronTemplates(rendered.rest),
    ];
    for (const template of templates) {
      const pod = podOf(template);
      const { status, body } = await dryRun(place, pod);
      expect({ status, message: body['message'] }).toEqual({ status: 201, message: undefined });
    }
  });

  it('is an ImageService that the API server accepts as it is', async () => {
    const place = await namespace();
    const { status, body } = await kubeRequest(plane(), create(place, spec));
    expect({ status, message: body['message'] }).toEqual({ status: 201, message: undefined });
    expect(imageServiceSpec.parse(body['spec'])).toEqual(spec);
  });
});

it('the sample ImageService is accepted by the API server and renders five Deployments', async () => {
  const file = new URL('../../../config/samples/installation/image-service.yaml', import.meta.url);
  const { spec } = parse(readFileSync(file, 'utf8')) as { spec: ImageServiceSpec };
  const { status, body } = await kubeRequest(plane(), create(await namespace(), spec));
  expect({ status, message: body['message'] }).toEqual({ status: 201, message: undefined });
  expect(renderInstallation(installation(spec)).deployments).toHaveLength(5);
});

/** Creates the owner, because the garbage collector removes objects whose owner does not exist. */
async function declare(spec: ImageServiceSpec): Promise<Installation> {
  const place = await namespace();
  const { metadata } = await kubeOk(plane(), create(place, spec));
  return installation(spec, { namespace: place, uid: (metadata as { uid: string }).uid });
}

function generationOf(object: Record<string, unknown>): number {
  return (object['metadata'] as { generation?: number }).generation ?? 1;
}

type Template = { metadata: object; spec: object };

function podOf(object: object): Template {
  const { spec } = object as { spec: { template: Template } };
  return spec.template;
}

function cronTemplates(objects: readonly RenderedObject[]): object[] {
  return objects
    .filter(({ kind }) => kind === 'CronJob')
    .map(({ spec }) => (spec as { jobTemplate: object }).jobTemplate);
}

function dryRun(place: string, template: Template) {
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    ...template,
    metadata: { ...template.metadata, name: 'probe' },
  };
  const call = { method: 'POST', path: `/api/v1/namespaces/${place}/pods?dryRun=All`, body };
  return kubeRequest(plane(), call);
}

async function isAdmitted(place: string, spec: object, expected: number): Promise<boolean> {
  const containers = [{ name: 'x', image: 'x' }];
  const { status } = await dryRun(place, { metadata: {}, spec: { ...spec, containers } });
  return status === expected;
}

function create(place: string, spec: object) {
  return {
    method: 'POST',
    path: `/apis/tintype.dev/v1alpha1/namespaces/${place}/imageservices`,
    body: {
      apiVersion: 'tintype.dev/v1alpha1',
      kind: 'ImageService',
      metadata: { name: 'main' },
      spec,
    },
  };
}
