/** A wrong kubeconfig leads to one line that names the file and says what to do. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCredentials } from '../../../operator/kube/credentials.ts';
import { type KubeconfigSource, openKubeconfig } from '../../../operator/kube/kubeconfig.ts';
import { systemTimedClock } from '../../../operator/kube/timed-clock.ts';
import { Advice } from '../../../runtime/platform/advice.ts';

const ADVICE = 'correct it, or set KUBECONFIG to one with which kubectl reaches the cluster';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-kubeconfig-'));
});
afterAll(() => rm(folder, { recursive: true }));

const server = 'https://127.0.0.1:1';

function config(cluster: object, user: object = {}): string {
  const contexts = [{ name: 'here', context: { cluster: 'c', user: 'u' } }];
  const [clusters, users] = [[{ name: 'c', cluster }], [{ name: 'u', user }]];
  return JSON.stringify({ 'current-context': 'here', contexts, clusters, users });
}

function refusal(source: KubeconfigSource): string {
  try {
    openKubeconfig(source, systemTimedClock);
  } catch (error) {
    if (error instanceof Advice) return error.message;
    throw error;
  }
  return 'none';
}

describe('a kubeconfig', () => {
  it.each([
    ['hello: [\ntoken: s3cret', /^is not a kubeconfig \([^\n]+\)$/],
    ['', /^is not a kubeconfig \(.+\)$/],
    [
      '{"contexts":[{"name":"here"}]}',
      /^is not a kubeconfig \(contexts\[0\]\.context is missing\)$/,
    ],
    ['only a sentence', /^has no current-context$/],
    ['{"current-context":"gone"}', /^has no cluster for its current-context gone$/],
    [config({ server: 'nowhere' }), /^names no URL as the server of its cluster c$/],
    [
      config({ server, 'proxy-url': 'http://proxy.example' }),
      /^has a proxy-url, which is not supported$/,
    ],
    [
      config({ server, 'certificate-authority': 'gone.crt' }),
      /^names \S+\/gone\.crt, which cannot be read \(ENOENT\)$/,
    ],
    [
      config({ server }, { 'client-certificate': '/gone/user.crt' }),
      /^names \/gone\/user\.crt, which cannot be read \(ENOENT\)$/,
    ],
    [
      config({ server }, { 'client-key': '/gone/user.key' }),
      /^names \/gone\/user\.key, which cannot be read \(ENOENT\)$/,
    ],
  ])(
    'with the content %j is rejected in one line, without the rest of its content',
    async (text, what) => {
      const file = join(folder, 'config');
      await writeFile(file, text);
      const said = refusal({ kind: 'file', file });
      const [before, behind] = [`the kubeconfig ${file} `, `: ${ADVICE}`];
      expect([said.startsWith(before), said.endsWith(behind)]).toEqual([true, true]);
      expect(said.slice(before.length, -behind.length)).toMatch(what);
      expect(said).not.toContain('s3cret');
    },
  );

  it('that does not exist is rejected by its path, also if KUBECONFIG names it', async () => {
    const file = join(folder, 'missing');
    expect(refusal({ kind: 'file', file })).toBe(
      `the kubeconfig ${file} cannot be read (ENOENT): ${ADVICE}`,
    );
    const before = process.env['KUBECONFIG'];
    process.env['KUBECONFIG'] = file;
    try {
      const refused = openCredentials({ KUBECONFIG: file }, systemTimedClock);
      await expect(refused).rejects.toThrow(`the kubeconfig ${file} cannot be read (ENOENT)`);
    } finally {
      if (before === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = before;
    }
  });
});
