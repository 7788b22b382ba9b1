/** Installs third-party kinds that a cluster may have, from the definitions that their projects publish. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../contract/support/tintype.ts';
import { kubeApply, kubeRequest, type PlaneAddress } from './kube-request.ts';
import { untilFound } from './until-found.ts';

/** Downloaded by install-test-tools.sh. */
const FOLDER = join(projectRoot, '.tools/definitions');
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The API paths of the definitions. */
export const HTTP_ROUTES = `${DEFINITIONS}/httproutes.gateway.networking.k8s.io`;
export const SCALED_OBJECTS = `${DEFINITIONS}/scaledobjects.keda.sh`;

export async function installHttpRoutes(plane: PlaneAddress): Promise<void> {
  await kubeApply(plane, HTTP_ROUTES, await read('gateway.networking.k8s.io_httproutes.yaml'));
  await served(plane, '/apis/gateway.networking.k8s.io/v1/httproutes');
}

export async function installScaledObjects(plane: PlaneAddress): Promise<void> {
  await kubeApply(plane, SCALED_OBJECTS, await read('keda.sh_scaledobjects.yaml'));
  await served(plane, '/apis/keda.sh/v1alpha1/scaledobjects');
}

/** The kind that ScaledObjects reference for credentials. */
export async function installTriggerAuthentications(plane: PlaneAddress): Promise<void> {
  const path = `${DEFINITIONS}/triggerauthentications.keda.sh`;
  await kubeApply(plane, path, await read('keda.sh_triggerauthentications.yaml'));
  await served(plane, '/apis/keda.sh/v1alpha1/triggerauthentications');
}

/** The kinds of CloudNativePG, of RabbitMQ's operator, and of bucket claims. */
export async function installDependencies(plane: PlaneAddress): Promise<void> {
  for (const [resource, version] of dependencies) {
    const [plural = '', ...group] = resource.split('.');
    const file = `${group.join('.')}_${plural}.yaml`;
    await kubeApply(plane, `${DEFINITIONS}/${resource}`, await read(file));
    await served(plane, `/apis/${group.join('.')}/${version}/${plural}`);
  }
}

const dependencies = [
  ['clusters.postgresql.cnpg.io', 'v1'],
  ['rabbitmqclusters.rabbitmq.com', 'v1beta1'],
  ['objectbucketclaims.objectbucket.io', 'v1alpha1'],
] as const;

/**
 * The route status that a Gateway controller writes: accepted, unless `said` overrides the
 * condition.
 */
export function judgedBy(parentRef: object, said: object = {}): object {
  const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' };
  const condition = { ...accepted, lastTransitionTime: '2026-01-01T00:00:00Z', ...said };
  const controllerName = 'gateway.example/controller';
  return { parents: [{ parentRef, controllerName, conditions: [condition] }] };
}

async function read(file: string): Promise<object> {
  return parse(await readFile(join(FOLDER, file), 'utf8'));
}

async function served(plane: PlaneAddress, path: string): Promise<void> {
  await untilFound(`${path} is served`, async () => {
    return (await kubeRequest(plane, { path })).status === 200;
  });
}
