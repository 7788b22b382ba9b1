/**
 * Runs `tintype operator` as a separate process, with an identity of the control plane and the rights of a Role: as in its
 * pod, or, if a proxy is in between, with a kubeconfig.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Permission } from '../../operator/permissions.ts';
import { kubeconfig } from './control-plane.ts';
import { kubeApply, type PlaneAddress } from './kube-request.ts';

export type OperatorProcess = {
  child: ChildProcess;
  /** The base URL of /livez, /readyz and /metrics. */
  watched: string;
  /** All log lines in order. */
  said: readonly Said[];
  stop(): Promise<void>;
};

type Said = { level: string; msg: string; [field: string]: unknown };

/** Resolves when the operator logs that it is ready. */
export async function startOperator(
  plane: PlaneAddress,
  settings: Record<string, string>,
): Promise<OperatorProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-operator-'));
  // A proxy speaks HTTP, which no account of a pod does.
  const place = plane.ca === '' ? await outsidePod(plane, folder) : await inPod(plane, folder);
  const [program = '', ...words] = [...place.inside, process.execPath, 'runtime/main.ts'];
  const child = spawn(program, [...words, 'operator'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      TINTYPE_METRICS_PORT: '0',
      ...place.env,
      ...settings,
    },
  });
  // Needed because a test that times out does not call `stop`.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  const said: Said[] = [];
  return {
    ...{ child, said },
    watched: `http://127.0.0.1:${await readWatchPort(child, said)}`,
    stop: async () => {
      end();
      await rm(folder, { recursive: true });
    },
  };
}

/** `inside` is a command that wraps the process. */
type Place = { env: Record<string, string>; inside: readonly string[] };

async function outsidePod(plane: PlaneAddress, folder: string): Promise<Place> {
  const file = join(folder, 'kubeconfig');
  await writeFile(file, kubeconfig(plane, 'operator'));
  return { env: { KUBECONFIG: file }, inside: [] };
}

/** A mount namespace of its own has the account of the pod where Kubernetes puts it. */
const IN_POD =
  'mount -t tmpfs tmpfs /var/run && mkdir -p "$1" && cp "$0"/* "$1" && shift && exec "$@"';
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** As in production, where the operator needs no Kubernetes library, which takes half of its start. */
async function inPod({ url, ca, tokens }: PlaneAddress, folder: string): Promise<Place> {
  const account = { 'ca.crt': ca, token: tokens.operator };
  for (const [name, text] of Object.entries(account)) await writeFile(join(folder, name), text);
  const { hostname, port } = new URL(url);
  return {
    env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    inside: ['unshare', '--map-root-user', '--mount', 'sh', '-c', IN_POD, folder, ACCOUNT],
  };
}

function readWatchPort({ stderr }: ChildProcess, said: Said[]): Promise<number> {
  if (stderr === null) throw new Error('it says nothing');
  const lines = createInterface({ input: stderr });
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const parsed = JSON.parse(line) as Said & { watch_port?: number };
      said.push(parsed);
      if (parsed.watch_port !== undefined) resolve(parsed.watch_port);
    });
    lines.once('close', () => {
      reject(new Error(`it ended before it was ready: ${JSON.stringify(said)}`));
    });
  });
}

/** Grants exactly the operator's documented permissions in a namespace. */
export async function permitOperator(
  plane: PlaneAddress,
  namespace: string,
  granted: readonly Permission[],
): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const head = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'operator' } };
  const rules = granted.map(({ apiGroup, resources, names, verbs }) => {
    return { apiGroups: [apiGroup], resources, verbs, ...(names && { resourceNames: names }) };
  });
  await kubeApply(plane, `${path}/roles/operator`, { ...head, kind: 'Role', rules });
  const group = 'rbac.authorization.k8s.io';
  await kubeApply(plane, `${path}/rolebindings/operator`, {
    ...{ ...head, kind: 'RoleBinding' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'operator' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'operator' }],
  });
}
