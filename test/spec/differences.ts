// What a table of the code lacks and what it has too much, by name, so that a test that compares
// both ways says which row it is.

/** Rows by name; a row is compared as a whole. */
export type Table = Readonly<Record<string, unknown>>;

/** The differences between two tables; empty lists where they agree. */
export type Differences = {
  missing: string[];
  extra: string[];
  different: { name: string; specification: unknown; code: unknown }[];
};

/** No differences: what every comparison expects. */
export const NONE: Differences = { missing: [], extra: [], different: [] };

/** Compares the tables row by row. */
export function differences(specification: Table, code: Table): Differences {
  const expected = Object.keys(specification);
  return {
    missing: expected.filter((name) => !Object.hasOwn(code, name)),
    extra: Object.keys(code).filter((name) => !Object.hasOwn(specification, name)),
    different: expected
      .filter((name) => Object.hasOwn(code, name))
      .filter((name) => print(specification[name]) !== print(code[name]))
      .map((name) => ({ name, specification: specification[name], code: code[name] })),
  };
}

/** A table out of rows, by the name and value that are read from each. */
export function tableOf<Row>(
  rows: readonly Row[],
  name: (row: Row) => string,
  value: (row: Row) => unknown,
): Table {
  return Object.fromEntries(rows.map((row) => [name(row), value(row)]));
}

function print(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}
