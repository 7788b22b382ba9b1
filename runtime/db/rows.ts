// Statements that always return one row, such as an insert without a condition, say so through this.

/** The row of a statement that cannot return none. */
export function onlyRow<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('a statement returned no row where it always returns one');
  return row;
}
