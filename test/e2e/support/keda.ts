/**
 * KEDA in the cluster. With E2E_KEDA=start, it is installed from its own manifests (rendered by test/e2e/images.sh)
 * with a loaded image. Creates its certificates, because KEDA would take a minute to create its own.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { projectRoot } from '../../house/source-files.ts';
import { apply, kubectl, makeNamespace, waitFor } from './kubectl.ts';

const NAMESPACE = 'keda';
const IMAGE = 'docker.io/tintype/e2e-keda:2.21.0';
const MANIFEST = join(projectRoot, '.tools/e2e/keda.yaml');

export async function startKeda(): Promise<{ stop(): Promise<void> }> {
  const objects = parseAllDocuments(await readFile(MANIFEST, 'utf8')).map((each) => each.toJS());
  await makeNamespace(NAMESPACE);
  await apply(NAMESPACE, [await makeCertificates()]);
  await apply(undefined, objects.map(adapt));
  for (const name of ['keda-operator', 'keda-metrics-apiserver']) {
    await waitFor(NAMESPACE, `deployment/${name}`, 'condition=Available');
  }
  await waitFor(NAMESPACE, 'apiservice/v1beta1.external.metrics.k8s.io', 'condition=Available');
  return {
    stop: async () => {
      await kubectl('delete', '--ignore-not-found', '--timeout=60s', '--filename', MANIFEST);
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: YAML manifests of many kinds
type Manifest = any;

function adapt(object: Manifest): Manifest {
  if (object.kind === 'APIService') object.spec.insecureSkipTLSVerify = true;
  if (object.kind !== 'Deployment') return object;
  const { spec } = object.spec.template;
  spec.securityContext.runAsUser = 65532;
  for (const container of spec.containers) {
    Object.assign(container, { image: IMAGE, imagePullPolicy: 'Never', resources: {} });
    container.args = container.args.map((each: string) =>
      each.replace(/^--enable-cert-rotation=true$/, '--enable-cert-rotation=false'),
    );
    for (const probe of [container.livenessProbe, container.readinessProbe])
      probe.initialDelaySeconds = 1;
  }
  return object;
}

/** A self-signed certificate for both programs of KEDA. */
async function makeCertificates(): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-keda-'));
  const hosts = ['keda-operator', 'keda-metrics-apiserver'].flatMap((name) => [
    `DNS:${name}.keda.svc`,
    `DNS:${name}.keda.svc.cluster.local`,
  ]);
  const file = (name: string) => join(folder, name);
  try {
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', '/CN=keda', '-days', '2', '-addext', `subjectAltName=${hosts.join(',')}`],
      ...['-keyout', file('tls.key'), '-out', file('tls.crt')],
    ]);
    const [crt, key] = await Promise.all(
      ['tls.crt', 'tls.key'].map((name) => readFile(file(name), 'utf8')),
    );
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'kedaorg-certs' },
      stringData: { 'ca.crt': crt, 'tls.crt': crt, 'tls.key': key },
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
