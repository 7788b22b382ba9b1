/**
 * Starts a real Kubernetes control plane: etcd, API server and controller manager, and a scheduler on request. It uses
 * free loopback ports and a temporary folder, and installs the custom resources of `crds/`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { freePort } from './free-port.ts';
import {
  type Identity,
  identities,
  kubeApply,
  kubeOk,
  kubeRequest,
  type PlaneAddress,
} from './kube-request.ts';
import { FEW_COLLECTIONS, findKubeTool } from './kube-tools.ts';
import { type Leftovers, removeLeftovers } from './leftovers.ts';
import { copyTemplate, keepTemplate } from './plane-template.ts';
import { untilFound } from './until-found.ts';
import { untilServing } from './until-serving.ts';

export type ControlPlane = PlaneAddress & {
  folder: string;
  /** Process ids by program name. */
  pids(): ReadonlyMap<string, number>;
  /** Kills the API server; etcd keeps running and keeps its data. */
  killApiServer(): Promise<void>;
  /** Restarts it on the same port, and waits until it is ready. */
  startApiServer(): Promise<void>;
  stop(): Promise<void>;
};

export type ControlPlaneOptions = {
  /** Components besides etcd and the API server. Default: only the controller manager. */
  components?: readonly ('controller-manager' | 'scheduler')[];
  /** Controllers that the controller manager runs. Default: all that need no nodes. */
  controllers?: string;
  /** Admission plugins to enable besides the API server's defaults. */
  plugins?: string;
};

const FOLDER_PREFIX = 'tintype-kube-';
const FOLDER_VARIABLE = 'TINTYPE_TEST_CONTROL_PLANE';
const LEFTOVERS: Leftovers = {
  prefix: FOLDER_PREFIX,
  markOf: (folder) => `${FOLDER_VARIABLE}=${folder}`,
};
const STARTS_MAX = 3;

/**
 * Retries with other ports, because another program may take a free port before the server listens.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  await removeLeftovers(LEFTOVERS);
  for (let starts = 1; ; starts += 1) {
    try {
      return await startOnFreePorts(options);
    } catch (error) {
      if (starts === STARTS_MAX) throw error;
    }
  }
}

async function startOnFreePorts(options: ControlPlaneOptions): Promise<ControlPlane> {
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  const processes = new Map<string, ChildProcess>();
  const run = (name: string, args: string[]) => {
    const tool = startTool(folder, name, args);
    processes.set(name, tool);
    return tool;
  };
  const stop = async () => {
    await Promise.all([...processes.values()].map(end));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const isCopy = await copyTemplate(folder);
    if (!isCopy) await writeSigningKey(folder);
    const tokens = await writeIdentities(folder);
    const [port, etcdPort, peerPort] = [await freePort(), await freePort(), await freePort()];
    const etcd_url = `http://127.0.0.1:${etcdPort}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    const etcd = run('etcd', etcdArguments({ folder, url: etcd_url, peer }));
    const startApiServer = async () => {
      const server = run(
        'kube-apiserver',
        apiServerArguments({ folder, port, etcd_url, ...options }),
      );
      return untilReady({ folder, port, etcd_url, tokens, server });
    };
    const address = await startApiServer();
    if (!isCopy) await installCrds(address);
    await untilCrdsServed(address);
    if (!isCopy) await keepTemplate(folder, etcd);
    await writeFile(join(folder, 'admin.kubeconfig'), kubeconfig(address, 'admin'));
    for (const component of options.components ?? ['controller-manager']) {
      run(`kube-${component}`, componentArguments[component](folder, options));
    }
    return {
      ...address,
      folder,
      pids: () => new Map([...processes].map(([name, { pid = 0 }]) => [name, pid])),
      killApiServer: () => end(processes.get('kube-apiserver')),
      startApiServer: async () => void (await startApiServer()),
      stop,
    };
  } catch (error) {
    const log = await readFile(join(folder, 'kube-apiserver.log'), 'utf8').catch(() => '');
    await stop();
    throw new Error(`the control plane did not start: ${error}\n${log.slice(-2000)}`, {
      cause: error,
    });
  }
}

/** Returns the kubeconfig of one identity as JSON, which is valid YAML. */
export function kubeconfig({ url, ca, tokens }: PlaneAddress, identity: Identity): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: {
          server: url,
          ...(ca === ''
            ? { 'insecure-skip-tls-verify': true }
            : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
        },
      },
    ],
    users: [{ name: identity, user: { token: tokens[identity] } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: identity } }],
    'current-context': 'test',
  });
}

/** Creates a namespace with a random name. */
export async function createNamespace(plane: PlaneAddress, prefix = 'test'): Promise<string> {
  const name = `${prefix}-${randomBytes(5).toString('hex')}`;
  const metadata = { name };
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
  await kubeOk(plane, { method: 'POST', path: '/api/v1/namespaces', body });
  return name;
}

/** Discards all older revisions: watches that resume from one get a 410 Gone. */
export async function compactEtcd({ etcd_url }: PlaneAddress): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${etcd_url}/v3/kv/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { header?: { revision: string } };
  };
  const { header } = await post('range', { key: Buffer.from('/').toString('base64') });
  await post('compaction', { revision: header?.revision, physical: true });
}

function startTool(folder: string, name: string, args: string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), 'a');
  const env = { ...process.env, ...FEW_COLLECTIONS, [FOLDER_VARIABLE]: folder };
  const tool = spawn(findKubeTool(name), args, { env, cwd: folder, stdio: ['ignore', log, log] });
  closeSync(log);
  return tool;
}

/** Writes the key of service accounts. */
async function writeSigningKey(folder: string): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

/** Writes a token for each identity. Only the admin is in a group that may do everything. */
async function writeIdentities(folder: string): Promise<Record<Identity, string>> {
  await writeFile(join(folder, 'owner.pid'), String(process.pid));
  const entries = identities.map((name) => [name, randomBytes(16).toString('hex')] as const);
  const lines = entries.map(([name, token], index) =>
    name === 'admin'
      ? `${token},${name},${index},"system:masters"`
      : `${token},${name},${index},"tintype:${name}"`,
  );
  await writeFile(join(folder, 'tokens.csv'), `${lines.join('\n')}\n`, { mode: 0o600 });
  return Object.fromEntries(entries) as Record<Identity, string>;
}

function etcdArguments({ folder, url, peer }: { folder: string; url: string; peer: string }) {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
}

type ApiServerPlace = { folder: string; port: number; etcd_url: string };

function apiServerArguments({
  folder,
  port,
  etcd_url,
  plugins,
}: ApiServerPlace & ControlPlaneOptions): string[] {
  return [
    ...(plugins === undefined ? [] : [`--enable-admission-plugins=${plugins}`]),
    `--etcd-servers=${etcd_url}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, 'sa.key')}`,
    `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    // Nothing that is tested depends on who is served first.
    '--enable-priority-and-fairness=false',
  ];
}

const ALL = '*,-nodeipam,-node-route-controller,-cloud-node-lifecycle-controller';

const componentArguments = {
  'controller-manager': (folder: string, { controllers = ALL }: ControlPlaneOptions) => [
    `--kubeconfig=${join(folder, 'admin.kubeconfig')}`,
    `--service-account-private-key-file=${join(folder, 'sa.key')}`,
    '--use-service-account-credentials=true',
    '--leader-elect=false',
    `--controllers=${controllers}`,
    '--secure-port=0',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ],
  scheduler: (folder: string) => [
    `--kubeconfig=${join(folder, 'admin.kubeconfig')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ],
};

function untilReady(
  place: ApiServerPlace & { tokens: Record<Identity, string>; server: ChildProcess },
): Promise<PlaneAddress> {
  const { folder, port, etcd_url, tokens, server } = place;
  const url = `https://127.0.0.1:${port}`;
  const look = async () => {
    const certificate = join(folder, 'certificates', 'apiserver.crt');
    const ca = await readFile(certificate, 'utf8').catch(() => '');
    const address = { url, ca, etcd_url, tokens };
    const answer = await kubeRequest(address, { path: '/readyz' }).catch(() => undefined);
    return answer?.status === 200 && address;
  };
  return untilServing(server, { name: 'kube-apiserver', look });
}

const CRDS = new URL('../../crds/', import.meta.url);

async function namesOfCrds(): Promise<string[]> {
  const files = await readdir(CRDS);
  return files.filter((name) => name.endsWith('.yaml'));
}

async function installCrds(plane: PlaneAddress): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await Promise.all(
    (await namesOfCrds()).map(async (file) => {
      const crd = parse(await readFile(new URL(file, CRDS), 'utf8'));
      await kubeApply(plane, `${definitions}/${crd.metadata.name}`, crd);
    }),
  );
}

/** The API server lists a kind as soon as it serves it. */
async function untilCrdsServed(plane: PlaneAddress): Promise<void> {
  const kinds = (await namesOfCrds()).map((file) => /_(\w+)\.yaml$/.exec(file)?.[1]);
  await untilFound('all custom resources are served', async () => {
    const { body } = await kubeRequest(plane, { path: '/apis/tintype.dev/v1alpha1' });
    const served = (body.resources ?? []) as { name: string }[];
    return kinds.every((kind) => served.some(({ name }) => name === kind));
  });
}

async function end(tool: ChildProcess | undefined): Promise<void> {
  if (tool === undefined || tool.exitCode !== null || tool.signalCode !== null) return;
  const ended = once(tool, 'exit');
  tool.kill('SIGKILL');
  await ended;
}
