/** What is done to the objects of an installation. */
import type { Observed, Present } from './observed.ts';
import type { RenderedObject } from './render/object.ts';

/** `create`: only where it is not there yet, for it cannot be changed. */
export type Step =
  | { do: 'apply' | 'create'; object: RenderedObject }
  | { do: 'delete'; object: Present };

export const apply = (object: RenderedObject): Step => ({ do: 'apply', object });
export const create = (object: RenderedObject): Step => ({ do: 'create', object });
export const remove = (object: Present): Step => ({ do: 'delete', object });

export function presentOf({ apiVersion, kind, metadata }: RenderedObject): Present {
  return { apiVersion, kind, name: metadata.name };
}

/** What the installation owns and no longer has, earlier migration Jobs among it. */
export function strangers(wanted: readonly RenderedObject[], { present }: Observed): Present[] {
  return present.filter((each) => !wanted.some((object) => isSame(each, object)));
}

export function isSame({ kind, name }: Present, object: RenderedObject): boolean {
  return kind === object.kind && name === object.metadata.name;
}
