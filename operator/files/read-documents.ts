/**
 * The documents of one YAML file, each with a mapping from paths to lines. A document that is not valid YAML is a
 * fault; the others in the file are still read.
 */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
} from 'yaml';
import { z } from 'zod';
import type { Fault } from './fault.ts';

const ALIASES_MAX = 100;

export type RawDocument = {
  file: string;
  line: number;
  value: unknown;
  /** The line of the path, or of its nearest existing ancestor. */
  lineOf(path: readonly PropertyKey[]): number;
};

export function readDocuments(
  file: string,
  text: string,
): { documents: RawDocument[]; faults: Fault[] } {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true } as const;
  const documents: RawDocument[] = [];
  const faults: Fault[] = [];
  for (const document of [...parseAllDocuments(text, options)]) {
    const read = readDocument(document, { file, lines });
    if ('message' in read) faults.push(read);
    else if (read.value !== null) documents.push(read);
  }
  return { documents: documents.flatMap(resourcesIn), faults };
}

const listSchema = z.looseObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('List'),
  items: z.array(z.unknown()),
});

/** `kubectl get -o yaml` prints one List: its items are read as separate documents. */
function resourcesIn(document: RawDocument): RawDocument[] {
  const list = listSchema.safeParse(document.value);
  if (!list.success) return [document];
  return list.data.items.map((value, index) => {
    const lineOf: RawDocument['lineOf'] = (path) => document.lineOf(['items', index, ...path]);
    return { file: document.file, line: lineOf([]), value, lineOf };
  });
}

type Place = { file: string; lines: LineCounter };

function readDocument(
  document: Document.Parsed<ParsedNode>,
  { file, lines }: Place,
): RawDocument | Fault {
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const line = lineAt(document.contents?.range[0] ?? document.range[0]);
  const [error] = document.errors;
  if (error !== undefined) {
    const message = `expected YAML: ${error.message.split('\n')[0]}`;
    return { file, line: lineAt(error.pos[0]), path: '', message };
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    const lineOf = (path: readonly PropertyKey[]) => lineAt(offsetOf(document.contents, path));
    return { file, line, value, lineOf };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { file, line, path: '', message: `expected YAML: ${reason}` };
  }
}

function offsetOf(root: unknown, path: readonly PropertyKey[]): number {
  let node = root;
  let offset = startOf(root) ?? 0;
  for (const step of path) {
    const child = childOf(node, step);
    if (child === undefined) return offset;
    node = child.value;
    offset = child.offset;
  }
  return offset;
}

function childOf(node: unknown, step: PropertyKey): { value: unknown; offset: number } | undefined {
  if (isSeq(node) && typeof step === 'number') {
    const value = node.items[step];
    const offset = startOf(value);
    return offset === undefined ? undefined : { value, offset };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
  const offset = startOf(pair?.key);
  return pair === undefined || offset === undefined ? undefined : { value: pair.value, offset };
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
