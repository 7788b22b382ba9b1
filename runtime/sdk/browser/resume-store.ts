/**
 * What it takes to resume a large upload after a reload, stored in IndexedDB: its token and the ETags of the parts
 * sent, never the file. Where the browser stores nothing (private windows), uploads work but cannot be resumed.
 */
import type { SentPart } from '../protocol.ts';
import { clientError } from './upload-error.ts';

/** A started upload; `digest` covers the first and last 64 KiB of the file. */
export type StoredUpload = {
  readonly id: string;
  readonly endpoint: string;
  readonly route: string | undefined;
  /** As JSON; the token is bound to this input. */
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

/** The endpoint's uploads that can still be resumed; expired ones are deleted. */
export async function listStored(endpoint: string): Promise<StoredUpload[]> {
  const all = (await withStore<StoredUpload[]>('readonly', (store) => store.getAll())) ?? [];
  const isAlive = ({ expires_at }: StoredUpload) => Date.parse(expires_at) > Date.now();
  await Promise.all(all.filter((each) => !isAlive(each)).map(({ id }) => forgetUpload(id)));
  return all.filter((each) => each.endpoint === endpoint && isAlive(each));
}

/** Finds an upload of the same file to the same endpoint and route, with the same input. */
export async function findSame(
  { endpoint, route, input }: Pick<StoredUpload, 'endpoint' | 'route' | 'input'>,
  file: StoredFile,
): Promise<StoredUpload | undefined> {
  const all = await listStored(endpoint);
  const isSame = (each: StoredUpload) => each.route === route && each.input === input;
  return all.find((each) => isSame(each) && isSameFile(each.file, file));
}

/**
 * Throws file_mismatch if the file was changed or removed since it was chosen, because browsers do
 * not read it then.
 */
export async function describeFile(file: File): Promise<StoredFile> {
  const { name, type, size, lastModified: last_modified } = file;
  const ends = new Blob([file.slice(0, EDGE_BYTES), file.slice(-EDGE_BYTES)]);
  const read = await ends.arrayBuffer().catch((cause: unknown) => {
    throw clientError('file_mismatch', { cause });
  });
  // Pages without TLS cannot compute digests; name, size and time must suffice there.
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
