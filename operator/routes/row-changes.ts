/** Which projects' hosts changed in the database since the last call: a short query instead of reading all rows. */
import type { Queryable } from '../../runtime/db/client.ts';
import { listRouteChanges } from '../../runtime/db/routed-projects.ts';

export type RowChanges = {
  /** `isAll`: too many changed, or the start is unknown, so that all rows must be compared. */
  take(): Promise<{ slugs: string[]; isAll: boolean }>;
};

const CHANGES_MAX = 500;
/** How many numbers to look back: a change may commit after others with higher numbers. */
const OVERLAP = 100;

export function createRowChanges(
  db: Queryable,
  { changes_max = CHANGES_MAX }: { changes_max?: number } = {},
): RowChanges {
  let newest: number | undefined;
  let seen: ReadonlyMap<string, number> = new Map();
  return {
    take: async () => {
      const isFirst = newest === undefined;
      const after = Math.max(0, (newest ?? 0) - OVERLAP);
      const rows = await listRouteChanges(db, { after, limit: changes_max });
      const fresh = rows.filter(({ project_slug, version }) => seen.get(project_slug) !== version);
      newest = Math.max(newest ?? 0, rows[0]?.version ?? 0);
      seen = new Map(rows.map(({ project_slug, version }) => [project_slug, version]));
      const isAll = isFirst || rows.length === changes_max;
      return { slugs: isFirst ? [] : fresh.map(({ project_slug }) => project_slug), isAll };
    },
  };
}
