/** How the operator authenticates to the API server: as the account of its pod, or with a kubeconfig. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openCredentials } from '../../../operator/kube/credentials.ts';
import { openPodAccount } from '../../../operator/kube/pod-account.ts';
import { createManualTimedClock } from './manual-timed-clock.ts';

const clock = createManualTimedClock();
const pod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-account-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

function kubeconfig(server: string): string {
  const clusters = [{ name: 'c', cluster: { server } }];
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
  const users = [{ name: 'u', user: { token: 't' } }];
  return JSON.stringify({ clusters, contexts, users, 'current-context': 'x' });
}

describe('the account of a pod', () => {
  it('is used in a pod, with the address that Kubernetes sets', async () => {
    const credentials = await openCredentials(pod, clock);
    expect(credentials.server.href).toBe('https://[fd00::1]:6443/');
  });

  it('takes precedence over the kubeconfig of the home folder, which is used outside a pod', async () => {
    await mkdir(join(folder, '.kube'));
    await writeFile(join(folder, '.kube/config'), kubeconfig('https://home.example'));
    vi.stubEnv('HOME', folder);
    vi.stubEnv('KUBECONFIG', undefined);
    const server = async (env: Record<string, string>) =>
      (await openCredentials(env, clock)).server.hostname;
    expect(await server(pod)).toBe('[fd00::1]');
    expect(await server({})).toBe('home.example');
  });

  it('gives way to a kubeconfig that KUBECONFIG names', async () => {
    const file = join(folder, 'named');
    await writeFile(file, kubeconfig('https://named.example'));
    vi.stubEnv('KUBECONFIG', file);
    const { server } = await openCredentials({ ...pod, KUBECONFIG: file }, clock);
    expect(server.hostname).toBe('named.example');
  });

  it('is read again after 30 seconds, and immediately after it was refused', async () => {
    await writeFile(join(folder, 'ca.crt'), 'CA');
    await writeFile(join(folder, 'token'), 'first\n');
    const { options, forget } = openPodAccount(pod, clock, folder);
    const first = await options();
    expect(first).toEqual({ ca: 'CA', headers: { authorization: 'Bearer first' } });
    await writeFile(join(folder, 'token'), 'second');
    expect(await options()).toBe(first);
    clock.advance(30_000);
    expect((await options()).headers).toEqual({ authorization: 'Bearer second' });
    await writeFile(join(folder, 'token'), 'third');
    forget();
    expect((await options()).headers).toEqual({ authorization: 'Bearer third' });
  });

  it('is read again by the next call if its files were missing', async () => {
    const { options } = openPodAccount(pod, clock, folder);
    await expect(options()).rejects.toThrow('ENOENT');
    await writeFile(join(folder, 'ca.crt'), 'CA');
    await writeFile(join(folder, 'token'), 'late');
    expect((await options()).headers).toEqual({ authorization: 'Bearer late' });
  });
});
