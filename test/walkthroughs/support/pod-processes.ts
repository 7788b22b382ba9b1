/**
 * Plays the pods of a control plane without nodes. Pods of the operator and the migration run as local processes with
 * the environment of their pods; all other pods become ready immediately.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { kubeOk, type PlaneAddress } from '../../support/kube-request.ts';
import { type OperatorProcess, startOperator } from '../../support/operator-process.ts';
import { type Outcome, type PlayedPod, playPods } from '../../support/pod-player.ts';

type Variable = {
  name: string;
  value?: string;
  valueFrom?: {
    fieldRef?: { fieldPath: string };
    secretKeyRef?: { name: string; key: string };
  };
};

type Container = { args: string[]; env?: Variable[]; envFrom?: { secretRef: { name: string } }[] };

/** The fields of a pod that this file reads, besides those of the pod player. */
type Pod = PlayedPod & { spec: { containers: Container[]; serviceAccountName: string } };

type State = {
  plane: PlaneAddress;
  namespace: string;
  /** By the command and version: all pods of a version share one process. */
  outcomes: Map<string, Outcome>;
  operator: OperatorProcess | undefined;
};

export type PodProcesses = { stop(): Promise<void> };

export function runPods(plane: PlaneAddress, namespace: string): PodProcesses {
  const state: State = { plane, namespace, outcomes: new Map(), operator: undefined };
  const player = playPods(plane, namespace, (pod) => outcomeOf(state, pod as Pod));
  return {
    stop: async () => {
      await player.stop();
      await endOperator(state.operator);
    },
  };
}

function outcomeOf(state: State, pod: Pod): Outcome {
  const { labels, name } = pod.metadata;
  const component = labels['app.kubernetes.io/component'];
  if (component === 'operator') {
    return begin(state, labels['pod-template-hash'] ?? '', () => replaceOperator(state, pod));
  }
  return component === 'migrate' ? begin(state, name, () => migrate(state, pod)) : 'ready';
}

/** Starts the process once; the pods wait until it has succeeded or failed. */
function begin({ outcomes }: State, what: string, run: () => Promise<Outcome>): Outcome {
  const outcome = outcomes.get(what);
  if (outcome !== undefined) return outcome;
  outcomes.set(what, 'wait');
  run().then(
    (reached) => outcomes.set(what, reached),
    (error: unknown) => {
      process.stderr.write(`${what}: ${String(error)}\n`);
      outcomes.set(what, 'fail');
    },
  );
  return 'wait';
}

/** Like a rolling update: the previous operator stops once the new one is ready. */
async function replaceOperator(state: State, pod: Pod): Promise<Outcome> {
  const { plane, operator: before } = state;
  const token = await tokenOf(state, pod.spec.serviceAccountName);
  const itself = { ...plane, tokens: { ...plane.tokens, operator: token } };
  const env = await environmentOf(state, pod);
  state.operator = await startOperator(itself, { ...env, TINTYPE_METRICS_PORT: '0' });
  await endOperator(before);
  return 'ready';
}

/**
 * Stops the operator with SIGTERM, so that it releases the lease and the next one need not wait for
 * its expiry.
 */
async function endOperator(operator: OperatorProcess | undefined): Promise<void> {
  if (operator === undefined) return;
  const { child } = operator;
  if (child.exitCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  await operator.stop();
}

async function migrate(state: State, pod: Pod): Promise<Outcome> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...(await environmentOf(state, pod)) };
  const args = ['runtime/main.ts', ...(pod.spec.containers[0]?.args ?? [])];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  return code === 0 ? 'succeed' : 'fail';
}

async function tokenOf({ plane, namespace }: State, account: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const body = { spec: { expirationSeconds: 3600 } };
  const { status } = await kubeOk(plane, { method: 'POST', path, body });
  return (status as { token: string }).token;
}

/** Builds the environment of a container, like a kubelet. */
async function environmentOf(state: State, pod: Pod): Promise<Record<string, string>> {
  const { env = [], envFrom = [] } = pod.spec.containers[0] ?? {};
  const whole = await Promise.all(envFrom.map(({ secretRef }) => secretOf(state, secretRef.name)));
  const single = await Promise.all(
    env.map(async (each) => [each.name, await readVariable(state, pod, each)] as const),
  );
  return Object.assign({}, ...whole, Object.fromEntries(single));
}

async function readVariable(state: State, pod: Pod, { value = '', valueFrom }: Variable) {
  const { fieldRef, secretKeyRef } = valueFrom ?? {};
  if (fieldRef?.fieldPath === 'metadata.name') return pod.metadata.name;
  if (fieldRef !== undefined) return state.namespace;
  if (secretKeyRef === undefined) return value;
  return (await secretOf(state, secretKeyRef.name))[secretKeyRef.key] ?? '';
}

async function secretOf({ plane, namespace }: State, name: string) {
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const { data } = (await kubeOk(plane, { path })) as { data: Record<string, string> };
  const entries = Object.entries(data).map(([key, value]) => {
    return [key, Buffer.from(value, 'base64').toString('utf8')] as const;
  });
  return Object.fromEntries(entries);
}
