/** The steps that change the objects of an installation. */
import type { Observed, Present } from './observed.ts';
import type { RenderedObject } from './render/object.ts';

/**
 * `create`: only if absent, for an object that cannot be changed. `after`: the replacement must be
 * served first.
 */
export type Step =
  | { do: 'apply' | 'create'; object: RenderedObject }
  | { do: 'delete'; object: Present; after?: RenderedObject };

export const apply = (object: RenderedObject): Step => ({ do: 'apply', object });
export const create = (object: RenderedObject): Step => ({ do: 'create', object });
export const remove = (object: Present): Step => ({ do: 'delete', object });

export function presentOf({ apiVersion, kind, metadata }: RenderedObject): Present {
  return { apiVersion, kind, name: metadata.name };
}

/**
 * Deletes what the installation owns and no longer needs, such as earlier migration Jobs; a route
 * only once the other kind serves.
 */
export function pruneObjects(
  wanted: readonly RenderedObject[],
  { present }: Pick<Observed, 'present'>,
): Step[] {
  const obsolete = present.filter((each) => !wanted.some((object) => isSame(each, object)));
  return obsolete.map((object): Step => {
    const after = wanted.find((each) => isRouteLike(object, each));
    return after === undefined ? remove(object) : { do: 'delete', object, after };
  });
}

export function isSame({ kind, name }: Present, object: RenderedObject): boolean {
  return kind === object.kind && name === object.metadata.name;
}

const ROUTES: readonly string[] = ['Ingress', 'HTTPRoute'];

/** Routes of the same name lead the same hosts to the same Service. */
function isRouteLike({ kind, name }: Present, { kind: other, metadata }: RenderedObject): boolean {
  return ROUTES.includes(kind) && ROUTES.includes(other) && name === metadata.name;
}
