/**
 * Who wrote a field of an object last, by the API server's own notes: the manager of the deepest part of its path that
 * somebody noted. Of what was taken away nobody is noted, so that the last who wrote beside it has to stand for it.
 */
import { isRecord } from '../../runtime/core/json.ts';
import type { KubeObject } from './resource.ts';

/** The field managers of the operator, and what a write without one is noted under: its user agent. */
const OURS = /^tintype[/-]/;

/** `path` as `findDifference` prints it; nothing where nobody but us is noted. */
export function whoWrote(object: KubeObject, path: string): string | undefined {
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

/** `path`: of what is changed; without one it is deleted. */
export function printUndoing(path: string | undefined, by: string | undefined): string {
  const who = by ? `'${by}'` : 'somebody';
  return `${who} ${path === undefined ? 'deletes it' : `changes \`${path.replace(/^\./, '')}\``} each time`;
}

/** How many steps of the path are noted. */
function depthOf(noted: unknown, path: string, live: unknown): number {
  if (!isRecord(noted)) return 0;
  for (const [key, inner] of Object.entries(noted)) {
    const step = takeStep(key, path, live);
    if (step !== undefined) return 1 + depthOf(inner, step.rest, step.live);
  }
  return 0;
}

/** `f:name` is a field, `k:{…}` the item of a list with such fields. */
function takeStep(key: string, path: string, live: unknown) {
  const name = key.slice(2);
  if (key.startsWith('f:')) {
    const rest = path.slice(name.length + 1);
    const inner = isRecord(live) ? live[name] : undefined;
    // A name may have dots in it: only what has an inside leads on.
    const leadsOn = /^[.[]/.test(rest) && typeof inner === 'object';
    const isOnPath = path.startsWith(`.${name}`) && (rest === '' || leadsOn);
    return isOnPath ? { rest, live: inner } : undefined;
  }
  const [whole = '', index = ''] = /^\[(\d+)\]/.exec(path) ?? [];
  const item = Array.isArray(live) && index !== '' ? live[Number(index)] : undefined;
  if (!key.startsWith('k:') || !isRecord(item)) return undefined;
  const fields = Object.entries(JSON.parse(name) as object);
  const isItem = fields.every(([field, value]) => item[field] === value);
  return isItem ? { rest: path.slice(whole.length), live: item } : undefined;
}
