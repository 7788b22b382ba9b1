// Spec: Limits, and the numbers of the other headings: each constant with its value, in both directions.
import { describe, expect, it } from 'vitest';
import * as limits from '../../runtime/core/limits.ts';
import additions from './additions.json' with { type: 'json' };
import { differences, NONE, type Table, tableOf } from './differences.ts';
import specification from './limits.json' with { type: 'json' };

type Row = { name: string; value: unknown };

// A limit with several values is an object; each key is a row (`SOURCE_PIXELS_MAX.jpeg`).
function flatten([name, value]: [string, unknown]): Row[] {
  if (value instanceof RegExp) return [{ name, value: value.source }];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ name, value }];
  return Object.entries(value).map(([key, each]) => ({ name: `${name}.${key}`, value: each }));
}

function table(rows: readonly Row[]): Table {
  return tableOf(
    rows,
    (row) => row.name,
    (row) => row.value,
  );
}

describe('limits', () => {
  it('every limit of the specification is a constant with its value, and every other is an addition', () => {
    const code = Object.entries(limits).flatMap(flatten);
    const expected = table([...specification.rows, ...additions.limits]);
    expect(differences(expected, table(code))).toEqual(NONE);
  });

  it('a limit that several sentences of the specification give has one value', () => {
    const values = Map.groupBy<string, Row>(specification.rows, (row) => row.name);
    const several = [...values].filter(
      ([, rows]) => new Set(rows.map((row) => row.value)).size > 1,
    );
    expect(several).toEqual([]);
  });

  it('no addition repeats a limit of the specification', () => {
    const specified = new Set(specification.rows.map((row) => row.name));
    expect(additions.limits.filter((row) => specified.has(row.name))).toEqual([]);
  });
});
