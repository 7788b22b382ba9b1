/** Runs kubectl against the cluster of KUBECONFIG. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { findKubeTool } from '../../support/kube-tools.ts';

/** Returns stdout, and throws stderr if the command fails. */
export function kubectl(...args: string[]): Promise<string> {
  return run('kubectl', args);
}

export async function run(tool: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(findKubeTool(tool), args, { stdio: 'pipe' });
  const ended = once(child, 'close');
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  if (code === 0) return stdout;
  throw new Error(`${tool} ${args.join(' ')} ended with ${code}: ${stderr}`);
}

/** Server-side apply. Without a namespace, each object goes to its own. */
export function apply(namespace: string | undefined, items: readonly object[]): Promise<string> {
  const place = namespace === undefined ? [] : ['--namespace', namespace];
  const how = ['apply', '--server-side', '--force-conflicts', ...place, '--filename', '-'];
  return run('kubectl', how, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

export async function makeNamespace(name: string): Promise<void> {
  const metadata = { name, labels: { 'tintype.dev/e2e': 'true' } };
  await run(
    'kubectl',
    ['apply', '--filename', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects of many kinds; the tests check their shapes.
export async function read(namespace: string, kind: string, name?: string): Promise<any> {
  const which = name === undefined ? [kind] : [kind, name];
  return JSON.parse(await kubectl('--namespace', namespace, 'get', ...which, '--output', 'json'));
}

/** `what` is kind/name, or `kind --all` for all objects of a kind. */
export function waitFor(namespace: string, what: string, condition: string, seconds = 180) {
  return kubectl(
    '--namespace',
    namespace,
    'wait',
    ...what.split(' '),
    `--for=${condition}`,
    `--timeout=${seconds}s`,
  );
}

export type Forward = { port: number; stop(): Promise<void> };

/** Forwards a local port to a pod or Service. The forwarding ends with the pod. */
export async function forward(namespace: string, target: string, port: number): Promise<Forward> {
  const args = ['--namespace', namespace, 'port-forward', target, `:${port}`];
  const child = spawn(findKubeTool('kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const local = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (local === undefined) continue;
    child.stdout.resume();
    return { port: Number(local), stop: () => end(child) };
  }
  throw new Error(`no way to ${target} in ${namespace}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Polls until the check returns true. After the timeout, throws an error that contains `what`. */
export async function until(
  what: string,
  check: () => Promise<boolean>,
  seconds = 60,
): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(200)) {
    if (await check()) return;
  }
  throw new Error(`not within ${seconds} s: ${what}`);
}
