// Runs the commands in docs/kubernetes.md that precede the operator, against the definitions that CloudNativePG,
// RabbitMQ's Cluster Operator and Rook publish. The test itself writes what their operators would answer.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCommands } from '../contract/support/blocks.ts';
import { projectRoot } from '../contract/support/tintype.ts';
import { kubeconfig } from '../support/control-plane.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { clusterShell } from '../support/kube-tools.ts';
import { installDependencies } from '../support/optional-definitions.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const cluster = useControlPlane();
const commands = readCommands('docs/kubernetes.md');
let folder = '';
let namespace = '';

beforeAll(async () => {
  await installDependencies(cluster.plane());
  folder = await mkdtemp(join(tmpdir(), 'tintype-typed-'));
  await writeFile(join(folder, 'kubeconfig'), kubeconfig(cluster.plane(), 'admin'));
  namespace = `from-nothing-${randomBytes(4).toString('hex')}`;
}, 60_000);
afterAll(async () => {
  const path = `/api/v1/namespaces/${namespace}`;
  await kubeRequest(cluster.plane(), { method: 'DELETE', path });
  await rm(folder, { recursive: true });
});

/** Runs the line in the namespace and the folder of this test, and returns its output. */
async function run(line: string): Promise<string> {
  const script = line
    .replaceAll('tintype-system', namespace)
    .replaceAll(/(?<=>|=)ca\.crt/g, join(folder, 'ca.crt'));
  const env = { ...clusterShell(folder, 'kubeconfig'), NAMESPACE: namespace };
  const how = ['--norc', '-eo', 'pipefail', '-c', script];
  const { stdout, stderr } = await promisify(execFile)('bash', how, { cwd: projectRoot, env });
  expect(stderr).toBe('');
  return stdout;
}

/** Runs the next command of the document, which must start with `begins`. */
function type(begins: string): Promise<string> {
  const command = commands.shift() ?? '';
  expect(command).toMatch(new RegExp(`^${begins}`));
  return run(command);
}

const PLAY = { content_type: 'application/merge-patch+json' };
const core = (path: string) => `/api/v1/namespaces/${namespace}/${path}`;
const makeSecret = (name: string, stringData: Record<string, string>) => {
  const head = { apiVersion: 'v1', kind: 'Secret', metadata: { name } };
  return kubeApply(cluster.plane(), core(`secrets/${name}`), { ...head, stringData });
};
async function readSecret(name: string): Promise<Record<string, string>> {
  const { data } = await kubeOk(cluster.plane(), { path: core(`secrets/${name}`) });
  const entries = Object.entries(data as Record<string, string>);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
  );
}

/** Reports the database as ready, as CloudNativePG does. */
async function answerAsCloudNativePg(): Promise<void> {
  const ready = { type: 'Ready', status: 'True', reason: 'ClusterIsReady', message: '' };
  const conditions = [{ ...ready, lastTransitionTime: new Date().toISOString() }];
  await kubeOk(cluster.plane(), {
    method: 'PATCH',
    path: `/apis/postgresql.cnpg.io/v1/namespaces/${namespace}/clusters/tintype-db/status`,
    body: { status: { conditions } },
    ...PLAY,
  });
  await makeSecret('tintype-db-app', { uri: 'postgresql://tintype:secret@tintype-db-rw/tintype' });
  await makeSecret('tintype-db-ca', { 'ca.crt': 'its authority' });
}

/** Reports the installation as running, as the operator does. */
async function answerAsOperator(): Promise<void> {
  const lastTransitionTime = new Date().toISOString();
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Running',
    message: '',
    observedGeneration: 1,
  };
  await kubeOk(cluster.plane(), {
    method: 'PATCH',
    path: `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/imageservices/main/status`,
    body: { status: { conditions: [{ ...ready, lastTransitionTime }] } },
    ...PLAY,
  });
}

describe('installing from nothing by docs/kubernetes.md', { shuffle: false, retry: 0 }, () => {
  it('creates database, broker and buckets by the definitions of their operators', async () => {
    await type('kubectl create namespace tintype-system$');
    expect(await type('kubectl --namespace tintype-system apply -f config/samples/dep')).toBe(
      'cluster.postgresql.cnpg.io/tintype-db created\nrabbitmqcluster.rabbitmq.com/tintype-mq created\n',
    );
    const claims = 'config/samples/dependencies/object-storage.yaml';
    expect(await run(`kubectl --namespace tintype-system apply -f ${claims}`)).toMatch(
      /tintype-ingest created\n.*tintype-content created\n/,
    );
  });

  it('waits for the database, and creates the Secrets that nobody else creates', async () => {
    await answerAsCloudNativePg();
    await type('kubectl --namespace tintype-system wait cluster/tintype-db');
    const made = await type('STORAGE_KEY=');
    for (const name of ['tintype-keys', 'tintype-storage', 'tintype']) {
      expect(made).toContain(`secret/${name} created`);
    }
    const keys = await readSecret('tintype-keys');
    expect(await readSecret('tintype')).toEqual({
      TINTYPE_DATABASE_URL: (await readSecret('tintype-db-app'))['uri'],
      TINTYPE_KEY_ENCRYPTION_KEYS: keys['TINTYPE_KEY_ENCRYPTION_KEYS'],
    });
  });

  // test/cluster/install.test.ts runs the commands that are skipped here.
  const untilTyped = (begins: string) => {
    while (/^make install |deployment\/tintype-operator/.test(commands[0] ?? '')) commands.shift();
    return type(begins);
  };

  it('puts the CA of the database into the ConfigMap that an operator trusts', async () => {
    await untilTyped('kubectl --namespace tintype-system get secret tintype-db-ca');
    await type('kubectl --namespace tintype-system create configmap tintype-ca');
    const { data } = await kubeOk(cluster.plane(), { path: core('configmaps/tintype-ca') });
    expect(data).toEqual({ 'ca.crt': 'its authority' });
  });

  it('applies the sample of an installation, and waits until it is ready', async () => {
    expect(
      await untilTyped('kubectl --namespace tintype-system apply -f config/samples/inst'),
    ).toBe('imageservice.tintype.dev/main created\n');
    await answerAsOperator();
    expect(await type('kubectl --namespace tintype-system wait imageservice/main')).toContain(
      'condition met',
    );
    expect(await type('kubectl --namespace tintype-system get imageservice,ingress$')).toMatch(
      /^imageservice\.tintype\.dev\/main /m,
    );
  });

  it('continues with what a newcomer types on a node', () => {
    expect(commands[0]).toBe('API=https://api.images.example.com');
    expect(commands.at(-1)).toContain('--output fit.jpg');
  });
});
