/**
 * What every Kubernetes object has, and where the objects of a type are in the API: all types used here are namespaced.
 */

export type KubeObject = { apiVersion?: string; kind?: string; metadata: ObjectMeta };

export type ObjectMeta = {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  /** Present only if requested. */
  managedFields?: ManagedFields[];
};

/** Who wrote which fields. */
export type ManagedFields = {
  manager: string;
  time?: string;
  subresource?: string;
  fieldsV1?: unknown;
};

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

/** What is sent; the server adds the rest. */
export type DeclaredObject = {
  metadata: Partial<ObjectMeta> & { name: string };
  [field: string]: unknown;
};

export type ResourceType<T extends KubeObject = KubeObject> = {
  apiVersion: string;
  kind: string;
  plural: string;
  /**
   * `optional`: the cluster has the type only while somebody has it installed; without it there are
   * no such objects.
   */
  presence?: 'optional';
  /** Parses the server's JSON; throws if it is no object. */
  parse(json: unknown): T;
};

/** A type whose objects are trusted to match the schema that the server enforces. */
export function resourceType<T extends KubeObject>(
  names: Omit<ResourceType, 'parse'>,
): ResourceType<T> {
  return { ...names, parse: (json) => withoutManagedFields(json) as T };
}

/** Which objects of a type: all, those of a namespace, or those with certain labels or fields. */
export type Selection = {
  namespace?: string | undefined;
  labels?: string | undefined;
  fields?: string | undefined;
};

/** The place of one object. */
export type Place = { name: string; namespace?: string | undefined };

/**
 * `namespace/name`, or only the name if there are no namespaces: the key of an object in caches and
 * queues.
 */
export function keyOf({ name, namespace }: Place): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function parseKey(key: string): Place {
  const slash = key.indexOf('/');
  if (slash === -1) return { name: key };
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * Older objects first; those of the same second, the finest that Kubernetes stores, in a stable
 * order.
 */
export function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const order = (a.creationTimestamp ?? '').localeCompare(b.creationTimestamp ?? '');
  return order === 0 ? a.uid.localeCompare(b.uid) : order;
}

/** The path of all objects of a type, or of those in one namespace. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const group = type.apiVersion.includes('/') ? `/apis/${type.apiVersion}` : '/api/v1';
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${group}${within}/${type.plural}`;
}

export function objectPath(type: ResourceType, { name, namespace }: Place): string {
  if (namespace === undefined) {
    throw new Error(`a ${type.kind} lies in a namespace, and none is named for ${name}`);
  }
  return `${collectionPath(type, namespace)}/${encodeURIComponent(name)}`;
}

/** The same type, whose objects include who wrote which field. */
export function withManagers(type: ResourceType): ResourceType {
  return { ...type, parse: stored };
}

/** Managed fields are longer than most objects, and hardly any caller needs them. */
function withoutManagedFields(json: unknown): KubeObject {
  const object = stored(json);
  delete object.metadata.managedFields;
  return object;
}

function stored(json: unknown): KubeObject {
  if (!isStored(json)) throw new Error('an object without name, uid or version');
  return json;
}

function isStored(json: unknown): json is KubeObject {
  if (typeof json !== 'object' || json === null || !('metadata' in json)) return false;
  const { metadata } = json;
  if (typeof metadata !== 'object' || metadata === null) return false;
  return ['name', 'uid', 'resourceVersion'].every(
    (field) => typeof Object.entries(metadata).find(([name]) => name === field)?.[1] === 'string',
  );
}
