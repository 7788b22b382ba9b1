/** `<data>/instance.json`: how commands find this Tintype; there while it is ready, readable by its owner only. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { INSTANCE_FILE, type Instance } from '../cli/instance.ts';

export async function writeInstanceFile(dataFolder: string, instance: Instance): Promise<void> {
  const path = join(dataFolder, INSTANCE_FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(instance, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

export async function removeInstanceFile(dataFolder: string): Promise<void> {
  await rm(join(dataFolder, INSTANCE_FILE), { force: true });
}
