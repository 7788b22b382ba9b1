/**
 * What a cluster keeps in Secrets: `<data>/secrets/<name>.json`, readable by its owner only. Each file names the
 * Project for which it was written, and is removed together with that Project's callback.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isRecord, parseAnyJson } from '../core/json.ts';
import { ignore } from '../platform/storage/object-file.ts';
import { writePrivateFile } from './private-file.ts';

export type SecretFile = { name: string; value: string; project: string };

/**
 * Does nothing when the file is up to date. Otherwise the Project's files under other names are
 * removed first. `name` is a Kubernetes name, so it cannot leave the folder.
 */
export async function writeSecretFile(
  dataFolder: string,
  { name, value, project }: SecretFile,
): Promise<void> {
  const folder = folderIn(dataFolder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = fileNameOf(name);
  const path = join(folder, file);
  const content = { secret: value, project };
  if (isDeepStrictEqual(await readSecret(path), content)) return;
  await removeSecretFiles(dataFolder, project, file);
  await writePrivateFile(path, content);
}

/** Removes the files written for the Project, except `kept`, which is about to be replaced. */
export async function removeSecretFiles(
  dataFolder: string,
  project: string,
  kept?: string,
): Promise<void> {
  const folder = folderIn(dataFolder);
  for (const file of await listFiles(folder)) {
    const path = join(folder, file);
    if (file !== kept && (await readSecret(path))?.['project'] === project)
      await rm(path, { force: true });
  }
}

function folderIn(dataFolder: string): string {
  return join(dataFolder, 'secrets');
}

/** Kubernetes allows longer names, but file systems limit a name including its extension. */
const WHOLE_NAME_MAX = 250;

function fileNameOf(name: string): string {
  if (name.length <= WHOLE_NAME_MAX) return `${name}.json`;
  const hash = createHash('sha256').update(name).digest('hex');
  return `${name.slice(0, 180)}-${hash}.json`;
}

async function listFiles(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(ignore('ENOENT'));
  return files?.filter((file) => file.endsWith('.json')) ?? [];
}

/** Undefined when the file cannot be read; it is then written again. */
async function readSecret(path: string): Promise<Record<string, unknown> | undefined> {
  const found = parseAnyJson(await readFile(path, 'utf8').catch(() => ''));
  return isRecord(found) ? found : undefined;
}
