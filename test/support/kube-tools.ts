/** Where the programs of a Kubernetes control plane lie: in the folder that a variable names, or as an earlier run built them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
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
