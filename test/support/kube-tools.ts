/**
 * Finds the programs of a Kubernetes control plane, in the folder that a variable names or where `make test` builds
 * them.
 */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OWN_TOOLS = fileURLToPath(new URL('../../.tools/bin', import.meta.url));

export function findKubeTool(name: string): string {
  const folders = [process.env.TINTYPE_TEST_TOOLS, process.env.KUBEBUILDER_ASSETS, OWN_TOOLS];
  const places = folders.filter((folder) => folder !== undefined && folder !== '');
  const found = places.map((folder) => join(folder ?? '', name)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    `${name}, a part of the Kubernetes of the tests, is not there: name its folder in TINTYPE_TEST_TOOLS ` +
      'or KUBEBUILDER_ASSETS, or let make test build it',
  );
}

/**
 * Trades memory for speed: a short-lived Go program would spend much of its time on garbage
 * collection.
 */
export const FEW_COLLECTIONS = { GOGC: '400' };

/**
 * The environment of a user's shell with access to the cluster, isolated from the real home folder.
 */
export function clusterShell(folder: string, kubeconfig = 'admin.kubeconfig') {
  const tools = ['kubectl', 'helm'].map((name) => dirname(findKubeTool(name)));
  return {
    PATH: [...tools, process.env['PATH']].join(delimiter),
    HOME: folder,
    KUBECONFIG: join(folder, kubeconfig),
    ...FEW_COLLECTIONS,
  };
}
