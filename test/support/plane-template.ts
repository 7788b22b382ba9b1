/**
 * The first control plane of a run is the template of all others: what its API server wrote at its first start (roles,
 * namespaces and the definitions of `crds/`), its certificate, and the key of its service accounts. Starting on a copy
 * costs two thirds.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Where the template of the run is kept; without it, every control plane starts from nothing. */
export const TEMPLATE_VARIABLE = 'TINTYPE_TEST_PLANE_TEMPLATE';

const PARTS = ['etcd', 'certificates', 'sa.key'];

/** Returns false if there is no template yet. */
export async function copyTemplate(folder: string): Promise<boolean> {
  const template = process.env[TEMPLATE_VARIABLE];
  if (template === undefined || !existsSync(template)) return false;
  await copyParts(template, folder);
  return true;
}

/**
 * Several may start at the same time; one of them becomes the template. A frozen etcd leaves the
 * same files as a killed one, from which it recovers.
 */
export async function keepTemplate(folder: string, etcd: ChildProcess): Promise<void> {
  const template = process.env[TEMPLATE_VARIABLE];
  if (template === undefined || existsSync(template)) return;
  const draft = await mkdtemp(`${template}-`);
  etcd.kill('SIGSTOP');
  await copyParts(folder, draft).finally(() => etcd.kill('SIGCONT'));
  await rename(draft, template).catch(() => rm(draft, { recursive: true }));
}

/** Without the empty space that etcd reserves in its files. */
async function copyParts(from: string, to: string): Promise<void> {
  const parts = PARTS.map((part) => join(from, part));
  await promisify(execFile)('cp', ['--recursive', '--sparse=always', ...parts, to]);
}
