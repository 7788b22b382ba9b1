/**
 * Reads a folder of YAML: the documents of its top-level files. A faulty file or document is reported, and the others
 * still count.
 */
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProjectSpec } from '../project/schema.ts';
import { checkDocument, type FolderResource } from './check-document.ts';
import type { Fault, Note } from './fault.ts';
import { type RawDocument, readDocuments } from './read-documents.ts';

export type Folder = {
  /** The valid resources, each once, in the order of the files. */
  resources: FolderResource[];
  /** The uids that some document declares, or seems to mean, even if it is invalid. */
  present: Set<string>;
  /** False if something could not be read: then no resource counts as gone. */
  isComplete: boolean;
  faults: Fault[];
  notes: Note[];
};

/** Never throws: an unreadable folder is a fault. */
export async function loadFolder(path: string, namespace: string): Promise<Folder> {
  const { documents, faults, notes } = await readFolder(path);
  const folder: Folder = {
    resources: [],
    present: new Set(),
    isComplete: faults.length === 0,
    faults,
    notes,
  };
  const known = { seen: new Map(), secrets: new Map() };
  for (const document of documents) addDocument(folder, { document, namespace, ...known });
  return folder;
}

type Step = {
  document: RawDocument;
  namespace: string;
  /** By uid. */
  seen: Map<string, RawDocument>;
  /** By the Secret name that a Project's key is written under. */
  secrets: Map<string, RawDocument>;
};

function addDocument(folder: Folder, { document, namespace, seen, secrets }: Step): void {
  const { identity, resource, notes, faults } = checkDocument(document, namespace);
  folder.notes.push(...notes);
  if (identity === undefined) {
    folder.faults.push(...faults);
    folder.isComplete &&= faults.length === 0;
    return;
  }
  folder.present.add(identity.uid);
  const isPassedOver = resource === undefined && faults.length === 0;
  if (isPassedOver) return;
  const earlier = seen.get(identity.uid);
  if (earlier !== undefined) {
    folder.faults.push(repeated(document, earlier));
    return;
  }
  seen.set(identity.uid, document);
  folder.faults.push(...faults);
  if (resource === undefined) return;
  const secret = secretOf(resource);
  const holder = secret === undefined ? undefined : secrets.get(secret);
  if (holder !== undefined) {
    folder.faults.push(sharing(document, holder));
    return;
  }
  if (secret !== undefined) secrets.set(secret, document);
  folder.resources.push(resource);
}

/** Without a URL no key is written. */
function secretOf({ identity, spec }: FolderResource): string | undefined {
  const callback = identity.kind === 'Project' ? (spec as ProjectSpec).callback : undefined;
  return callback?.url === '' ? undefined : callback?.secretName;
}

/** One file cannot hold the keys of two Projects. */
function sharing(document: RawDocument, holder: RawDocument): Fault {
  const path = ['spec', 'callback', 'secretName'];
  const message = `expected a name that no other Project uses: the key of the Project at ${holder.file}:${holder.line} is written there`;
  return { file: document.file, line: document.lineOf(path), path: path.join('.'), message };
}

function repeated(document: RawDocument, earlier: RawDocument): Fault {
  const line = document.lineOf(['metadata', 'name']);
  const message = `already declared at ${earlier.file}:${earlier.line}; this one is not used`;
  return { file: document.file, line, path: 'metadata.name', message };
}

type Read = { documents: RawDocument[]; faults: Fault[] };

const FILE_BYTES_MAX = 1024 * 1024;

async function readFolder(folder: string): Promise<Read & { notes: Note[] }> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const seen = entries.filter(({ name }) => !name.startsWith('.'));
    const isRead = ({ name }: Dirent) => /\.ya?ml$/.test(name);
    const names = seen.filter(isRead).map(({ name }) => name);
    const files = await Promise.all(names.sort().map((name) => readOneFile(folder, name)));
    return {
      documents: files.flatMap((each) => each.documents),
      faults: files.flatMap((each) => each.faults),
      // In a folder with a kustomization, the other files are for kubectl.
      notes: seen.some(({ name }) => /^kustomization(\.ya?ml)?$/i.test(name))
        ? []
        : seen.filter((entry) => !isRead(entry)).flatMap(whyUnread),
    };
  } catch (error) {
    const message = `cannot be read (${codeOf(error)}), expected a folder of *.yaml files; create it, or name another one with --config`;
    return { documents: [], faults: [{ file: folder, line: 0, path: '', message }], notes: [] };
  }
}

/** Only for entries that somebody may have meant to be read. */
function whyUnread(entry: Dirent): Note[] {
  const skipped = (why: string) => [{ file: entry.name, line: 0, message: `skipped: ${why}` }];
  if (entry.isDirectory())
    return skipped('folders within the folder are not read; move its files up');
  if (entry.name.endsWith('.json'))
    return skipped(
      'only *.yaml and *.yml are read: if it declares something, rename it, as JSON is YAML',
    );
  return [];
}

async function readOneFile(folder: string, file: string): Promise<Read> {
  const refuse = (message: string): Read => {
    return { documents: [], faults: [{ file, line: 0, path: '', message }] };
  };
  try {
    const path = join(folder, file);
    const { size } = await stat(path);
    if (size > FILE_BYTES_MAX)
      return refuse(`expected at most ${FILE_BYTES_MAX} bytes, got ${size}`);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const text = decoder.decode(await readFile(path));
    // An editor empties a file before it writes it.
    if (text.trim() === '')
      return refuse('expected a document; to delete what it declared, delete the file');
    return readDocuments(file, text);
  } catch (error) {
    return refuse(`cannot be read (${codeOf(error)}), expected a text file in UTF-8`);
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
