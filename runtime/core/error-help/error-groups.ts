/** All codes in the order of the index: those of the management API by status, then each other surface. */
import { type ErrorEntry, errorPages, errorSurfaces } from './error-pages.ts';

/** A heading of the index with its codes. */
export type ErrorGroup = { readonly title: string; readonly entries: readonly ErrorEntry[] };

export function errorGroups(): readonly ErrorGroup[] {
  const sorted = [...errorPages.values()]
    .flat()
    .toSorted((one, other) => placeOf(one) - placeOf(other));
  const groups = Map.groupBy(sorted, (entry) =>
    entry.surface === 'api' ? errorEntryTitle(entry) : errorSurfaces[entry.surface],
  );
  return [...groups].map(([title, entries]) => ({ title, entries }));
}

/** For example `Delivery hosts: 403`. */
export function errorEntryTitle({ surface, statuses }: ErrorEntry): string {
  const title = errorSurfaces[surface];
  return statuses.length === 0 ? title : `${title}: ${statuses.join(' or ')}`;
}

const SURFACES = Object.keys(errorSurfaces);

function placeOf({ surface, statuses }: ErrorEntry): number {
  return SURFACES.indexOf(surface) * 1000 + (surface === 'api' ? (statuses[0] ?? 0) : 0);
}
