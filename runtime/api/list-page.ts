/**
 * One page of a list: parses the cursor, finds the page and prints the next cursor. A cursor is valid only for its own
 * list: route, project, sort and filters are part of what authenticates it. Spec: Conventions.
 */
import { parseCursor, printCursor } from '../core/cursor.ts';
import type { Page, PageQuery } from '../db/keyset.ts';
import type { ApiDeps } from './deps.ts';

export type ListQuery = { limit: number; cursor?: string | undefined };

/** The owner of a list that spans organizations. */
export const EVERYBODY = '';

export async function listPage<Row, Item>(
  { cursorKeys }: Pick<ApiDeps, 'cursorKeys'>,
  list: {
    query: ListQuery;
    route: string;
    /** The id of the project or organization that owns the list. */
    owner: string;
    filters?: Readonly<Record<string, unknown>>;
    /** The sort order, if not newest first. */
    sort?: string;
    find(page: PageQuery): Promise<Page<Row>>;
    present(row: Row): Item;
  },
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const scope = {
    route: list.route,
    project_id: list.owner,
    sort: list.sort ?? 'newest',
    filters: JSON.stringify(list.filters ?? {}),
  };
  const { cursor, limit } = list.query;
  const after = cursor === undefined ? null : parseCursor(cursorKeys, scope, cursor);
  const { rows, next } = await list.find({ limit, after });
  return {
    items: rows.map((row) => list.present(row)),
    next_cursor: next === null ? null : printCursor(cursorKeys, scope, next),
  };
}
