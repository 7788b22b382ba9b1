/**
 * Writes crds/<plural>.yaml, one file per kind, from operator/kinds.ts. With --check it writes nothing and fails when a
 * file is stale.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Document, isScalar, visit } from 'yaml';
import { printCrd } from '../../operator/crd.ts';
import { clusterKinds, GROUP, kinds } from '../../operator/kinds.ts';

const folder = fileURLToPath(new URL('../../crds', import.meta.url));
const HEADER = '# Written by `make generate` from operator/<kind>/schema.ts. Do not edit.\n';

const wanted = new Map(
  [...kinds, ...clusterKinds].map((kind) => [
    `${GROUP}_${kind.plural}.yaml`,
    HEADER + print(printCrd(kind)),
  ]),
);

mkdirSync(folder, { recursive: true });
const present = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
);
const stale = [...new Set([...wanted.keys(), ...present.keys()])].filter(
  (name) => wanted.get(name) !== present.get(name),
);

if (process.argv.includes('--check')) {
  for (const name of stale) console.error(`crds/${name} is stale: run make generate`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const name of stale) {
    const text = wanted.get(name);
    if (text === undefined) rmSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
}

/**
 * Fields are nested up to fourteen levels deep: with two spaces per level, indentation would be
 * half of a file.
 */
function print(crd: object): string {
  const document = new Document(crd, { aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, list) => {
      list.flow = list.items.every(isScalar);
    },
  });
  const layout = { indent: 1, indentSeq: false, flowCollectionPadding: false };
  return document.toString({ lineWidth: 0, ...layout });
}
