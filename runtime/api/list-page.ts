/**
 * One page of a list: the cursor read, the page found, the next cursor printed. A cursor is valid for its own
 * list only: route, project, sort and filters are part of what authenticates it. Spec: Conventions.
 */
import { parseCursor, printCursor } from '../core/cursor.ts';
import type { Page, PageQuery } from '../db/keyset.ts';
import type { ApiDeps } from './deps.ts';

export type ListQuery = { limit: number; cursor?: string | undefined };

/** The owner of a list that goes across organizations. */
export const EVERYBODY = '';

export async function listPage<Row, Item>(
  { cursorKeys }: Pick<ApiDeps, 'cursorKeys'>,
  list: {
    query: ListQuery;
    route: string;
    /** Whose list it is: a project's or an organization's id. */
    owner: string;
    filters?: Readonly<Record<string, unknown>>;
    /** Where it is not newest first. */
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
