/**
 * The contents of a watch cache: the newest state of each object, in whatever order and however often its states
 * arrive. Pure.
 */
import { type KubeObject, keyOf } from './resource.ts';

/** `replaced`: by another object of the same name, while nobody was watching. */
export type Change<T> =
  | { kind: 'added'; key: string; object: T; previous: undefined }
  | { kind: 'updated' | 'replaced'; key: string; object: T; previous: T }
  | { kind: 'deleted'; key: string; object: undefined; previous: T };

export type StoredObjects<T extends KubeObject> = {
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  size(): number;
  /** Undefined if the state is older than the stored one, or than its deletion. */
  put(object: T): Change<T> | undefined;
  /** Takes the last state that the object had. */
  remove(last: T): Change<T> | undefined;
  /** `objects` are all that exist now. */
  replaceAll(objects: readonly T[]): Change<T>[];
};

/** Enough that no older state of a deleted object can arrive after its deletion is forgotten. */
const DELETIONS_KEPT = 4096;

export function createStoredObjects<T extends KubeObject>(): StoredObjects<T> {
  const held = new Map<string, T>();
  const deletions = new Map<string, string>();
  return {
    get: (key) => held.get(key),
    values: () => held.values(),
    size: () => held.size,
    put: (object) => {
      const key = keyOf(object.metadata);
      const previous = held.get(key);
      const known = previous?.metadata.resourceVersion ?? deletions.get(key);
      if (known !== undefined && !isNewer(object.metadata.resourceVersion, known)) return undefined;
      held.set(key, object);
      deletions.delete(key);
      return changeTo(key, object, previous);
    },
    remove: (last) => {
      const key = keyOf(last.metadata);
      const { resourceVersion } = last.metadata;
      const previous = held.get(key);
      if (previous !== undefined && isNewer(previous.metadata.resourceVersion, resourceVersion)) {
        return undefined;
      }
      if (isNewer(resourceVersion, deletions.get(key) ?? '0'))
        remember(deletions, key, resourceVersion);
      if (previous === undefined) return undefined;
      held.delete(key);
      return { kind: 'deleted', key, object: undefined, previous: last };
    },
    replaceAll: (objects) => {
      deletions.clear();
      return replaceAll(held, objects);
    },
  };
}

function remember(deletions: Map<string, string>, key: string, version: string): void {
  deletions.delete(key);
  deletions.set(key, version);
  if (deletions.size <= DELETIONS_KEPT) return;
  const [oldest] = deletions.keys();
  if (oldest !== undefined) deletions.delete(oldest);
}

function replaceAll<T extends KubeObject>(
  held: Map<string, T>,
  objects: readonly T[],
): Change<T>[] {
  const now = new Map(objects.map((object) => [keyOf(object.metadata), object]));
  const changes: Change<T>[] = [];
  for (const [key, previous] of held) {
    if (now.has(key)) continue;
    held.delete(key);
    changes.push({ kind: 'deleted', key, object: undefined, previous });
  }
  for (const [key, object] of now) {
    const previous = held.get(key);
    held.set(key, object);
    if (previous?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
    changes.push(changeTo(key, object, previous));
  }
  return changes;
}

function changeTo<T extends KubeObject>(
  key: string,
  object: T,
  previous: T | undefined,
): Change<T> {
  if (previous === undefined) return { kind: 'added', key, object, previous };
  const kind = previous.metadata.uid === object.metadata.uid ? 'updated' : 'replaced';
  return { kind, key, object, previous };
}

/**
 * Versions are decimal numbers of any length that increase within a type, guaranteed since
 * Kubernetes 1.35.
 */
export function isNewer(version: string, than: string): boolean {
  if (version.length !== than.length) return version.length > than.length;
  return version > than;
}
