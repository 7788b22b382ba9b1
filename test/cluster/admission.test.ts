// A cluster whose policy changes our objects on their way in, as many pin registries and how images are pulled.
import { expect, it, onTestFinished } from 'vitest';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  expectNoWrites,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import { kubeOk } from '../support/kube-request.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing) });
const { create, read, merge, led, untilReason } = cluster;

const GROUP = 'admissionregistration.k8s.io/v1';

/** Every Deployment of the namespace pulls its image always, whoever writes what. */
async function pullAlways(): Promise<void> {
  const name = `pull-${cluster.namespace()}`;
  const make = async (plural: string, kind: string, spec: object) => {
    const path = `/apis/${GROUP}/${plural}`;
    const body = { apiVersion: GROUP, kind, metadata: { name }, spec };
    await kubeOk(cluster.plane(), { method: 'POST', path, body });
    onTestFinished(async () => {
      await kubeOk(cluster.plane(), { method: 'DELETE', path: `${path}/${name}` });
    });
  };
  const path = '/spec/template/spec/containers/0/imagePullPolicy';
  const expression = `[JSONPatch{op: "add", path: "${path}", value: "Always"}]`;
  await make('mutatingadmissionpolicies', 'MutatingAdmissionPolicy', {
    ...{ failurePolicy: 'Fail', reinvocationPolicy: 'Never' },
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': cluster.namespace() } },
      resourceRules: [
        {
          ...{ apiGroups: ['apps'], apiVersions: ['*'] },
          ...{ operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
        },
      ],
    },
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
  });
  await make('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', {
    policyName: name,
  });
}

it('an installation whose objects are changed on their way in runs, and is not written again and again', async () => {
  await createSecrets(cluster, { url: url(), sealing });
  await pullAlways();
  const deployment = { metadata: { name: 'probe' }, apiVersion: 'apps/v1' };
  const containers = [{ name: 'main', image: 'a/b:1', imagePullPolicy: 'Never' }];
  const labels = { app: 'probe' };
  const template = { metadata: { labels }, spec: { containers } };
  const spec = { replicas: 0, selector: { matchLabels: labels }, template };
  await create('Deployment', { ...deployment, spec });
  const policyOf = async (name: string) =>
    (await read('Deployment', name)).spec.template.spec.containers[0].imagePullPolicy;
  await until(async () => {
    await merge('Deployment', 'probe', { spec: { paused: true } });
    expect(await policyOf('probe')).toBe('Always');
  });
  await create('ImageService', anInstallation('main'));
  await led(async () => {
    await untilReason('main', 'Running');
    expect(await policyOf('main-api')).toBe('Always');
    await expectNoWrites(cluster);
    await merge('Deployment', 'main-api', { spec: { replicas: 7 } });
    await until(async () => expect((await read('Deployment', 'main-api')).spec.replicas).toBe(2));
    await untilReason('main', 'Running');
    await expectNoWrites(cluster);
  });
}, 180_000);
