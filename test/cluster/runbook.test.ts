// Runs the kubectl commands in docs/runbook/README.md as they are written, against the objects of an installation as
// the operator renders them. The pods have no node, so commands work up to where the API server would contact a
// kubelet. test/contract/deployment.test.ts runs commands that are typed into a process.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allObjects, renderInstallation } from '../../operator/image-service/render/render.ts';
import { readShellBlocks } from '../contract/support/blocks.ts';
import { installation, least } from '../operator/image-service/samples.ts';
import { kubeconfig } from '../support/control-plane.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import { clusterShell } from '../support/kube-tools.ts';
import { type PodPlayer, playPods } from '../support/pod-player.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const [forward, , logs, operatorLogs, doctor, versions, ...others] =
  readShellBlocks('docs/runbook/README.md');
const PLURALS = { ServiceAccount: 'api/v1', Deployment: 'apis/apps/v1' } as const;
const cluster = useControlPlane();
let folder = '';
let namespace = '';
let pods: PodPlayer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-runbook-'));
  await writeFile(join(folder, 'kubeconfig'), kubeconfig(cluster.plane(), 'admin'));
  namespace = await cluster.namespace();
  const of = { ...installation(least), namespace };
  for (const object of allObjects(renderInstallation(of))) await apply(object);
  const declared = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService', spec: least };
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/imageservices/main`;
  await kubeApply(cluster.plane(), path, { ...declared, metadata: { name: 'main' } });
  pods = playPods(cluster.plane(), namespace, () => 'ready');
  await kubectl(
    'wait deployment/main-api deployment/main-dispatcher --for=condition=Available --timeout=100s',
  );
}, 120_000);
afterAll(async () => {
  await pods?.stop();
  await rm(folder, { recursive: true });
});

/** Applies what pods need, without an owner that does not exist. */
async function apply({ kind, metadata, ...rest }: ReturnType<typeof allObjects>[number]) {
  if (kind !== 'ServiceAccount' && kind !== 'Deployment') return;
  const { ownerReferences: _, ...own } = metadata as typeof metadata & { ownerReferences?: object };
  const path = `/${PLURALS[kind]}/namespaces/${namespace}/${kind.toLowerCase()}s/${metadata.name}`;
  await kubeApply(cluster.plane(), path, { kind, ...rest, metadata: own });
}

/** Runs the block in the namespace of this test, and returns its output. */
async function type(block = 'false'): Promise<string> {
  const env = clusterShell(folder, 'kubeconfig');
  const script = block.replaceAll('--namespace tintype-system', `--namespace ${namespace}`);
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euc', script], { env });
  return stdout;
}
const kubectl = (words: string) => type(`kubectl --namespace tintype-system ${words}`);

describe('the commands of the runbook', () => {
  it('find a pod for port-forward and doctor, up to the request to its node', async () => {
    for (const block of [forward, doctor]) await expect(type(block)).rejects.toThrow(/have a host/);
  });

  it('ask for the logs of all pods of a component', async () => {
    // Without the second half of the pipe, which fails if there is no input.
    for (const block of [logs, operatorLogs]) expect(await type(block?.split('|')[0])).toBe('');
  });

  it('list the earlier versions, roll back to one and watch it', async () => {
    const watched = '--watch --request-timeout=2s';
    const said = await type(versions?.replace('--watch', watched));
    const names = ['api', 'delivery', 'dispatcher', 'worker-ingest', 'worker-render'];
    for (const name of names) expect(said).toMatch(new RegExp(`^main-${name}-\\w+ .*tintype`, 'm'));
    expect(said).toContain('imageservice.tintype.dev/main patched');
    expect(said).toMatch(/^main /m);
    const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/imageservices/main`;
    const { spec } = await kubeOk(cluster.plane(), { path });
    expect(spec).toMatchObject({ image: 'registry.example.com/tintype:1.2.0' });
  });

  it('are all covered here', () => expect(others).toEqual([]));
});
