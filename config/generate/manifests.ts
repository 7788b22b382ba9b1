/**
 * Writes the installation manifests: config/{crd,rbac,manager,network-policy,admission-policy,default,prometheus,
 * argocd,flux,grafana} for kustomize and GitOps, and charts/tintype for Helm, from the tables in manifests/. With
 * --check it writes nothing and fails when a file is stale.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writtenFiles, writtenFolders } from './manifests/files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const wanted = writtenFiles(root);
const present = writtenFolders
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
  );

const stale = [...new Set([...wanted.keys(), ...present])].filter((path) => {
  const text = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined;
  return wanted.get(path) !== text;
});

if (process.argv.includes('--check')) {
  for (const path of stale) console.error(`${path} is stale: run make generate`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const path of stale) write(path);
}

function write(path: string): void {
  const text = wanted.get(path);
  if (text === undefined) {
    rmSync(join(root, path));
    return;
  }
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
