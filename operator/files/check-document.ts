/**
 * Checks one YAML document: whether its kind is one of ours, and whether it matches that kind's schema. An invalid
 * document whose kind and name can be read still counts as declared.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { PAUSED, PLAN_ONLY } from '../cluster/directives.ts';
import type { Identity } from '../declared.ts';
import { group, objectName } from '../fields.ts';
import { API_VERSION, clusterKindNames, findKind, GROUP, type Kind, kinds } from '../kinds.ts';
import { explain, show, valueAt } from './explain.ts';
import { type Fault, type Note, printPath } from './fault.ts';
import type { RawDocument } from './read-documents.ts';

export type CheckedDocument = {
  /**
   * Undefined if the kind is not one of ours, or the document does not say which resource it is. A
   * document of another group with a kind of ours may have its group misspelt: the resource of that
   * name does not count as gone.
   */
  identity?: Identity;
  /** Undefined if the document is invalid. */
  resource?: FolderResource;
  /** What is ignored: the document, or some of its fields. */
  notes: Note[];
  faults: Fault[];
};

export type FolderResource = { file: string; line: number; identity: Identity; spec: unknown };

export function checkDocument(document: RawDocument, namespace: string): CheckedDocument {
  const head = headSchema.safeParse(document.value);
  if (!head.success) return { notes: [], faults: explain(head.error, document) };
  const { file, line } = document;
  const { apiVersion, kind } = head.data;
  // A kustomization lists the folder's files for kubectl.
  if (apiVersion.startsWith('kustomize.config.k8s.io/')) return { notes: [], faults: [] };
  if (apiVersion === 'v1' && kind === 'List') return { notes: [], faults: [unreadList(document)] };
  const known = findKind(kind);
  const name = nameSchema.safeParse(head.data.metadata?.name).data;
  const identity = name && known ? { identity: identify({ namespace, kind, name }) } : {};
  const skipped = whyPassedOver(apiVersion, kind);
  if (skipped !== undefined)
    return { ...identity, notes: [{ file, line, message: `skipped: ${skipped}` }], faults: [] };
  // Possibly a misspelt kind of a resource that has rows: while it is there, no resource counts as
  // gone.
  if (known === undefined) return { notes: [], faults: [unknownKind(document, kind)] };

  const checked = parseDocument(documentSchema(known), document);
  if (!checked.success) return { ...identity, notes: [], faults: explain(checked.error, document) };
  const { metadata, spec } = checked.data;
  // Identified by name only: what kubectl prints includes a namespace, of a cluster unrelated to
  // this folder.
  const resource = {
    file,
    line,
    identity: identify({ namespace, kind, name: metadata.name }),
    spec,
  };
  return { ...identity, resource, notes: clusterFieldsOf(known, document), faults: [] };
}

/** Distinguishes the owners that files declare from those of a cluster. */
export const FOLDER_UID_PREFIX = 'folder-';

/** Gives a resource a uid that depends only on its namespace, kind and name. */
export function identify({ namespace, kind, name }: Omit<Identity, 'uid'>): Identity {
  const hash = createHash('sha256').update(`${namespace}/${kind}/${name}`).digest('hex');
  return { namespace, kind, name, uid: `${FOLDER_UID_PREFIX}${hash.slice(0, 32)}` };
}

function whyPassedOver(apiVersion: string, kind: string): string | undefined {
  if (!isMeantAsOurs(apiVersion)) return `${apiVersion} ${kind} is not a resource of ${GROUP}`;
  if (clusterKindNames.includes(kind)) return `${kind} has an effect only in a cluster`;
  return undefined;
}

/** Includes a misspelt group or a missing version: the kind's schema then says what is expected. */
function isMeantAsOurs(apiVersion: string): boolean {
  const [product = ''] = GROUP.split('.');
  return apiVersion.toLowerCase().startsWith(product);
}

/** Reports `items` that is no list, or a List inside another: its declarations are unknown. */
function unreadList(document: RawDocument): Fault {
  const items = valueAt(document.value, ['items']);
  const message = `expected a list of resources, in a List that is not itself an item, got ${show(items ?? null)}`;
  return { file: document.file, line: document.lineOf(['items']), path: 'items', message };
}

function unknownKind(document: RawDocument, kind: string): Fault {
  const names = kinds.map((each) => each.kind).join(', ');
  const message = `expected a kind of ${GROUP} that has an effect outside a cluster (${names}), got ${show(kind)}`;
  return { file: document.file, line: document.lineOf(['kind']), path: 'kind', message };
}

function clusterFieldsOf({ clusterFields }: Kind, document: RawDocument): Note[] {
  return clusterFields
    .map((field) => ['spec', field])
    .filter((path) => valueAt(document.value, path) != null)
    .map((path) => ({
      file: document.file,
      line: document.lineOf(path),
      message: `${printPath(path)} has an effect only in a cluster`,
    }));
}

/** Treats a null field as absent, like the API server. */
function parseDocument(schema: DocumentSchema, { value }: RawDocument) {
  const checked = schema.safeParse(value);
  const nulls = (checked.error?.issues ?? [])
    .map(({ path }) => path)
    .filter((path) => typeof path.at(-1) === 'string' && valueAt(value, path) === null);
  return nulls.length === 0 ? checked : schema.safeParse(without(value, nulls));
}

function without(value: unknown, paths: readonly PropertyKey[][]): unknown {
  const rest = structuredClone(value);
  for (const path of paths) {
    const parent = valueAt(rest, path.slice(0, -1));
    if (typeof parent === 'object' && parent !== null)
      Reflect.deleteProperty(parent, path.at(-1) ?? '');
  }
  return rest;
}

const nameSchema = objectName('a name');

const headSchema = z.looseObject(
  {
    apiVersion: z.string({ error: API_VERSION }),
    kind: z.string({ error: 'a kind, for example Project' }),
    metadata: z.looseObject({ name: z.unknown() }).optional().catch(undefined),
  },
  { error: 'a resource with apiVersion, kind, metadata and spec' },
);

/**
 * Whoever sets such an annotation, with any value, expects that nothing is written: the document is
 * invalid, and its rows stay.
 */
const notAsked = z
  .unknown()
  .refine((value) => String(value ?? false) === 'false', {
    error:
      'no such annotation, which works only in a cluster: the rows stay as they are until it is removed',
  })
  .optional();

const annotationsSchema = z.looseObject({ [PAUSED]: notAsked, [PLAN_ONLY]: notAsked }).nullish();

/** Cached per kind, as a folder may have thousands of documents. */
const documentSchemas = new Map<Kind, DocumentSchema>();
type DocumentSchema = ReturnType<typeof makeDocumentSchema>;

function documentSchema(kind: Kind): DocumentSchema {
  const schema = documentSchemas.get(kind) ?? makeDocumentSchema(kind);
  documentSchemas.set(kind, schema);
  return schema;
}

function makeDocumentSchema(kind: Kind) {
  return group('a resource with apiVersion, kind, metadata and spec', {
    apiVersion: z.literal(API_VERSION, { error: API_VERSION }),
    kind: z.literal(kind.kind),
    metadata: z.looseObject(
      { name: nameSchema, annotations: annotationsSchema },
      { error: '{ name: … }' },
    ),
    spec: kind.spec,
    status: z.unknown().optional(),
  });
}
