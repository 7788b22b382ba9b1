// Keyset pagination of lists, newest first, by (created_at, id). A cursor carries a position: the keys of a page's last
// row, as texts. Spec: Conventions.

export type PageQuery = {
  limit: number;
  /** Position of the row before the page; null for the first page. */
  after: readonly string[] | null;
};

export type Page<Row> = {
  rows: Row[];
  /** Position of the page's last row; null on the last page. */
  next: string[] | null;
};

/** Makes a page of up to limit + 1 rows. */
export function pageOf<Row extends { created_at: Date }>(
  rows: Row[],
  limit: number,
  idOf: (row: Row) => string,
): Page<Row> {
  return pageBy(rows, limit, (row) => [row.created_at.toISOString(), idOf(row)]);
}

/** The same for a list that is ordered by other keys. */
export function pageBy<Row>(rows: Row[], limit: number, keysOf: (row: Row) => string[]): Page<Row> {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  const isLast = rows.length <= limit || last === undefined;
  return { rows: kept, next: isLast ? null : keysOf(last) };
}
