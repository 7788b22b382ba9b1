/** `<data>/instance.json`: how commands find this Tintype; there while it is ready, readable by its owner only. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { INSTANCE_FILE, type Instance } from '../platform/instance.ts';
import { writePrivateFile } from './private-file.ts';

export async function writeInstanceFile(dataFolder: string, instance: Instance): Promise<void> {
  await writePrivateFile(join(dataFolder, INSTANCE_FILE), instance);
}

export async function removeInstanceFile(dataFolder: string): Promise<void> {
  await rm(join(dataFolder, INSTANCE_FILE), { force: true });
}
