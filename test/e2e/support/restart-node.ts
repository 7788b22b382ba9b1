/** Runs E2E_NODE_RESTART, a command that restarts the cluster's node as if its power had failed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { HOME } from './installation.ts';
import { kubectl, until, waitFor } from './kubectl.ts';

/** Resolves when everything on the node runs again. */
export async function restartNode(): Promise<void> {
  const command = process.env['E2E_NODE_RESTART'];
  if (command === undefined) throw new Error('E2E_NODE_RESTART: a command that restarts the node');
  const before = await startsOfContainers();
  await promisify(execFile)('bash', ['-c', command]);
  await until('the API server', answers, 120);
  await kubectl('wait', 'nodes', '--all', '--for=condition=Ready', '--timeout=120s');
  // At first, pods still show their status from before the restart.
  const isRestarted = async () => {
    const after = await startsOfContainers().catch(() => before);
    return [...before].every(([pod, started]) => after.get(pod) !== started);
  };
  await until('containers that were started again', isRestarted, 180);
  const all = ['--all', '--all-namespaces', '--for=condition=Available', '--timeout=240s'];
  await kubectl('wait', 'deployments', ...all);
  await waitFor(HOME, 'imageservice/main', 'condition=Ready');
}

function answers(): Promise<boolean> {
  return kubectl('get', 'nodes').then(
    () => true,
    () => false,
  );
}

/** Returns when the first container of each running pod was started. */
async function startsOfContainers(): Promise<Map<string, string>> {
  const path =
    'jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.name}={.status.containerStatuses[0].state.running.startedAt}{"\\n"}{end}';
  const what = ['get', 'pods', '--output', path];
  const lines = (await kubectl('--namespace', HOME, ...what)).trim().split('\n');
  return new Map(
    lines.map((line) => line.split('=')).map(([pod = '', started = '']) => [pod, started]),
  );
}
