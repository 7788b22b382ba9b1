/**
 * What is needed to go on with a large upload after a reload, kept in IndexedDB: its token and the ETags of the parts
 * that arrived, never the file. Where the browser keeps nothing (private windows), uploads work and are not resumed.
 */
import type { SentPart } from '../protocol.ts';
import { clientError } from './upload-error.ts';

/** Of an upload that was begun; `digest` is of the file's two ends. */
export type StoredUpload = {
  readonly id: string;
  readonly endpoint: string;
  readonly route: string | undefined;
  /** As JSON: what the token stands for depends on it. */
  readonly input: string | undefined;
  readonly token: string;
  readonly expires_at: string;
  readonly part_size: number;
  readonly parts: readonly SentPart[];
  readonly file: StoredFile;
};

export type StoredFile = {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly last_modified: number;
  readonly digest: string;
};

const DATABASE = 'tintype-uploads';
const STORE = 'uploads';
const EDGE_BYTES = 65_536;

export function saveUpload(upload: StoredUpload): Promise<void> {
  return withStore('readwrite', (store) => store.put(upload)).then(() => undefined);
}

export function forgetUpload(id: string): Promise<void> {
  return withStore('readwrite', (store) => store.delete(id)).then(() => undefined);
}

/** Those of an endpoint that can still be resumed; what expired is thrown away. */
export async function listStored(endpoint: string): Promise<StoredUpload[]> {
  const all = (await withStore<StoredUpload[]>('readonly', (store) => store.getAll())) ?? [];
  const isAlive = ({ expires_at }: StoredUpload) => Date.parse(expires_at) > Date.now();
  await Promise.all(all.filter((each) => !isAlive(each)).map(({ id }) => forgetUpload(id)));
  return all.filter((each) => each.endpoint === endpoint && isAlive(each));
}

/** The same file under the same terms. */
export async function findSame(
  { endpoint, route, input }: Pick<StoredUpload, 'endpoint' | 'route' | 'input'>,
  file: StoredFile,
): Promise<StoredUpload | undefined> {
  const all = await listStored(endpoint);
  const isSame = (each: StoredUpload) => each.route === route && each.input === input;
  return all.find((each) => isSame(each) && isSameFile(each.file, file));
}

/** Browsers read no file that was changed or taken away since it was chosen. */
export async function describeFile(file: File): Promise<StoredFile> {
  const { name, type, size, lastModified: last_modified } = file;
  const ends = new Blob([file.slice(0, EDGE_BYTES), file.slice(-EDGE_BYTES)]);
  const read = await ends.arrayBuffer().catch((cause: unknown) => {
    throw clientError('file_mismatch', { cause });
  });
  // Pages without TLS have no digests; name, size and time have to do there.
  const hash = await crypto.subtle?.digest('SHA-256', read);
  const bytes = hash === undefined ? [] : [...new Uint8Array(hash)];
  const digest = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return { name, type, size, last_modified, digest };
}

export function isSameFile(left: StoredFile, right: StoredFile): boolean {
  return (
    left.name === right.name &&
    left.type === right.type &&
    left.size === right.size &&
    left.last_modified === right.last_modified &&
    left.digest === right.digest
  );
}

async function withStore<Value>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest,
): Promise<Value | undefined> {
  try {
    const database = await openDatabase();
    try {
      return await resultOf<Value>(work(database.transaction(STORE, mode).objectStore(STORE)));
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'id' });
  return resultOf<IDBDatabase>(opening);
}

function resultOf<Value>(request: IDBRequest): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as Value);
    request.onerror = () => reject(request.error);
  });
}
