/** Which projects' hosts changed in the database since it was last asked: a short query, in place of all rows. */
import type { Queryable } from '../../runtime/db/client.ts';
import { listRouteChanges } from '../../runtime/db/routed-projects.ts';

export type RowChanges = {
  /** `isAll`: so many changed, or nothing was known before, that all rows are to be compared. */
  take(): Promise<{ project_ids: string[]; isAll: boolean }>;
};

const CHANGES_MAX = 500;
/** What took its number earlier and was committed later is among so many. */
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
      const fresh = rows.filter(({ project_id, version }) => seen.get(project_id) !== version);
      newest = Math.max(newest ?? 0, rows[0]?.version ?? 0);
      seen = new Map(rows.map(({ project_id, version }) => [project_id, version]));
      const isAll = isFirst || rows.length === changes_max;
      return { project_ids: isFirst ? [] : fresh.map(({ project_id }) => project_id), isAll };
    },
  };
}
