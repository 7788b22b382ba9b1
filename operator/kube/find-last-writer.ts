/**
 * Who last wrote a field of an object, by the API server's managedFields: the manager recorded for the deepest part of
 * the field's path. Removals are not recorded, so the last writer of the surrounding object is assumed.
 */
import { isRecord } from '../../runtime/core/json.ts';
import type { KubeObject } from './resource.ts';

/**
 * The operator's field managers, and the user agent that its writes without a manager are recorded
 * under.
 */
const OURS = /^tintype[/-]/;

/** `path` as `findDifference` prints it; undefined if only the operator is recorded. */
export function findLastWriter(object: KubeObject, path: string): string | undefined {
  const others = (object.metadata.managedFields ?? [])
    .filter(({ manager, subresource }) => !OURS.test(manager) && subresource !== 'status')
    .map(({ manager, time = '', fieldsV1 }) => ({
      ...{ manager, time },
      depth: depthOf(fieldsV1, path, object),
    }));
  return others
    .filter(({ depth }) => depth > 0)
    .toSorted((a, b) => b.depth - a.depth || b.time.localeCompare(a.time))[0]?.manager;
}

/** `path`: the changed field; without it the object is deleted. */
export function printReverter(path: string | undefined, by: string | undefined): string {
  const who = by ? `'${by}'` : 'somebody';
  return `${who} ${path === undefined ? 'deletes it' : `changes \`${path.replace(/^\./, '')}\``} each time`;
}

/** How many steps of the path are recorded. */
function depthOf(managed: unknown, path: string, live: unknown): number {
  if (!isRecord(managed)) return 0;
  for (const [key, inner] of Object.entries(managed)) {
    const step = takeStep(key, path, live);
    if (step !== undefined) return 1 + depthOf(inner, step.rest, step.live);
  }
  return 0;
}

/** `f:name` is a field, `k:{…}` a list item with these key fields. */
function takeStep(key: string, path: string, live: unknown) {
  const name = key.slice(2);
  if (key.startsWith('f:')) {
    const rest = path.slice(name.length + 1);
    const inner = isRecord(live) ? live[name] : undefined;
    // A field's name may contain dots: a longer path only matches if the field has inner fields.
    const hasInnerFields = /^[.[]/.test(rest) && typeof inner === 'object';
    const isOnPath = path.startsWith(`.${name}`) && (rest === '' || hasInnerFields);
    return isOnPath ? { rest, live: inner } : undefined;
  }
  const [whole = '', index = ''] = /^\[(\d+)\]/.exec(path) ?? [];
  const item = Array.isArray(live) && index !== '' ? live[Number(index)] : undefined;
  if (!key.startsWith('k:') || !isRecord(item)) return undefined;
  const fields = Object.entries(JSON.parse(name) as object);
  const isItem = fields.every(([field, value]) => item[field] === value);
  return isItem ? { rest: path.slice(whole.length), live: item } : undefined;
}
