/** What a cluster keeps in Secrets: `<data>/secrets/<name>.json`, readable by its owner only. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivateFile } from './private-file.ts';

/** Writes nothing where it stands there. `name` is a Kubernetes name, so it cannot leave the folder. */
export async function writeSecretFile(
  dataFolder: string,
  name: string,
  value: string,
): Promise<void> {
  const folder = join(dataFolder, 'secrets');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.json`);
  if ((await readSecret(path)) !== value) await writePrivateFile(path, { secret: value });
}

/** Undefined where it cannot be told: it is written then. */
async function readSecret(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')).secret;
  } catch {
    return undefined;
  }
}
