// Helpers for rows, such as for statements that always return one, like an insert without a condition.

/** The row of a statement that always returns one. */
export function onlyRow<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('a statement returned no row where it always returns one');
  return row;
}

/** Prefixed columns of a table, for a row that also has another table's: `k.name as "k.name"`. */
export function prefixedColumns(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${table}.${column} as "${table}.${column}"`).join(', ');
}

/** The prefixed columns, and the rest of the row. */
export function splitRow<Apart, Rest>(row: object, table: string): { apart: Apart; rest: Rest } {
  const prefix = `${table}.`;
  const apart: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (name.startsWith(prefix)) apart[name.slice(prefix.length)] = value;
    else rest[name] = value;
  }
  return { apart: apart as Apart, rest: rest as Rest };
}
