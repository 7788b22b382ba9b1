/** What a cluster keeps in Secrets: `<data>/secrets/<name>.json`, readable by its owner only. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivateFile } from './private-file.ts';

/** `name` is a Kubernetes name, so it cannot leave the folder. */
export async function writeSecretFile(
  dataFolder: string,
  name: string,
  value: string,
): Promise<void> {
  const folder = join(dataFolder, 'secrets');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writePrivateFile(join(folder, `${name}.json`), { secret: value });
}
