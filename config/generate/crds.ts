/** Writes crds/<plural>.yaml, one file per kind, from operator/kinds.ts. */
import { Document, isScalar, visit } from 'yaml';
import { printCrd } from '../../operator/crd.ts';
import { GROUP } from '../../operator/kinds.ts';
import { listGenerated, writeGenerated } from '../write-generated.ts';
import { customResources } from './manifests/custom-resources.ts';

const HEADER = '# Written by `make generate` from operator/<kind>/schema.ts. Do not edit.\n';

const wanted = new Map(
  customResources.map((kind) => [
    `crds/${GROUP}_${kind.plural}.yaml`,
    HEADER + print(printCrd(kind)),
  ]),
);

writeGenerated(wanted, listGenerated('crds'));

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
