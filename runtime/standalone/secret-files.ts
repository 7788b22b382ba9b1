/** What a cluster keeps in Secrets: `<data>/secrets/<name>.json`, readable by its owner only. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `name` is a Kubernetes name, so it cannot leave the folder. */
export async function writeSecretFile(
  dataFolder: string,
  name: string,
  value: string,
): Promise<void> {
  const folder = join(dataFolder, 'secrets');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.json`);
  await writeFile(`${path}.new`, `${JSON.stringify({ secret: value }, null, 2)}\n`, {
    mode: 0o600,
  });
  await rename(`${path}.new`, path);
}
