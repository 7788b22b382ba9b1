// A page of a list with filters: the statement includes only the conditions of filters in use, so that each finds its
// index. Spec: Conventions.
import type { Queryable } from './client.ts';
import { type Page, type PageQuery, pageOf } from './keyset.ts';

export type FilteredList<Row, Name extends string> = {
  /** The statement up to its conditions. */
  select: string;
  /** The condition of each filter, given the placeholder of its value. */
  conditions: Readonly<Record<Name, (value: string) => string>>;
  /** The columns that order the rows, newest first. */
  order: readonly [createdAt: string, id: string];
  idOf(row: Row): string;
};

/** A filter that is null or undefined is not in use. */
export async function listFiltered<Row extends { created_at: Date }, Name extends string>(
  db: Queryable,
  { select, conditions, order, idOf }: FilteredList<Row, Name>,
  { limit, after, asked }: PageQuery & { asked: Readonly<Partial<Record<Name, unknown>>> },
): Promise<Page<Row>> {
  const names = (Object.keys(conditions) as Name[]).filter((name) => asked[name] != null);
  const texts = names.map((name, index) => conditions[name](`$${index + 2}`));
  const values: unknown[] = names.map((name) => asked[name]);
  const [createdAt, id] = order;
  if (after !== null) {
    const next = values.length + 2;
    texts.push(`(${createdAt}, ${id}) < ($${next}, $${next + 1})`);
    values.push(...after);
  }
  const where = texts.length === 0 ? '' : `where ${texts.join(' and ')}`;
  const rows = await db.query<Row>(
    `${select} ${where} order by ${createdAt} desc, ${id} desc limit $1`,
    [limit + 1, ...values],
  );
  return pageOf(rows, limit, idOf);
}
