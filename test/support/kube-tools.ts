/** Where the programs of a Kubernetes control plane lie: in the folder that a variable names, or as an earlier run built them. */
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

/** Memory is there: much of the time of a tool in Go that lives for a moment would go into collecting it. */
export const FEW_COLLECTIONS = { GOGC: '400' };

/** Of a shell in which somebody types commands to a cluster; nothing of their own home is in it. */
export function clusterShell(folder: string, kubeconfig = 'admin.kubeconfig') {
  const tools = ['kubectl', 'helm'].map((name) => dirname(findKubeTool(name)));
  return {
    PATH: [...tools, process.env['PATH']].join(delimiter),
    HOME: folder,
    KUBECONFIG: join(folder, kubeconfig),
    ...FEW_COLLECTIONS,
  };
}
