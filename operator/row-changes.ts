/** Which rows changed in the database since it was last asked: a short query, in place of all rows. */

/** A number that grows with every change; a later one may be seen before an earlier one. */
type Versioned = { version: number };

type Source<Row> = {
  /** Those beyond a version, newest first. */
  list(page: { after: number; limit: number }): Promise<Row[]>;
  keyOf(row: Row): string;
};

export type RowChanges<Row> = {
  /** `isAll`: so many changed, or nothing was known before, that all rows are to be compared. */
  take(): Promise<{ changed: Row[]; isAll: boolean }>;
};

export const CHANGES_MAX = 500;
/** What took its number earlier and was committed later is among so many. */
const OVERLAP = 100;

export function createRowChanges<Row extends Versioned>({
  list,
  keyOf,
}: Source<Row>): RowChanges<Row> {
  let newest: number | undefined;
  let seen: ReadonlyMap<string, number> = new Map();
  return {
    take: async () => {
      const isFirst = newest === undefined;
      const after = Math.max(0, (newest ?? 0) - OVERLAP);
      const rows = await list({ after, limit: CHANGES_MAX });
      const fresh = rows.filter((row) => seen.get(keyOf(row)) !== row.version);
      newest = Math.max(newest ?? 0, rows[0]?.version ?? 0);
      seen = new Map(rows.map((row) => [keyOf(row), row.version]));
      const isAll = isFirst || rows.length === CHANGES_MAX;
      return { changed: isFirst ? [] : fresh, isAll };
    },
  };
}
