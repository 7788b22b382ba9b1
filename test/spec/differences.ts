// Compares a table of the code with the specification's. Missing and surplus rows are listed by name, so that a failing
// test says which row it is.

/** Rows by name; each is compared as a whole. */
export type Table = Readonly<Record<string, unknown>>;

/** The differences between two tables; all lists are empty if the tables agree. */
export type Differences = {
  missing: string[];
  extra: string[];
  different: { name: string; specification: unknown; code: unknown }[];
};

export const NONE: Differences = { missing: [], extra: [], different: [] };

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

/** Makes a table from rows, with functions that return each row's name and value. */
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
